"""From an approximate solution of basis pursuit to the exact vertex: a few primal simplex pivots."""

import numpy as np
from scipy.linalg import qr
from scipy.linalg.blas import dger

_SLACK = 1e-9  # how far |qⱼᵀy| may exceed 1


def vertex(q: np.ndarray, b: np.ndarray, weight: np.ndarray, pivots: int) -> np.ndarray | None:
    """Solve min ‖t‖₁ subject to Qt = b exactly, starting from the basis of the largest weights.

    Every basis is primal feasible, as an entry of t may have either sign; a pivot brings in the column that most
    violates |qⱼᵀy| <= 1 and walks through sign changes of the basic entries for as long as ‖t‖₁ falls. Prices are kept
    for the likely columns only; all are looked at before a solution is accepted, so one returned is certified optimal.
    None: a singular basis or too many pivots.
    """
    n = q.shape[1]
    likely = np.argsort(-np.abs(weight), kind="stable")[: min(n, 2 * len(q))]
    start = _first_basis(q, weight, likely)
    if start is None:
        return None
    basis, inverse = start
    for _ in range(8):
        left = _pivot(q, b, np.ascontiguousarray(q[:, likely]), likely, basis, inverse, pivots)
        if left is None:
            return None
        pivots, inverse, y = left
        broken = np.flatnonzero(np.abs(y @ q) > 1 + 10 * _SLACK)
        if len(broken) == 0:
            t = np.zeros(n)
            t[basis] = np.linalg.solve(q[:, basis], b)  # afresh: the updated inverse has drifted
            return t if np.linalg.norm(q @ t - b) <= 1e-9 * np.linalg.norm(b) else None
        likely = np.union1d(likely, broken)
    return None


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
