"""Over-relaxed Douglas-Rachford splitting (ADMM) for many right-hand sides: minimise f(t) + data(t) by column."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

RELAXATION = 1.7
CHECK = 25  # iterations between two looks at convergence

Prox = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (v (n, K), step (K,)) -> argmin f(t) + ‖t − v‖² / 2 step


@dataclass
class State:
    """Where the iteration stands: x meets the data, z the penalty, u is the scaled dual; step is per column."""

    iteration: int
    x: np.ndarray
    z: np.ndarray
    u: np.ndarray
    change: np.ndarray
    step: np.ndarray

    def balance(self) -> None:
        """Move each column's step so that its two residuals stay within a factor of five of each other."""
        primal, dual = _size(self.x - self.z), _size(self.change)
        factor = np.where(primal > 5 * dual, 0.5, np.where(dual > 5 * primal, 2.0, 1.0))
        self.rescale(factor)

    def rescale(self, factor: np.ndarray | float) -> None:
        """Multiply each column's step, and the dual which is in units of it."""
        self.step *= factor
        self.u *= factor

    def settled(self, tolerance: float) -> np.ndarray:
        """Say which columns have both residuals under the tolerance (in units of the entries of t)."""
        return np.maximum(_size(self.x - self.z), _size(self.change)) <= tolerance * np.maximum(1.0, _size(self.z))


def _size(a: np.ndarray) -> np.ndarray:
    return np.abs(a).max(axis=0)


def iterate(
    data: Prox, penalty: Prox, z: np.ndarray, step: np.ndarray, limit: int, relaxation: float = RELAXATION
) -> Iterator[State]:
    """Run the splitting from z and hand the state over every `CHECK` iterations."""
    state = State(0, z, z, np.zeros_like(z), z, step.copy())
    for iteration in range(1, limit + 1):
        x = data(state.z - state.u, state.step)
        w = relaxation * x + (1.0 - relaxation) * state.z + state.u
        z = penalty(w, state.step)
        state.change, state.x, state.z, state.u, state.iteration = z - state.z, x, z, w - z, iteration
        if iteration % CHECK == 0:
            yield state


def minimise(
    data: Prox, penalty: Prox, z: np.ndarray, step: np.ndarray, *, limit: int = 4000, tolerance: float = 1e-8
) -> np.ndarray:
    """Iterate until every column has settled; a column keeps the value it had when it settled."""
    out, open_ = z.copy(), np.ones(z.shape[1], dtype=bool)
    for state in iterate(data, penalty, z, step, limit):
        now = open_ & (state.settled(tolerance) | (state.iteration == limit))
        out[:, now] = state.z[:, now]
        open_ &= ~now
        if not open_.any():
            break
        if state.iteration <= limit // 2 and state.iteration % (2 * CHECK) == 0:
            state.balance()  # a step that stays fixed from half way on keeps the convergence proof
    return out


def soft(v: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Prox of ‖t‖₁."""
    return v - np.clip(v, -step, step)


def unit_box(v: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Prox of Σt with 0 <= t <= 1."""
    return np.clip(v - step, 0.0, 1.0)


def affine(q: np.ndarray, b: np.ndarray) -> Prox:
    """Projection onto {t: Qt = b}, Q with orthonormal rows."""
    base = q.T @ b
    return lambda v, step: v - q.T @ (q @ v) + base


def affine_single(q: np.ndarray, b: np.ndarray) -> Prox:
    """Return the same in single precision, for v in Fortran order: half the memory to read in the order BLAS likes."""
    base, q = (b.T @ q).astype(np.float32).T, q.astype(np.float32)
    return lambda v, step: v - ((v.T @ q.T) @ q).T + base
