"""Attribute-Conceal as printed."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.query.base import QueryDefense
from fairpriv.mechanisms.noise import Cauchy, Law
from fairpriv.mechanisms.smooth_sensitivity import smooth_sensitivity
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class Conceal(QueryDefense):
    """Attribute-Conceal: Cauchy noise calibrated to smooth sensitivity, epsilon-DP (in fact epsilon/3).

    The constants are those of the print, from the general lemma of Nissim et al. 2007. For this noise they are loose by
    three: the shift costs at most m Delta S / scale = epsilon/6 and the change of scale at most m beta = epsilon/6
    (`conceal_tight` spends the rest). Sensitivities are as printed for `sp` with 2 <= N0 <= N1 and corrected elsewhere:
    see `fairpriv.mechanisms.smooth_sensitivity`.
    """

    name: ClassVar[str] = "conceal"
    paper: ClassVar[str] = "hamman2023, Theorem 5 and Algorithm 3"
    family: ClassVar[type[Law]] = Cauchy
    scale_depends_on_groups: ClassVar[bool] = True

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Theorem 5: 6 Delta S / epsilon at beta = epsilon / 6m."""
        return 6 * m * smooth_sensitivity(metric, n0, n1, epsilon / (6 * m)) / epsilon
