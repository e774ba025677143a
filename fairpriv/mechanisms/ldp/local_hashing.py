"""Local hashing: each user hashes the value with a function of their own and randomises the hash (Wang et al. 2017)."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from fairpriv.mechanisms.ldp.base import LDPProtocol
from fairpriv.mechanisms.ldp.coins import coins

# Carter and Wegman's family: H(x) = ((a x + b) mod P) mod g with a, b uniform in 0 .. P-1. The inner part is pairwise
# independent, so that two values collide with probability 1/g (to g/P).
PRIME = (1 << 61) - 1
LARGEST_RANGE = 1 << 60  # of the hash; reached where ε > 41.5
_P = np.uint64(PRIME)


def _reduce(x: np.ndarray) -> np.ndarray:
    """Return x mod 2^61 - 1 for x < 2^62."""
    return np.where(x >= _P, x - _P, x)


def universal_hash(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return (a x + b) mod P for uint64 arrays, x < 2^29: in halves, since a x has up to 90 bits."""
    low_bits, shift, rest = np.uint64((1 << 32) - 1), np.uint64(32), np.uint64(29)
    high = (a >> shift) * x  # < 2^58
    # times 2^32 modulo 2^61 - 1 is a rotation of the 61 bits
    high = ((high & np.uint64((1 << 29) - 1)) << shift) + (high >> rest)
    low = (a & low_bits) * x  # < 2^61
    return _reduce(_reduce(_reduce(high) + _reduce(low)) + b)


@dataclass(frozen=True)
class LocalHashing(LDPProtocol):
    """Sends a hash function H, as (a, b), and H(value) after GRR on its range 0 .. g-1."""

    @property
    def g(self) -> int:
        """Return the size of the hash's range."""
        raise NotImplementedError

    def hash_probabilities(self) -> tuple[float, float]:
        """Return the probabilities of GRR on the hash: of the true hash, and of any one other."""
        p = 1 / (1 + (self.g - 1) * math.exp(-self.epsilon))
        return p, p * math.exp(-self.epsilon)

    def pure_probabilities(self) -> tuple[float, float]:
        """Return p = e^ε / (e^ε + g - 1) and q = 1/g, the chance of a collision."""
        return self.hash_probabilities()[0], 1 / self.g

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return (a, b, perturbed hash) a user, (n, 3) of uint64."""
        values, g = self._checked(values), self.g
        reports = np.empty((len(values), 3), np.uint64)
        reports[:, :2] = rng.integers(0, PRIME, size=(len(values), 2), dtype=np.uint64)
        hashed = universal_hash(reports[:, 0], reports[:, 1], values.astype(np.uint64)) % np.uint64(g)
        lied = np.flatnonzero(coins((g - 1) * self.hash_probabilities()[1], len(values), rng))
        shift = rng.integers(1, g, size=len(lied), dtype=np.uint64)
        hashed[lied] = (hashed[lied] + shift) % np.uint64(g)
        reports[:, 2] = hashed
        return reports

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return which values have the reported hash; a x + b is stepped through x = 0, 1, ... for all at once."""
        step, at, heard = (np.ascontiguousarray(column) for column in reports.T)
        supported = np.empty((self.k, len(reports)), bool)
        for x in range(self.k):
            supported[x] = at % np.uint64(self.g) == heard
            at = _reduce(at + step)
        return supported.T

    def log_likelihood(self, reports: np.ndarray) -> np.ndarray:
        """Return the log-probability of the hash given the function; the function says nothing about the value."""
        p, q = self.hash_probabilities()
        return np.where(self.indicator(reports), math.log(p), math.log(q))


@dataclass(frozen=True)
class BLH(LocalHashing):
    """Binary local hashing (Bassily and Smith 2015): g = 2."""

    name: ClassVar[str] = "blh"
    label: ClassVar[str] = "BLH"

    @property
    def g(self) -> int:
        """Return 2."""
        return 2


@dataclass(frozen=True)
class OLH(LocalHashing):
    """Optimal local hashing (Wang et al. 2017): g = round(e^ε) + 1."""

    name: ClassVar[str] = "olh"
    label: ClassVar[str] = "OLH"

    @property
    def g(self) -> int:
        """Return round(e^ε) + 1."""
        return min(round(math.exp(self.epsilon)) + 1, LARGEST_RANGE)


def hash_variance(k: int, epsilon: float, g: int) -> float:
    """Return the mean variance over the domain of local hashing onto g values, at equal frequencies and n = 1."""
    p, q = 1 / (1 + (g - 1) * math.exp(-epsilon)), 1 / g
    return q * (1 - q) / (p - q) ** 2 + (1 - p - q) / (p - q) / k


@lru_cache(maxsize=4096)
def best_range(k: int, epsilon: float) -> int:
    """Return the g with the least `hash_variance`, by ternary search (it falls, then rises)."""
    low, high = 2, LARGEST_RANGE
    while high - low > 2:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if hash_variance(k, epsilon, left) <= hash_variance(k, epsilon, right):
            high = right
        else:
            low = left
    return min(range(low, high + 1), key=lambda g: hash_variance(k, epsilon, g))


@dataclass(frozen=True)
class BestLH(LocalHashing):
    """Local hashing with the best whole g for this k. Beyond arcolezi2023.

    OLH rounds the g that is optimal among real numbers for a rare value. Where ε is small the choice is between binary
    and ternary hashing, and rounding may take the worse; where k is small, values are not rare and a larger g is best.
    """

    name: ClassVar[str] = "best_lh"
    label: ClassVar[str] = "best LH"

    @property
    def g(self) -> int:
        """Return the g of least variance."""
        return best_range(self.k, float(self.epsilon))
