"""Histogram encoding: Laplace noise on the one-hot vector; thresholded (THE) or summed (SHE) (Wang et al. 2017)."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.ldp.base import LDPProtocol, chunks
from fairpriv.mechanisms.ldp.unary_encoding import UnaryEncoding
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.release import grid_for, release


def _miss_and_q(epsilon: float, threshold: float) -> tuple[float, float]:
    """Return Pr[1 + Lap(2/ε) <= θ] and Pr[Lap(2/ε) > θ] for θ in [0, 1]."""
    return 0.5 * math.exp(epsilon * (threshold - 1) / 2), 0.5 * math.exp(-epsilon * threshold / 2)


@lru_cache(maxsize=4096)
def best_threshold(epsilon: float) -> float:
    """Return the threshold in (1/2, 1) with the least variance q(1-q) / (p-q)² (arcolezi2023, Section 3.3)."""

    def log_variance(threshold: float) -> float:
        miss, q = _miss_and_q(epsilon, threshold)
        return math.log(q) + math.log1p(-q) - 2 * math.log1p(-miss - q)

    return float(minimize_scalar(log_variance, bounds=(0.5, 1), method="bounded", options={"xatol": 1e-9}).x)


@dataclass(frozen=True)
class THE(UnaryEncoding):
    """Thresholding with histogram encoding: says which entries of the noisy histogram exceed θ.

    The noise is independent from entry to entry, so that the bits are too: they are drawn as such, with the same law.
    """

    name: ClassVar[str] = "the"
    label: ClassVar[str] = "THE"

    @property
    def threshold(self) -> float:
        """Return θ."""
        return best_threshold(float(self.epsilon))

    def bit_probabilities(self) -> tuple[float, float, float]:
        """Return p = 1 - e^(ε(θ-1)/2) / 2 and q = e^(-εθ/2) / 2."""
        miss, q = _miss_and_q(self.epsilon, self.threshold)
        return 1 - miss, miss, q


@dataclass(frozen=True)
class SHE(LDPProtocol):
    """Summation with histogram encoding: the noisy histogram as it is. Beyond arcolezi2023; not a pure protocol."""

    name: ClassVar[str] = "she"
    label: ClassVar[str] = "SHE"

    def pure_probabilities(self) -> tuple[float, float]:
        """Refuse: a noisy histogram supports no set of values."""
        raise BadRequest("she is not a pure protocol: its reports are real numbers")

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the one-hot vector plus Lap(2/ε) in each entry, (n, k), on a public grid."""
        values = self._checked(values)
        reports = np.empty((self.k, len(values)))
        scale = 2 / self.epsilon
        for users in chunks(len(values)):
            own = np.arange(self.k)[:, None] == values[users]
            reports[:, users] = release(own, Laplace(scale), grid_for(scale), rng)
        return reports.T

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return the noisy histogram itself."""
        return reports

    def estimate_frequencies(self, reports: np.ndarray) -> np.ndarray:
        """Return the mean histogram."""
        return reports.mean(axis=0)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Return 8 / (n ε²)."""
        return 8 / (n * self.epsilon**2)

    def log_likelihood(self, reports: np.ndarray) -> np.ndarray:
        """Return the log-density of all k entries, by value."""
        away, own = np.abs(reports), np.abs(reports - 1)
        distance = away.sum(axis=1, keepdims=True) - away + own
        return self.k * math.log(self.epsilon / 4) - distance * self.epsilon / 2
