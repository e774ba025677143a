"""Cross-checks by a general LP solver (HiGHS through scipy), one right-hand side at a time."""

import numpy as np
from scipy.optimize import linprog

from fairpriv.attacks.reveal.recovery.sensing import Sensing, by_blocks
from fairpriv.errors import FairprivError


def linear_program(sensing: Sensing, eta: np.ndarray, method: str = "highs") -> np.ndarray:
    """Solve min ‖t‖₁ subject to Ht = η as the split linear program t = t⁺ − t⁻ (hamman2023, equation (3))."""
    h, n = sensing.h, sensing.n
    if sensing.rank < len(h):
        h, eta = (
            sensing.q,
            by_blocks(sensing.coordinates, eta),
        )  # dependent rows: the least-squares solutions, as `l1` does
    split = np.hstack([h, -h])
    out = np.zeros((n, eta.shape[1]))
    for k in range(eta.shape[1]):
        result = linprog(np.ones(2 * n), A_eq=split, b_eq=eta[:, k], bounds=(0, None), method=method)
        if result.x is None:
            raise FairprivError(f"HiGHS found no solution: {result.message}")
        out[:, k] = result.x[:n] - result.x[n:]
    return out
