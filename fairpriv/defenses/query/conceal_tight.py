"""Attribute-Conceal with the budget spent in full."""

import math
from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.query.smooth_cauchy import SmoothCauchy, nominal_size
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity, local_sensitivity, smooth_sensitivity
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class ConcealTight(SmoothCauchy):
    r"""Cauchy noise on smooth sensitivity with tight constants: epsilon-DP, at least 5 times less noise than `conceal`.

    Scale s = m S_beta / a with beta = b/m and a + b = epsilon, S_beta the smooth sensitivity of one query.

    *Proof.* Let neighbours have gaps g, g' in R^m and scales s, s'. By Definition 4.3, |g_i - g'_i| <= min(S, S') and
    |log s - log s'| <= beta. The log density of an answer x is sum_i L(x_i - g_i, s), with
    L(z, s) = log s - log(s^2 + z^2) - log pi. Go from (g, s) to (g', s), then to (g', s').

    1. Shift: |dL/dz| = 2|z| / (s^2 + z^2) <= 1/s, so all m together change by at most sum_i |g_i - g'_i| / s
       <= m S / s = a.
    2. Dilation: |dL/d(log s)| = |z^2 - s^2| / (z^2 + s^2) <= 1, so all m together change by at most m beta = b.

    The sum is a + b = epsilon, whatever the split, if neighbours use the same one. It minimises s at a *declared* size
    of the smaller group, fixed by n, m, epsilon and `nominal_share`; the data's own size differs between neighbours and
    does not enter. A share that is far off costs accuracy, never privacy.

    *Split.* With v the nominal size, L the local and G the global sensitivity, s is
    m max(L, G e^{-(v-2) b/m}) / (epsilon - b). It grows in b where the first term rules, from b = m log(G/L) / (v - 2)
    on; before, the second is least at b = epsilon - m / (v - 2), or 0. The smaller of the two is the minimum. `conceal`
    is b = epsilon/6 with a = epsilon/6 where 5 epsilon/6 would do: hence the factor 5, when the declared size is right.
    """

    name: ClassVar[str] = "conceal_tight"
    paper: ClassVar[str] = "after hamman2023, Theorem 5"

    def split(self, metric: str, n: int, m: int, epsilon: float) -> float:
        """Return b, the part of epsilon spent on the change of scale."""
        v = nominal_size(self.nominal_share, n)
        if v <= 2:
            return 0.0  # no larger sensitivity to be smooth towards
        gain = math.log(global_sensitivity(metric, n) / local_sensitivity(metric, v, n - v))
        return min(m * gain / (v - 2), max(0.0, epsilon - m / (v - 2)))

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Return m S_beta / a at beta = b/m."""
        b = self.split(metric, n0 + n1, m, epsilon)
        return m * smooth_sensitivity(metric, n0, n1, b / m) / (epsilon - b)
