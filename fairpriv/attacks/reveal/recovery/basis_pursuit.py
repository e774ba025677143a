"""The paper's decoder: min ‖t‖₁ subject to Ht = η (hamman2023, equation (3)), by ADMM and an exact finish."""

import numpy as np
from scipy.linalg import qr, solve_triangular

from fairpriv.attacks.reveal.recovery.sensing import Sensing, by_blocks
from fairpriv.attacks.reveal.recovery.simplex import Simplex
from fairpriv.attacks.reveal.recovery.splitting import State, affine, affine_single, iterate, soft

GAP = 1e-9  # relative duality gap at which a column is done
LIMIT = 4000
# Pivots cost m² each, and a large problem takes many: beyond this many entries of H the splitting has the last word,
# after fewer iterations and in single precision, which is far finer than what those leave open. It decides at least
# 99.5 % of the attributes as the vertex does (tests/attacks).
EXACT_UP_TO = 1_000_000
LARGE_LIMIT, LARGE_RELAXATION = 200, 1.9
# A large problem's steps: a short one finds the large entries soon, whatever the size of the noise; longer ones, taken
# by and by, settle which of the others are zero.
FIRST_STEP, LAST_STEP, LONGER = 0.25, 2.0, 2.0
SPARSE = 0.8  # nonzeros per equation up to which a column is solved on its support
FINISH_AT = (100, 200, 500, 2000)  # iterations at which a column is handed to the simplex if it is ripe


def basis_pursuit(sensing: Sensing, eta: np.ndarray) -> np.ndarray:
    """Solve every column of η; where H determines t (rank n) that solution, in the least-squares sense, is returned."""
    if sensing.rank in (0, sensing.n):
        return by_blocks(lambda part: sensing.q.T @ sensing.coordinates(part), eta)
    solve = _exact if sensing.q.size <= EXACT_UP_TO else _large
    return by_blocks(lambda part: solve(sensing.q, sensing.coordinates(part)), eta)


def _scaled(q: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return b in the size of an entry of t, so that noise of any size converges alike, and that size (0: b is 0)."""
    unit = 2.0 * np.abs(q.T @ b).sum(axis=0) / len(q)
    return b / np.where(unit > 0, unit, 1.0), unit


def _exact(q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a block of columns to the vertex, or to a duality gap of `GAP`."""
    scaled, unit = _scaled(q, b)
    simplex = Simplex(q)
    out, open_ = np.zeros((q.shape[1], b.shape[1])), unit > 0
    for state in iterate(affine(q, scaled), soft, np.zeros_like(out), np.ones(b.shape[1]), LIMIT):
        small = _gap(q, scaled, state) <= GAP
        for k in np.flatnonzero(open_):
            z, u, filled = state.z[:, k], state.u[:, k], _filled(q, state, k)
            t = _sparse(q, scaled[:, k], z, u) if filled <= SPARSE else None
            if t is None and state.iteration in FINISH_AT and _ripe(filled, state.iteration):
                t = simplex.vertex(scaled[:, k].copy(), z + u, pivots=len(q))
            if t is None and (small[k] or state.iteration == LIMIT):
                t = state.x[:, k]
            if t is not None:
                out[:, k], open_[k] = t * unit[k], False
        if not open_.any():
            break
    return out


def _large(q: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve a block of columns by the splitting alone; those with a small support are still exact, and proved so."""
    scaled, unit = _scaled(q, b)
    out, open_ = np.zeros((q.shape[1], b.shape[1])), unit > 0
    start, step = np.zeros_like(out, dtype=np.float32, order="F"), np.full(b.shape[1], FIRST_STEP, dtype=np.float32)
    for state in iterate(affine_single(q, scaled), soft, start, step, LARGE_LIMIT, LARGE_RELAXATION):
        for k in np.flatnonzero(open_):
            z, u = state.z[:, k].astype(float), state.u[:, k].astype(float) / state.step[k]
            t = _sparse(q, scaled[:, k], z, u) if _filled(q, state, k) <= SPARSE else None
            if t is None and state.iteration == LARGE_LIMIT:
                t = z  # not x, which meets the data: z has the zeros, on which decisions hang
            if t is not None:
                out[:, k], open_[k] = t * unit[k], False
        if not open_.any():
            break
        state.rescale(np.minimum(LONGER, LAST_STEP / state.step))
    return out


def _filled(q: np.ndarray, state: State, k: int) -> float:
    """Return the number of nonzeros of a column, in units of the number of equations."""
    return np.count_nonzero(state.z[:, k]) / len(q)


def _ripe(filled: float, iteration: int) -> bool:
    """Say whether the simplex has a good start: about as many nonzeros as equations; later on, whatever there is."""
    most = 1.1 if iteration == FINISH_AT[0] else np.inf
    return SPARSE < filled <= most or iteration >= 500


def _gap(q: np.ndarray, b: np.ndarray, state: State) -> np.ndarray:
    """Relative duality gap per column: ‖x‖₁ against bᵀy, y the dual vector brought within ‖Qᵀy‖∞ <= 1."""
    y = q @ state.u
    dual = (b * y).sum(axis=0) / np.maximum(np.abs(q.T @ y).max(axis=0), 1e-300)
    primal = np.abs(state.x).sum(axis=0)
    return (primal - dual) / np.maximum(primal, 1e-300)


def _sparse(q: np.ndarray, b: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray | None:
    """Solve on the support of z, a small one, and prove it optimal, or None.

    The proof is a dual vector with qⱼᵀy = sign(tⱼ) on the support and |qⱼᵀy| <= 1 elsewhere: the splitting's own,
    corrected on the support.
    """
    support = np.flatnonzero(z)
    if len(support) == 0:
        return None
    basis, factor = qr(q[:, support], mode="economic", check_finite=False)
    if np.abs(np.diag(factor)).min() <= 1e-10:
        return None
    values = solve_triangular(factor, basis.T @ b, check_finite=False)
    meets = np.linalg.norm(q[:, support] @ values - b) <= 1e-10 * np.linalg.norm(b)
    sign, y = np.sign(z[support]), q @ u
    if not (meets and (values * sign > 0).all()):
        return None
    y = y + basis @ solve_triangular(factor, sign - y @ q[:, support], trans="T", check_finite=False)
    if np.abs(y @ q).max() > 1 + 1e-9:
        return None
    t = np.zeros(q.shape[1])
    t[support] = values
    return t
