"""Local hashing with hash functions whose values are all independent, as those of a seeded xxhash are in practice.

`local_hashing` has Carter and Wegman's family, independent in pairs, which is all that privacy and frequency estimates
need. A learner sees the whole set of values that share the reported hash, and that set's law depends on the family.
"""

from dataclasses import dataclass

import numpy as np

from fairpriv.mechanisms.ldp.coins import coins
from fairpriv.mechanisms.ldp.local_hashing import BLH, OLH, BestLH, LocalHashing

# SplitMix64 (Steele, Lea and Flood 2014): output x of the generator that starts at the user's seed
_STEP = np.uint64(0x9E3779B97F4A7C15)
_ROUNDS = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))


def mixed_hash(seeds: np.ndarray, x: np.ndarray | int) -> np.ndarray:
    """Return 64 bits for each user's seed and value x, as good as drawn anew for every pair."""
    z = seeds + np.asarray(x, np.uint64) * _STEP + _STEP
    for shift, factor in _ROUNDS:
        z = (z ^ (z >> shift)) * factor
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class IndependentHashing(LocalHashing):
    """Sends a seed, which names a hash function, and the value's hash after GRR on 0 .. g-1.

    The seed is drawn without a look at the value, so that the ε is that of GRR on the hash, whatever the functions are.
    """

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return (seed, perturbed hash) a user, (n, 2) of uint64."""
        values, g = self._checked(values), np.uint64(self.g)
        seeds = rng.integers(0, 1 << 64, size=len(values), dtype=np.uint64)
        heard = mixed_hash(seeds, values) % g
        lied = np.flatnonzero(coins(1 - self.hash_probabilities()[0], len(values), rng))
        heard[lied] = (heard[lied] + rng.integers(1, self.g, size=len(lied), dtype=np.uint64)) % g
        return np.column_stack([seeds, heard])

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return which values have the reported hash."""
        seeds, heard = reports.T
        return np.column_stack([mixed_hash(seeds, x) % np.uint64(self.g) == heard for x in range(self.k)])


@dataclass(frozen=True)
class IndependentBLH(IndependentHashing, BLH):
    """Binary local hashing by independent hashes."""


@dataclass(frozen=True)
class IndependentOLH(IndependentHashing, OLH):
    """Optimal local hashing by independent hashes."""


@dataclass(frozen=True)
class IndependentBestLH(IndependentHashing, BestLH):
    """Local hashing with the best whole g, by independent hashes."""


INDEPENDENT: dict[str, type[IndependentHashing]] = {
    protocol.name: protocol for protocol in (IndependentBLH, IndependentOLH, IndependentBestLH)
}
