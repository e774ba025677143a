"""Beyond the paper: the most likely group vector under the mechanism's public noise law and the public group sizes."""

import numpy as np

from fairpriv.attacks.reveal.recovery.box import least_squares
from fairpriv.attacks.reveal.recovery.sensing import Sensing, by_blocks
from fairpriv.attacks.reveal.recovery.splitting import RELAXATION, Prox, affine, minimise
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Cauchy, Exact, Gaussian, Laplace, Law

LAWS = (Exact, Gaussian, Laplace, Cauchy)


def maximum_likelihood(sensing: Sensing, eta: np.ndarray, n0: np.ndarray, laws: list[Law]) -> np.ndarray:
    """Maximise the likelihood of η = Ht + noise over 0 <= t <= 1, Σt = N0 (laws with scales in the units of t).

    Exact and Gaussian answers are least squares; Laplace ones least absolute deviations, which is also right for
    answers the desk clipped, as log-tail and log-density of that law fall alike. The Cauchy likelihood has many maxima:
    the search starts from the least-absolute-deviations solution and ends in a maximum near it.
    """
    out = np.zeros((sensing.n, eta.shape[1]))
    scale = np.array([law.scale for law in laws])
    kinds = [next((c for c in LAWS if isinstance(law, c)), None) for law in laws]
    if None in kinds:
        law = laws[kinds.index(None)]
        raise BadRequest(f"maximum_likelihood knows {', '.join(c.__name__ for c in LAWS)} noise, got {law!r}")
    for kind, solve in ((Exact, _exact), (Gaussian, _gaussian), (Laplace, _laplace), (Cauchy, _cauchy)):
        mine = np.array([c is kind for c in kinds])
        if mine.any():
            out[:, mine] = by_blocks(
                lambda *part, solve=solve: solve(sensing, *part), eta[:, mine], n0[None, mine], scale[None, mine]
            )
    return out


def group_simplex(total: np.ndarray) -> Prox:
    """Projection onto {0 <= t <= 1, Σt = total}: clip(v − τ) with τ per column, by safeguarded Newton."""
    last = np.zeros(len(total))  # the shift moves little from one call to the next

    def prox(v: np.ndarray, step: np.ndarray) -> np.ndarray:
        nonlocal last
        low, high = v.min(axis=0) - 1.0, v.max(axis=0)
        tau = np.clip(last, low, high)
        for _ in range(60):
            t = np.clip(v - tau, 0.0, 1.0)
            excess = t.sum(axis=0) - total
            if (np.abs(excess) <= 1e-12 * len(v)).all():
                break
            low, high = np.where(excess > 0, tau, low), np.where(excess < 0, tau, high)
            free = ((t > 0) & (t < 1)).sum(axis=0)
            newton = tau + excess / np.maximum(free, 1)
            inside = (free > 0) & (newton > low) & (newton < high)
            tau = np.where(np.abs(excess) <= 1e-12 * len(v), tau, np.where(inside, newton, 0.5 * (low + high)))
        last = tau
        return t

    return prox


def _level(sensing: Sensing, n0: np.ndarray) -> np.ndarray:
    """Start where nothing is known: everyone in the group with the same weight."""
    return np.repeat(n0 / sensing.n, sensing.n, axis=0)


def _exact(sensing: Sensing, eta: np.ndarray, n0: np.ndarray, scale: np.ndarray) -> np.ndarray:
    data = affine(sensing.q, sensing.coordinates(eta))
    return minimise(data, group_simplex(n0[0]), _level(sensing, n0), np.ones(eta.shape[1]))


def _gaussian(sensing: Sensing, eta: np.ndarray, n0: np.ndarray, scale: np.ndarray) -> np.ndarray:
    step = np.full(eta.shape[1], 1.0 / np.median(sensing.spectrum[1]) ** 2)
    return minimise(least_squares(sensing, eta), group_simplex(n0[0]), _level(sensing, n0), step, tolerance=1e-7)


def _laplace(sensing: Sensing, eta: np.ndarray, n0: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return _graph(sensing, eta, n0, absolute, _level(sensing, n0), scale)


def _cauchy(sensing: Sensing, eta: np.ndarray, n0: np.ndarray, scale: np.ndarray) -> np.ndarray:
    start = _graph(sensing, eta, n0, absolute, _level(sensing, n0), scale, limit=300)
    return _graph(sensing, eta, n0, cauchy, start, scale)


def absolute(a: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Prox of |r|: argmin |r| + weight (r − a)² / 2."""
    return a - np.clip(a, -1.0 / weight, 1.0 / weight)


def cauchy(a: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Prox of log(1 + r²): the root of weight (r − a)(1 + r²) + 2r between 0 and a (the only one for weight >= 1/4)."""
    c = 1.0 + 2.0 / weight  # r³ − a r² + c r − a = 0: Cardano for the one real root, then Newton against cancellation
    p, half = c / 3.0 - (a / 3.0) ** 2, (a / 3.0) ** 3 + a * (3.0 - c) / 6.0
    outer = np.cbrt(half + np.copysign(np.sqrt(np.maximum(half**2 + p**3, 0.0)), half))
    r = a / 3.0 + outer - np.divide(p, outer, out=np.zeros_like(a), where=outer != 0)
    low, high = np.minimum(a, 0.0), np.maximum(a, 0.0)
    for _ in range(3):
        r = np.clip(r, low, high)
        r = r - (((r - a) * r + c) * r - a) / ((3.0 * r - 2.0 * a) * r + c)
    return np.clip(r, low, high)


def _graph(
    sensing: Sensing,
    eta: np.ndarray,
    n0: np.ndarray,
    noise: Prox,
    start: np.ndarray,
    scale: np.ndarray,
    limit: int = 600,
    tolerance: float = 1e-5,
) -> np.ndarray:
    """Minimise Σ loss((ηᵢ − hᵢᵀt) / scale) over the groups' simplex by graph-form ADMM.

    Copies of t and of y = Ht are pulled onto y = Ht by a projection that the singular value decomposition gives.
    """
    u, s, vt = sensing.spectrum
    s, simplex = s[:, None], group_simplex(n0[0])
    scale = np.maximum(scale[0], 1e-12)
    sigma = 1.0 / np.median(s) ** 2  # the distance that is minimised is ‖Δt‖² + σ‖Δy‖²
    weight = np.full(eta.shape[1], 1.0)  # curvature of the noise prox in units of the law's scale
    x, xt = start.copy(), np.zeros_like(start)
    y = sensing.h @ x
    yt, out, open_ = np.zeros_like(y), start.copy(), np.ones(eta.shape[1], dtype=bool)
    for iteration in range(1, limit + 1):
        t = simplex(x - xt, weight)
        v = eta + scale * noise((y - yt - eta) / scale, weight)
        a = RELAXATION * t + (1 - RELAXATION) * x + xt
        c = RELAXATION * v + (1 - RELAXATION) * y + yt
        inner = vt @ a
        moved = (inner + sigma * s * (u.T @ c)) / (1.0 + sigma * s**2)
        new_x, new_y = a + vt.T @ (moved - inner), u @ (s * moved)
        change, x, y = np.abs(new_x - x).max(axis=0), new_x, new_y
        xt, yt = a - x, c - y
        if iteration % 25 == 0:
            settled = np.maximum(np.abs(t - x).max(axis=0), change) <= tolerance
            now = open_ & (settled | (iteration == limit))
            out[:, now] = t[:, now]
            open_ &= ~now
            if not open_.any():
                break
    return out
