"""The Laplace mechanism on global sensitivity."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.query.base import QueryDefense
from fairpriv.mechanisms.noise import Laplace, Law
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class LaplaceDefense(QueryDefense):
    """Laplace noise calibrated to global sensitivity, epsilon-DP."""

    name: ClassVar[str] = "laplace"
    paper: ClassVar[str] = "hamman2023, Theorem 4"
    family: ClassVar[type[Law]] = Laplace

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Theorem 4: Lap(Delta / epsilon), Delta the l1 sensitivity of the m answers."""
        return m * global_sensitivity(metric, n0 + n1) / epsilon
