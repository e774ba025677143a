"""Subset selection (Wang et al. 2016; Ye and Barg 2018)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.mechanisms.ldp.base import LDPProtocol, chunks
from fairpriv.mechanisms.ldp.coins import coins, random_bytes


def random_subsets(m: int, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a uniform subset of 0 .. m-1 of the given size a column, (m, n).

    Selection sampling (Knuth, Algorithm S), a value at a time for all users: of `left` values yet to come take the next
    one with probability needed/left. An integer u below w * left decides exactly, by u < w * needed.
    """
    kind = np.uint16 if m < 2**12 else np.uint32
    drawn = random_bytes(m * len(sizes) * kind().itemsize, rng).view(kind).reshape(m, len(sizes))
    needed = sizes.astype(kind)
    chosen = np.empty((m, len(sizes)), bool)
    for value in range(m):
        u, left = drawn[value], m - value
        w = np.iinfo(kind).max // left
        again = np.flatnonzero(u >= w * left) if u.max(initial=0) >= w * left else ()
        while len(again):
            u[again] = random_bytes(len(again) * kind().itemsize, rng).view(kind)
            again = again[u[again] >= w * left]
        np.less(u, needed * kind(w), out=chosen[value])
        needed -= chosen[value]
    return chosen


@dataclass(frozen=True)
class SubsetSelection(LDPProtocol):
    """Reports a set of ω values, the user's own among them with probability p (arcolezi2023, Section 3.3)."""

    name: ClassVar[str] = "ss"
    label: ClassVar[str] = "SS"

    @property
    def omega(self) -> int:
        """Return the size of the set with the least variance, k / (e^ε + 1) rounded, at least 1."""
        return max(1, round(self.k / (math.exp(self.epsilon) + 1)))

    def inclusion(self) -> tuple[float, float]:
        """Return p = ω e^ε / (ω e^ε + k - ω), and 1 - p."""
        lost = (self.k - self.omega) * math.exp(-self.epsilon)
        return self.omega / (self.omega + lost), lost / (self.omega + lost)

    def pure_probabilities(self) -> tuple[float, float]:
        """Return p, and q = (p (ω - 1) + (1 - p) ω) / (k - 1)."""
        p, miss = self.inclusion()
        return p, (p * (self.omega - 1) + miss * self.omega) / (self.k - 1)

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the set of each user as bits, (n, k); the memory behind is a column after the other."""
        values = self._checked(values)
        miss = self.inclusion()[1]
        sets = np.empty((self.k, len(values)), bool)
        for users in chunks(len(values)):
            few = values[users]
            own, at = ~coins(miss, len(few), rng), np.arange(len(few))
            # a subset of the others: drawn from all but the last value, which then stands in for the user's own
            some = np.empty((self.k, len(few)), bool)
            some[:-1] = random_subsets(self.k - 1, self.omega - own.astype(np.int64), rng)
            some[-1] = some[few, at]
            some[few, at] = own
            sets[:, users] = some
        return sets.T

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return the bits."""
        return reports

    def log_likelihood(self, reports: np.ndarray) -> np.ndarray:
        """Return log(p / C(k-1, ω-1)) for members, log((1-p) / C(k-1, ω)) for the others."""
        p, miss = self.inclusion()
        inside = math.log(p) - math.log(math.comb(self.k - 1, self.omega - 1))
        outside = math.log(miss) - math.log(math.comb(self.k - 1, self.omega))
        return np.where(reports, inside, outside)
