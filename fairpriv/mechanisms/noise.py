"""Noise laws, centred at zero: sampling, log density, distribution function and quantiles.

The guarantees built on these laws are for real numbers. `sample` gives floats, whose low-order bits are outside the
proofs; answers that are released are drawn by `fairpriv.mechanisms.release`, which stays within them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from fairpriv.errors import BadRequest


@dataclass(frozen=True, eq=False)
class Law:
    """A symmetric law of noise; `scale` is a number, or an array that broadcasts against the last axis of samples."""

    scale: float | np.ndarray

    def __post_init__(self) -> None:
        if not (np.all(np.isfinite(self.scale)) and np.all(np.asarray(self.scale) > 0)):
            raise BadRequest(f"the scale of noise must be > 0 and finite, got {self.scale!r}")

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Draw independent samples; every bit of randomness comes from `rng`."""
        return self.scale * self._standard(size, rng)

    def logpdf(self, x: Any) -> np.ndarray:
        """Return the log density at x."""
        return self._logpdf(np.asarray(x, dtype=float) / self.scale) - np.log(self.scale)

    def cdf(self, x: Any) -> np.ndarray:
        """Return P(noise <= x), accurate in the left tail; by symmetry the right tail is `cdf(-x)`."""
        return self._cdf(np.asarray(x, dtype=float) / self.scale)

    def ppf(self, q: Any) -> np.ndarray:
        """Return the q-quantile, for q in [0, 1]."""
        return self.scale * self._ppf(np.asarray(q, dtype=float))

    def _standard(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError

    def _logpdf(self, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _cdf(self, z: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _ppf(self, q: np.ndarray) -> np.ndarray:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Cauchy(Law):
    """Cauchy: density 1 / (pi s (1 + (x/s)^2)). It has no mean; summarise it by quantiles."""

    def _standard(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.standard_cauchy(size)

    def _logpdf(self, z: np.ndarray) -> np.ndarray:
        return -np.log(np.pi) - 2 * np.log(np.hypot(1.0, z))  # hypot: z^2 overflows where the density does not

    def _cdf(self, z: np.ndarray) -> np.ndarray:
        return np.arctan2(1.0, -z) / np.pi  # 1/2 + arctan(z)/pi cancels for z << 0

    def _ppf(self, q: np.ndarray) -> np.ndarray:
        tail = np.minimum(q, 1 - q)
        with np.errstate(divide="ignore"):
            return np.sign(q - 0.5) * np.where(tail < 0.5, 1 / np.tan(np.pi * tail), 0.0)


@dataclass(frozen=True, eq=False)
class Laplace(Law):
    """Laplace: density exp(-|x|/s) / (2 s)."""

    def _standard(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.laplace(size=size)

    def _logpdf(self, z: np.ndarray) -> np.ndarray:
        return -np.abs(z) - np.log(2)

    def _cdf(self, z: np.ndarray) -> np.ndarray:
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def _ppf(self, q: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.sign(q - 0.5) * -np.log(2 * np.minimum(q, 1 - q))


@dataclass(frozen=True, eq=False)
class Gaussian(Law):
    """Gaussian with standard deviation `scale`."""

    def _standard(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal(size)

    def _logpdf(self, z: np.ndarray) -> np.ndarray:
        return -0.5 * z**2 - 0.5 * np.log(2 * np.pi)

    def _cdf(self, z: np.ndarray) -> np.ndarray:
        return special.ndtr(z)

    def _ppf(self, q: np.ndarray) -> np.ndarray:
        return special.ndtri(q)


@dataclass(frozen=True, eq=False)
class Exact(Law):
    """No noise: all mass at zero. `logpdf` is the log of that mass: 0 at zero, minus infinity elsewhere."""

    scale: float = 0.0

    def __post_init__(self) -> None:
        if self.scale != 0:
            raise BadRequest(f"exact answers have scale 0, got {self.scale!r}")

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Return zeros; `rng` is not touched."""
        return np.zeros(size)

    def logpdf(self, x: Any) -> np.ndarray:
        """Return the log mass at x."""
        return np.where(np.asarray(x) == 0, 0.0, -np.inf)

    def cdf(self, x: Any) -> np.ndarray:
        """Return the step at zero."""
        return np.where(np.asarray(x) >= 0, 1.0, 0.0)

    def ppf(self, q: Any) -> np.ndarray:
        """Return zeros."""
        return np.zeros_like(np.asarray(q, dtype=float))
