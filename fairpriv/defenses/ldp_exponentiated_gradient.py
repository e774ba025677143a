"""A fair learner that never sees the sensitive attribute itself: it is collected under local differential privacy."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.defenses.exponentiated_gradient import ExponentiatedGradientLearner
from fairpriv.defenses.ldp_collection import LDPCollection
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class LDPExponentiatedGradient(ExponentiatedGradientLearner):
    """ExponentiatedGradient on groups that each person has perturbed (generalised randomised response).

    Attributes
    ----------
    epsilon : float
        Budget of one person, > 0.
    """

    name: ClassVar[str] = "ldp_exponentiated_gradient"
    paper: ClassVar[str] = "arcolezi2023, Section 4 with ferry2023, Section IV-B"

    epsilon: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        super().__post_init__()
        LDPCollection("grr", "uniform", self.epsilon)

    def _fit(self, x, label, group, metric, tolerance, rng):
        collection = LDPCollection("grr", "uniform", self.epsilon)
        seen, _ = collection.collect({"group": group}, {"group": int(group.max()) + 1}, rng)
        return super()._fit(x, label, seen["group"].argmax(axis=1), metric, tolerance, rng)
