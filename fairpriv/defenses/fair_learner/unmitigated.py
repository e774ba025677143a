"""No fairness intervention."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class Unmitigated(FairLearner):
    """A plain decision tree: what the fair learners are measured against."""

    name: ClassVar[str] = "unmitigated"
    takes_metric = False

    def _fit(self, x, label, group, metric, tolerance, rng):
        model = self.tree(rng).fit(x, label)
        return lambda matrix, members, seed: model.predict(matrix)
