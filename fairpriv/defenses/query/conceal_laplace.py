"""Attribute-Conceal with Laplace noise."""

import math
from dataclasses import dataclass
from typing import ClassVar

from fairpriv import validate
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Laplace, Law
from fairpriv.mechanisms.smooth_sensitivity import smooth_sensitivity
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class ConcealLaplace(QueryDefense):
    """Laplace noise calibrated to smooth sensitivity, (epsilon, delta)-DP for epsilon < 1."""

    name: ClassVar[str] = "conceal_laplace"
    paper: ClassVar[str] = "hamman2023, Theorem 6"
    family: ClassVar[type[Law]] = Laplace
    scale_depends_on_groups: ClassVar[bool] = True

    delta: float = param(1e-6, "mass where tails of two scales part without bound", above=0, below=1)

    def __post_init__(self) -> None:
        validate.number("delta", self.delta, above=0, below=1)
        super().__post_init__()
        if 1 <= self.epsilon < math.inf:
            raise BadRequest(
                f"epsilon must be < 1 for conceal_laplace, got {self.epsilon!r}: Theorem 6 is proved in (0, 1) only; "
                "conceal and conceal_tight take any epsilon"
            )

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Theorem 6: 2 Delta S / epsilon at beta = epsilon / 4(m + log(2/delta))."""
        beta = epsilon / (4 * (m + math.log(2 / self.delta)))
        return 2 * m * smooth_sensitivity(metric, n0, n1, beta) / epsilon
