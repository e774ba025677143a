"""What an LDP protocol is: one categorical value in, one report out, at most e^ε between any two values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.errors import BadRequest

CHUNK = 1 << 15  # users worked on at once: few enough for their n x k temporaries to stay small


@dataclass(frozen=True)
class LDPProtocol:
    """An ε-LDP protocol for values 0 .. k-1 (arcolezi2023, Definition 1).

    Parameters
    ----------
    k : int
        Size of the domain, >= 2.
    epsilon : float
        Privacy budget of one report, > 0.
    """

    k: int
    epsilon: float

    name: ClassVar[str]
    label: ClassVar[str]  # as papers write it

    def __post_init__(self) -> None:
        validate.integer("k", self.k, at_least=2)
        validate.number("epsilon", self.epsilon, above=0, at_most=500)

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one report a user."""
        raise NotImplementedError

    def indicator(self, reports: np.ndarray) -> np.ndarray:
        """Return which values each report supports, (n, k): the homogeneous encoding (arcolezi2023, Section 4)."""
        raise NotImplementedError

    def pure_probabilities(self) -> tuple[float, float]:
        """Return (p, q): how often a report supports the user's value, and any other one."""
        raise NotImplementedError

    def log_likelihood(self, reports: np.ndarray) -> np.ndarray:
        """Return log Pr[report | value] (a density for real reports), (n, k)."""
        raise NotImplementedError

    def support(self, reports: np.ndarray) -> np.ndarray:
        """Return how many reports support each value; never more than a chunk of indicators in memory."""
        counts = np.zeros(self.k)
        for rows in chunks(len(reports)):
            counts += self.indicator(reports[rows]).sum(axis=0)
        return counts

    def estimate_frequencies(self, reports: np.ndarray) -> np.ndarray:
        """Return unbiased estimates of the frequencies (Wang et al. 2017, Equation 1); they may be negative."""
        p, q = self.pure_probabilities()
        return (self.support(reports) / len(reports) - q) / (p - q)

    def variance(self, n: int = 1, frequency: float = 0.0) -> float:
        """Return the variance of an estimate from n reports (Wang et al. 2017, Equation 2)."""
        p, q = self.pure_probabilities()
        return (q * (1 - q) / (p - q) ** 2 + frequency * (1 - p - q) / (p - q)) / n

    def total_variance(self, n: int = 1) -> float:
        """Return the summed variance over the domain, at equal frequencies."""
        return self.k * self.variance(n, 1 / self.k)

    def _checked(self, values: np.ndarray) -> np.ndarray:
        values = np.asarray(values)
        if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
            raise BadRequest(f"values must be whole numbers in one dimension, got {values.dtype}, shape {values.shape}")
        if len(values) and (values.min() < 0 or values.max() >= self.k):
            raise BadRequest(f"values must be in 0 .. {self.k - 1}, got {values.min()} .. {values.max()}")
        return values.astype(np.intp, copy=False)


def chunks(n: int) -> Iterator[slice]:
    """Cut n users into slices."""
    for start in range(0, n, CHUNK):
        yield slice(start, min(n, start + CHUNK))
