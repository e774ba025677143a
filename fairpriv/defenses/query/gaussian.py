"""The Gaussian mechanism on global sensitivity."""

import math
from dataclasses import dataclass
from typing import ClassVar

from fairpriv import validate
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.gaussian import analytic_sigma, classic_sigma
from fairpriv.mechanisms.noise import Gaussian, Law
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class GaussianDefense(QueryDefense):
    """Gaussian noise calibrated to global l2 sensitivity, (epsilon, delta)-DP."""

    name: ClassVar[str] = "gaussian"
    paper: ClassVar[str] = "hamman2023, Section 4"
    family: ClassVar[type[Law]] = Gaussian

    delta: float = param(1e-6, "δ", above=0, below=1)
    calibration: str = param(
        "analytic", "analytic: the least noise, any epsilon; classic: epsilon < 1", choices=("analytic", "classic")
    )

    def __post_init__(self) -> None:
        validate.number("delta", self.delta, above=0, below=1)
        validate.choice("calibration", self.calibration, ("analytic", "classic"))
        super().__post_init__()
        if self.calibration == "classic" and 1 <= self.epsilon < math.inf:
            raise BadRequest(
                f"epsilon must be < 1 for the classic calibration, got {self.epsilon!r}: its proof ends there; "
                "calibration=analytic holds for every epsilon"
            )

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Return sigma: m answers that each move by Delta move sqrt(m) Delta in l2."""
        sigma = analytic_sigma if self.calibration == "analytic" else classic_sigma
        return math.sqrt(m) * global_sensitivity(metric, n0 + n1) * sigma(epsilon, self.delta)
