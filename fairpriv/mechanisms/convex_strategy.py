"""The strategy for few people: scales by a convex program, answers by least squares, in turn (see `strategies`)."""

import warnings

# Before cvxpy, whose HiGHS keeps OR-tools from finding its own.
import ortools.sat.python.cp_model  # noqa: F401

# isort: split
import cvxpy as cp
import numpy as np
from scipy.spatial.distance import pdist

from fairpriv.mechanisms.strategies import Strategy, base_people, middled, sensitivity

ROUNDS = 3  # of least squares, then scales; each lowers the error, further ones by a few percent
NOTHING = 1e-12  # a row this small beside the others is rounding: where models cancel out, their mean is zero
PAIRS = 400  # of people, added to the program where they break (1) most


def least_squares(rows: np.ndarray, scales: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return B of least variance with B·A = H on vectors that add to zero."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    weighted = rows / scales[:, None] ** 2
    information = weighted.T @ rows
    return h @ np.linalg.pinv(information, rcond=1e-12, hermitian=True) @ weighted.T


def best_scales(rows: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Return b in units of U / epsilon that minimises Σ_r cost_r b_r² under (1); infinite where a row costs nothing.

    In w = 1 / b: min Σ cost_r / w_r² with Σ_r w_r |A_rj - A_rk| <= 1, convex. Pairs j, k enter as they are broken;
    at the end w is scaled down to satisfy all.
    """
    n = rows.shape[1]
    used = cost > 1e-12 * cost.max()
    rows, cost = rows[used], cost[used] / cost.max()
    first, second = np.triu_indices(n, 1)
    unit = sensitivity(rows)
    w, active = np.full(len(rows), 1 / unit), np.empty(0, dtype=int)
    while True:
        lengths = pdist((rows * w[:, None]).T, "cityblock")
        broken = np.setdiff1d(np.argsort(-lengths)[:PAIRS], active)
        if len(active) and (lengths.max() <= 1 + 1e-4 or not len(broken)):
            break
        active = np.concatenate([active, broken])
        w = _solve(np.abs(rows[:, first[active]] - rows[:, second[active]]).T, cost, unit)
    scales = np.full(len(used), np.inf)
    scales[used] = lengths.max() * (1 + len(rows) * 2.0**-51) / w
    return scales


def _solve(apart: np.ndarray, cost: np.ndarray, unit: float) -> np.ndarray:
    w = cp.Variable(len(cost), pos=True)  # in units of 1 / unit, so that numbers are near one
    root = np.sqrt(cost)
    program = cp.Problem(cp.Minimize(cp.sum(cp.power(cp.multiply(1 / root, w), -2))), [(apart / unit) @ w <= 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an inexact optimum is scaled to be feasible all the same
        program.solve(solver=cp.CLARABEL)
    return np.maximum(w.value, 1e-9) / unit


def convex(h: np.ndarray) -> Strategy:
    """Return the strategy on the mean row, the deviations from it and everybody, with the best scales found."""
    h = h - h.mean(axis=1, keepdims=True)
    base = h.mean(axis=0, keepdims=True)
    start = base_people(h, base)
    rows = np.concatenate([base, h - base, np.eye(h.shape[1])])
    own = np.full(len(h), 3 * sensitivity(h - base))  # deviations enter as a hint, and grow where they help
    scales = np.concatenate([start.parts[0][1], own, start.parts[1][1]])
    kept = np.ptp(rows, axis=1) > NOTHING * np.ptp(rows)
    for _ in range(ROUNDS):
        rows, scales = rows[kept], scales[kept]
        cost = (least_squares(rows, scales, h) ** 2).sum(axis=0)
        scales = best_scales(rows, cost)
        kept = np.isfinite(scales)
    rows, scales = rows[kept], scales[kept]
    return Strategy("convex", ((middled(rows), scales, least_squares(rows, scales, h)),))
