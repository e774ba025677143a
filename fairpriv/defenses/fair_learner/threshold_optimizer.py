"""Post-processing: fairlearn's ThresholdOptimizer."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.registry import param, register
from fairpriv.validate import choice

NAMES = {
    "SP": "demographic_parity",
    "PE": "false_positive_rate_parity",
    "EO": "true_positive_rate_parity",
    "EOdds": "equalized_odds",
}


@register
@dataclass(frozen=True)
class ThresholdOptimizerLearner(FairLearner):
    """A tree whose outputs are cut at thresholds of each group's own, for unfairness near 0 (Hardt et al. 2016)."""

    name: ClassVar[str] = "threshold_optimizer"
    paper: ClassVar[str] = "ferry2023, Section IV-B"

    scores: str = param(
        "predict",
        "what is cut at thresholds: the tree's decisions or its probabilities",
        choices=("predict", "predict_proba"),
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        choice("scores", self.scores, ("predict", "predict_proba"))

    def _fit(self, x, label, group, metric, tolerance, rng):
        from fairlearn.postprocessing import ThresholdOptimizer

        model = ThresholdOptimizer(
            estimator=self.tree(rng), constraints=NAMES[metric], predict_method=self.scores, prefit=False
        ).fit(x, label, sensitive_features=group)
        return lambda matrix, members, seed: model.predict(matrix, sensitive_features=members, random_state=seed)
