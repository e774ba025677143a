"""LDP randomizers of representations (xie2024, Section 4): Laplace noise on values, randomized response on codes.

Both give noise that does not depend on the value it is put on, so that a training loop can draw it ahead:
z = clip(ẑ) + noise, and z = (code + shift) mod k.
"""

import math
from dataclasses import dataclass

import numpy as np

from fairpriv import validate
from fairpriv.mechanisms.ldp import GRR
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.release import grid_for, release

EXACT = 500.0  # from here on randomized response keeps every value, to the last bit of a float


@dataclass(frozen=True)
class LaplaceRandomizer:
    """Clips every dimension to [−t, t] and adds Laplace(2td/ε): ε-LDP (41, 45-51).

    ε = ∞ only clips. ε = 0 gives noise of scale 1 alone: the limit, in which nothing of the value is left.

    Parameters
    ----------
    epsilon : float
        Budget of one representation, >= 0.
    d : int
        Number of dimensions, >= 1.
    t : float
        Threshold of the truncation, > 0.
    """

    epsilon: float
    d: int
    t: float = 0.5

    def __post_init__(self) -> None:
        validate.number("epsilon", self.epsilon, at_least=0)
        validate.integer("d", self.d, at_least=1)
        validate.number("t", self.t, above=0, at_most=1e6)

    @property
    def keep(self) -> float:
        """Return what the value is multiplied by: 0 at ε = 0, else 1."""
        return float(self.epsilon > 0)

    @property
    def scale(self) -> float:
        """Return the scale of noise, 2td/ε: neighbours differ by at most 2td in ℓ1 (45)."""
        if self.epsilon == 0:
            return 1.0
        return 2 * self.t * self.d / self.epsilon

    def noise(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the noise of n representations."""
        if math.isinf(self.epsilon):
            return np.zeros((n, self.d))
        return Laplace(self.scale).sample((n, self.d), rng)

    def perturb(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the randomized representations of values (n, d), on a public grid: last bits of floats would tell."""
        values = self.keep * np.clip(np.asarray(values, dtype=float), -self.t, self.t)
        if math.isinf(self.epsilon):
            return values
        return release(values, Laplace(self.scale), grid_for(self.scale), rng)


@dataclass(frozen=True)
class ResponseRandomizer:
    """Randomized response at ε/d on each of d codes in 0 .. k−1: ε-LDP (42, 53-56).

    By symmetry, the response to v is v plus, modulo k, the response to 0. ε = ∞ keeps the codes, ε = 0 forgets them.

    Parameters
    ----------
    epsilon : float
        Budget of one representation, >= 0.
    d, k : int
        Number of codes, >= 1, and values of each, >= 2.
    """

    epsilon: float
    d: int
    k: int

    def __post_init__(self) -> None:
        validate.number("epsilon", self.epsilon, at_least=0)
        validate.integer("d", self.d, at_least=1)
        validate.integer("k", self.k, at_least=2)

    def shifts(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the responses to 0 of n representations."""
        each = self.epsilon / self.d
        if each > EXACT:
            return np.zeros((n, self.d), np.int64)
        if each == 0:
            return rng.integers(0, self.k, (n, self.d))
        return GRR(self.k, each).perturb(np.zeros(n * self.d, np.int64), rng).reshape(n, self.d)

    def perturb(self, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the randomized codes of (n, d)."""
        return (codes + self.shifts(len(codes), rng)) % self.k

    def transition(self) -> np.ndarray:
        """Return Pr[z_i = v | u] of one code as a matrix (u, v) (42)."""
        each = min(self.epsilon / self.d, EXACT)
        p = 1 / (1 + (self.k - 1) * math.exp(-each))
        return np.where(np.eye(self.k, dtype=bool), p, p * math.exp(-each))
