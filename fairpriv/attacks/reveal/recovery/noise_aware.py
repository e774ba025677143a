"""Beyond the paper: basis pursuit with an allowance matched to the mechanism's public noise."""

import numpy as np

from fairpriv.attacks.reveal.recovery.basis_pursuit import basis_pursuit
from fairpriv.attacks.reveal.recovery.sensing import Sensing, by_blocks
from fairpriv.attacks.reveal.recovery.splitting import Prox, minimise, soft
from fairpriv.mechanisms.noise import Law

_GRID = (np.arange(20_000) + 0.5) / 20_000


def clipped_second_moment(law: Law, bound: float = 1.0) -> float:
    """Return E[min(Z², bound²)], finite for every law, the Cauchy included; by quantiles on a fine grid."""
    if law.scale == 0:
        return 0.0
    return float((np.minimum(np.abs(law.ppf(_GRID)), bound) ** 2).mean())


def noise_aware(sensing: Sensing, eta: np.ndarray, allowance: np.ndarray) -> np.ndarray:
    """Solve min ‖t‖₁ subject to ‖Ht − η‖₂ <= allowance, per column; no allowance is basis pursuit itself."""
    out = np.zeros((sensing.n, eta.shape[1]))
    exact = allowance == 0
    if exact.any():
        out[:, exact] = basis_pursuit(sensing, eta[:, exact])
    if not exact.all():
        out[:, ~exact] = by_blocks(lambda *part: _block(sensing, *part), eta[:, ~exact], allowance[None, ~exact])
    return out


def _block(sensing: Sensing, eta: np.ndarray, allowance: np.ndarray) -> np.ndarray:
    u, s, vt = sensing.spectrum
    beta = u.T @ eta
    unreachable = ((eta - u @ beta) ** 2).sum(axis=0)  # what no t can explain; the ball is at least that large
    radius = np.sqrt(np.maximum(allowance[0] ** 2 - unreachable, 0.0))
    unit = np.maximum(2.0 * np.abs(vt.T @ (beta / s[:, None])).sum(axis=0) / len(s), 1e-300)
    return minimise(_ball(s, vt, beta, radius), soft, np.zeros((sensing.n, eta.shape[1])), unit, tolerance=1e-7)


def _ball(s: np.ndarray, vt: np.ndarray, beta: np.ndarray, radius: np.ndarray) -> Prox:
    """Projection onto {t: ‖diag(s)Vᵀt − β‖ <= radius}: one multiplier per column, by Newton on its secular equation."""
    s = s[:, None]
    square = s**2

    def prox(v: np.ndarray, step: np.ndarray) -> np.ndarray:
        inner = vt @ v
        miss = s * inner - beta
        nu = np.zeros(len(radius))  # ‖miss / (1 + νs²)‖ = radius; 1/norm is nearly linear in ν: Newton from below
        for _ in range(30):
            shrink = 1.0 / (1.0 + nu * square)
            left = miss * shrink
            norm = np.sqrt((left**2).sum(axis=0))
            slope = (left**2 * square * shrink).sum(axis=0)
            outside = norm > radius * (1 + 1e-12) + 1e-14
            if not outside.any():
                break
            move = np.divide(
                (norm / np.maximum(radius, 1e-14) - 1.0) * norm**2, slope, out=np.zeros_like(nu), where=outside
            )
            nu = nu + move
        return v - vt.T @ (nu * s * miss / (1.0 + nu * square))

    return prox
