"""Generalized randomized response (Kairouz et al. 2016)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.mechanisms.ldp.base import LDPProtocol
from fairpriv.mechanisms.ldp.coins import coins


@dataclass(frozen=True)
class GRR(LDPProtocol):
    """Reports the value itself with probability p, else any other one (arcolezi2023, Section 3.3)."""

    name: ClassVar[str] = "grr"
    label: ClassVar[str] = "GRR"

    def pure_probabilities(self) -> tuple[float, float]:
        """Return p = e^ε / (e^ε + k - 1) and q = 1 / (e^ε + k - 1)."""
        p = 1 / (1 + (self.k - 1) * math.exp(-self.epsilon))
        return p, p * math.exp(-self.epsilon)

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one value a user: with probability kq any of the k, the true one included, else the true one."""
        reports = self._checked(values).copy()
        q = self.pure_probabilities()[1]
        replaced = np.flatnonzero(coins(self.k * q, len(reports), rng))
        reports[replaced] = rng.integers(0, self.k, size=len(replaced), dtype=np.uint32)
        return reports

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return the one-hot encoding."""
        return reports[:, None] == np.arange(self.k)

    def support(self, reports: np.ndarray) -> np.ndarray:
        """Count each value."""
        return np.bincount(reports, minlength=self.k).astype(float)

    def log_likelihood(self, reports: np.ndarray) -> np.ndarray:
        """Return log p or log q."""
        p, q = self.pure_probabilities()
        return np.where(self.indicator(reports), math.log(p), math.log(q))
