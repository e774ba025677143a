"""In-processing: fairlearn's ExponentiatedGradient."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.registry import param, register
from fairpriv.validate import integer, number


@register
@dataclass(frozen=True)
class ExponentiatedGradientLearner(FairLearner):
    """A randomised mixture of trees whose unfairness is within a tolerance (Agarwal et al. 2018)."""

    name: ClassVar[str] = "exponentiated_gradient"
    paper: ClassVar[str] = "ferry2023, Section IV-B"
    takes_tolerance = True

    iterations: int = param(50, "most rounds of the reduction", at_least=1)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        integer("iterations", self.iterations, at_least=1)

    def check(self, metric, tolerance) -> None:
        """Refuse a metric or tolerance out of range."""
        super().check(metric, tolerance)
        number("tolerance", tolerance, at_least=0, at_most=1)

    def _fit(self, x, label, group, metric, tolerance, rng):
        from fairlearn import reductions

        moments = {
            "SP": reductions.DemographicParity,
            "PE": reductions.FalsePositiveRateParity,
            "EO": reductions.TruePositiveRateParity,
            "EOdds": reductions.EqualizedOdds,
        }
        model = reductions.ExponentiatedGradient(
            self.tree(rng), moments[metric](difference_bound=tolerance), max_iter=self.iterations
        ).fit(x, label, sensitive_features=group)
        return lambda matrix, members, seed: model.predict(matrix, random_state=seed)
