"""From an approximate solution of basis pursuit to the exact vertex: a few primal simplex pivots."""

from functools import cached_property

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dger

from fairpriv.attacks.reveal.recovery.factored import DOUBT, Doubt, Factored

_SLACK = 1e-9  # how far |qⱼᵀy| may exceed 1
ROUNDS = 8  # times that columns thought unlikely may turn out to come in
FACTORED_FROM = 150  # equations from which it pays to factorise


class Simplex:
    """Solves min ‖t‖₁ subject to Qt = b exactly, for one b after the other."""

    def __init__(self, q: np.ndarray) -> None:
        self._q = q

    @cached_property
    def _factored(self) -> Factored:
        return Factored(self._q)

    def vertex(self, b: np.ndarray, weight: np.ndarray, pivots: int) -> np.ndarray | None:
        """Return the solution that is reached from the basis of the largest weights.

        Every basis is primal feasible, as an entry of t may have either sign; a pivot brings in the column that most
        violates |qⱼᵀy| <= 1 and walks through sign changes of the basic entries for as long as ‖t‖₁ falls. Prices are
        kept for the likely columns only; all are looked at before a solution is accepted, so one returned is certified
        optimal. None: a singular basis or too many pivots.
        """
        likely = np.argsort(-np.abs(weight), kind="stable")[: 2 * len(self._q)]
        if len(self._q) >= FACTORED_FROM:
            try:
                return self._by_factors(b, likely, pivots)
            except Doubt:
                pass  # then the inverse decides, as ever
        return self._by_inverse(b, weight, likely, pivots)

    def _by_factors(self, b: np.ndarray, likely: np.ndarray, pivots: int) -> np.ndarray | None:
        """Return the very bytes of `_by_inverse` in less time, or raise `Doubt`."""
        walk, basis = self._factored, likely[: len(self._q)]
        for _ in range(ROUNDS):
            walk.start(b, basis, likely)
            if not walk.optimise(pivots):
                return None
            basis, pivots = walk.basis, pivots - walk.made
            values, price = walk.solution()
            size = np.abs(price)
            if (np.abs(size - 1.0) <= 10 * _SLACK + DOUBT).any():
                raise Doubt
            broken = np.flatnonzero(size > 1.0)
            if len(broken) == 0:
                return self._accepted(b, basis, values)
            likely = np.union1d(likely, broken)
        return None

    def _by_inverse(self, b: np.ndarray, weight: np.ndarray, likely: np.ndarray, pivots: int) -> np.ndarray | None:
        q = self._q
        start = _first_basis(q, weight, likely)
        if start is None:
            return None
        basis, inverse = start
        for _ in range(ROUNDS):
            left = _pivot(q, b, np.ascontiguousarray(q[:, likely]), likely, basis, inverse, pivots)
            if left is None:
                return None
            pivots, inverse, y = left
            broken = np.flatnonzero(np.abs(y @ q) > 1 + 10 * _SLACK)
            if len(broken) == 0:  # solved afresh: the updated inverse has drifted
                return self._accepted(b, basis, np.linalg.solve(q[:, basis], b))
            likely = np.union1d(likely, broken)
        return None

    def _accepted(self, b: np.ndarray, basis: np.ndarray, values: np.ndarray) -> np.ndarray | None:
        t = np.zeros(self._q.shape[1])
        t[basis] = values
        return t if np.linalg.norm(self._q @ t - b) <= 1e-9 * np.linalg.norm(b) else None


def _first_basis(q: np.ndarray, weight: np.ndarray, likely: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the columns of largest weight and their inverse; where those are dependent, heavy independent ones."""
    basis = likely[: len(q)].copy()
    inverse = _inverse(q[:, basis])
    if inverse is None:
        heavy = q[:, likely] * (np.abs(weight[likely]) + 1e-3 * np.abs(weight).max())
        basis = likely[qr(heavy, mode="r", pivoting=True, check_finite=False)[1][: len(q)]]
        inverse = _inverse(q[:, basis])
    return None if inverse is None else (basis, inverse)


def _inverse(square: np.ndarray) -> np.ndarray | None:
    try:
        inverse = np.asfortranarray(np.linalg.inv(square))
    except np.linalg.LinAlgError:
        return None
    return inverse if np.abs(inverse).max() < 1e8 else None


def _pivot(
    q: np.ndarray,
    b: np.ndarray,
    columns: np.ndarray,
    names: np.ndarray,
    basis: np.ndarray,
    inverse: np.ndarray,
    pivots: int,
) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Pivot (basis in place) until the named columns price out; return the pivots left, the inverse and the dual y."""
    t = inverse @ b
    sign = np.where(t < 0, -1.0, 1.0)
    basic = np.zeros(q.shape[1], dtype=bool)
    basic[basis] = True
    while pivots > 0:
        y = sign @ inverse
        price = y @ columns
        price[basic[names]] = 0.0
        worst = int(np.argmax(np.abs(price)))
        gain = abs(price[worst]) - 1.0
        if gain <= _SLACK:
            return pivots, inverse, y
        entering, direction = names[worst], np.sign(price[worst])
        slope = direction * (inverse @ q[:, entering])
        ratio = np.divide(t, slope, out=np.full_like(t, -1.0), where=np.abs(slope) > 1e-9)
        met = np.flatnonzero(ratio >= 0)
        met = met[np.argsort(ratio[met], kind="stable")]
        uphill = np.cumsum(2.0 * np.abs(slope[met])) >= gain
        if not uphill.any():
            return None
        last = int(np.argmax(uphill))
        leaving, length = met[last], ratio[met[last]]
        t -= length * slope
        t[leaving] = direction * length
        sign[met[:last]] *= -1.0
        sign[leaving] = direction
        row = inverse[leaving] * (direction / slope[leaving])
        inverse = dger(-direction, slope, row, a=inverse, overwrite_a=1)
        inverse[leaving] = row
        basic[basis[leaving]], basic[entering] = False, True
        basis[leaving] = entering
        pivots -= 1
    return None
