"""Attribute-Conceal with the exact privacy loss of Cauchy noise."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.defenses.query.smooth_cauchy import SmoothCauchy, nominal_size
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity, local_sensitivity, smooth_sensitivity
from fairpriv.registry import register


def _log_sinh(x: np.ndarray | float) -> np.ndarray | float:
    return x + np.log(-np.expm1(-2 * x)) - np.log(2)


@register
@dataclass(frozen=True)
class ConcealExact(SmoothCauchy):
    r"""Cauchy noise on smooth sensitivity, calibrated to its exact privacy loss: epsilon-DP, less noise still.

    Scale s = c S_beta, S_beta the smooth sensitivity of one query.

    *Loss.* The Cauchy density with location g and scale s is the Poisson kernel of the upper half-plane at g + is. By
    Harnack's inequality, which is sharp, the supremum of the log density ratio of two of them is their hyperbolic
    distance d:  cosh d = 1 + ((g - g')^2 + (s - s')^2) / (2 s s').

    *Proof.* Let neighbours have scales s = c S >= s' = c S', r = s/s' <= e^beta, and |g_i - g'_i| <= S' for each of the
    m answers. Then cosh d_i <= (r + 1/r)/2 + 1 / (2 c^2 r), convex in r, so largest at r = 1 or r = e^beta. Both are at
    most cosh t, with t = epsilon/m, if
    c^2 = max(1 / (2 (cosh t - 1)), e^-beta / (2 (cosh t - cosh beta))).  The m answers together cost m t = epsilon.

    beta < t minimises s at a declared size of the smaller group, as in `conceal_tight`. It wins twice over the slopes
    used there: for small t the costs of shift and scale add as the legs of a right triangle do; for large t the loss
    grows as twice the logarithm of the shift, and the noise falls as e^{-t/2}.
    """

    name: ClassVar[str] = "conceal_exact"
    paper: ClassVar[str] = "after hamman2023, Theorem 5"

    def split(self, metric: str, n: int, m: int, epsilon: float) -> float:
        """Return beta: the best of a grid and of the point from which smoothing costs nothing."""
        v, t = nominal_size(self.nominal_share, n), epsilon / m
        if v <= 2:
            return 0.0
        top = global_sensitivity(metric, n)
        local = local_sensitivity(metric, v, n - v)
        beta = np.append(np.linspace(0, t, 1024, endpoint=False), math.log(top / local) / (v - 2))
        beta = beta[beta < t]
        log_scale = _log_factor(t, beta) + np.maximum(np.log(local), np.log(top) - (v - 2) * beta)
        return float(beta[np.argmin(log_scale)])

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Return c S_beta."""
        beta = self.split(metric, n0 + n1, m, epsilon)
        log_scale = _log_factor(epsilon / m, beta) + math.log(smooth_sensitivity(metric, n0, n1, beta))
        return math.exp(max(float(log_scale), -700.0))  # below that no float remains


def _log_factor(t: float, beta: np.ndarray | float) -> np.ndarray | float:
    """Return log c, with cosh t - cosh beta = 2 sinh((t + beta)/2) sinh((t - beta)/2)."""
    same = -2 * _log_sinh(t / 2)
    apart = -beta - _log_sinh((t + beta) / 2) - _log_sinh((t - beta) / 2)
    return 0.5 * np.maximum(same, apart) - math.log(2)
