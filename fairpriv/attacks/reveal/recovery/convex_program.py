"""A second cross-check of `l1`: the same program stated to cvxpy, one right-hand side at a time."""

import numpy as np

from fairpriv.attacks.reveal.recovery.sensing import Sensing, by_blocks
from fairpriv.errors import FairprivError


def convex_program(sensing: Sensing, eta: np.ndarray) -> np.ndarray:
    """Solve min ‖t‖₁ subject to Ht = η (hamman2023, equation (3)) by an interior-point method (Clarabel)."""
    # Here: both are slow to import, and only this decoder needs them. Cvxpy's HiGHS keeps OR-tools from its own.
    import ortools.sat.python.cp_model  # noqa: F401

    # isort: split
    import cvxpy as cp

    h = sensing.h
    if sensing.rank < len(h):  # dependent rows: the least-squares solutions, as `l1` does
        h, eta = sensing.q, by_blocks(sensing.coordinates, eta)
    t, right = cp.Variable(sensing.n), cp.Parameter(len(h))
    program = cp.Problem(cp.Minimize(cp.norm1(t)), [h @ t == right])
    out = np.zeros((sensing.n, eta.shape[1]))
    for k in range(eta.shape[1]):
        right.value = eta[:, k]
        program.solve(solver=cp.CLARABEL)
        if t.value is None:
            raise FairprivError(f"cvxpy found no solution: {program.status}")
        out[:, k] = t.value
    return out
