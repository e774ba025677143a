"""A fair learner that never sees the sensitive attribute itself: it is collected under local differential privacy."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.defenses.collection.ldp_collection import LDPCollection
from fairpriv.defenses.fair_learner.exponentiated_gradient import ExponentiatedGradientLearner
from fairpriv.registry import param, register


@register
@dataclass(frozen=True)
class LDPExponentiatedGradient(ExponentiatedGradientLearner):
    """ExponentiatedGradient on groups that each person has perturbed (generalised randomised response)."""

    name: ClassVar[str] = "ldp_exponentiated_gradient"
    paper: ClassVar[str] = "arcolezi2023, Section 4 with ferry2023, Section IV-B"

    epsilon: float = param(1.0, "budget of one person", above=0)

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        LDPCollection("grr", "uniform", self.epsilon)

    def perturbed(self, group: np.ndarray, groups: int, rng: np.random.Generator) -> np.ndarray:
        """Return the group that each person reports."""
        collection = LDPCollection("grr", "uniform", self.epsilon)
        seen, _ = collection.collect({"group": group}, {"group": groups}, rng)
        return seen["group"].argmax(axis=1)

    def _fit(self, x, label, group, metric, tolerance, rng):
        return super()._fit(x, label, self.perturbed(group, int(group.max()) + 1, rng), metric, tolerance, rng)
