"""Beyond the paper: the same equations with 0 <= t <= 1, which is what s̄ >= 0 of equation (1) and its ceiling say."""

import numpy as np

from fairpriv.attacks.reveal.recovery.sensing import Sensing, by_blocks
from fairpriv.attacks.reveal.recovery.splitting import Prox, affine, minimise, unit_box

FEASIBLE = 1e-5  # relative distance to the equations under which they count as met inside the box


def box(sensing: Sensing, eta: np.ndarray) -> np.ndarray:
    """Come as near to Ht = η as the box allows (least squares); where it can be met, min 1ᵀt among the solutions.

    With noisy answers the box and the equations do not meet, and the nearest point is unique in general position.
    """
    t = by_blocks(lambda part: _nearest(sensing, part), eta)
    distance = np.linalg.norm(by_blocks(lambda part: sensing.h @ part, t) - eta, axis=0)
    for k in np.flatnonzero(distance <= FEASIBLE * np.linalg.norm(eta, axis=0)):
        t[:, k] = by_blocks(lambda part, start: _least(sensing, part, start), eta[:, [k]], t[:, [k]])[:, 0]
    return t


def least_squares(sensing: Sensing, eta: np.ndarray) -> Prox:
    """Prox of ½‖Ht − η‖² through the singular value decomposition of H."""
    u, s, vt = sensing.spectrum
    target, s = s[:, None] * (u.T @ eta), s[:, None]

    def prox(v: np.ndarray, step: np.ndarray) -> np.ndarray:
        inner = vt @ v
        return v + vt.T @ ((step * target + inner) / (1.0 + step * s**2) - inner)

    return prox


def _nearest(sensing: Sensing, eta: np.ndarray) -> np.ndarray:
    start = np.zeros((sensing.n, eta.shape[1]))
    step = np.full(eta.shape[1], 1.0 / np.median(sensing.spectrum[1]) ** 2) if sensing.rank else np.ones(eta.shape[1])
    return minimise(least_squares(sensing, eta), lambda v, step: np.clip(v, 0.0, 1.0), start, step)


def _least(sensing: Sensing, eta: np.ndarray, start: np.ndarray) -> np.ndarray:
    data = affine(sensing.q, sensing.coordinates(eta))
    return minimise(data, unit_box, start, np.full(eta.shape[1], 0.1), limit=20_000, tolerance=1e-10)
