"""Attribute inference: learn from people whose group is known."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.attacks.inference.base import InferenceAttack, RecordsView
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AttributeInference(InferenceAttack):
    """Learn the group from the records of people whose group is known, by the strongest of forest, boosting, network.

    It needs no law: what a learned representation says about the group is found out by learning.
    """

    name: ClassVar[str] = "attribute_inference"
    paper: ClassVar[str] = "xie2024, Section 6.3.2, and stronger"

    def run(self, view: RecordsView, rng: np.random.Generator) -> np.ndarray:
        """Return the guesses."""
        from fairpriv.defenses.representation.downstream import strongest_attack

        known = view.known
        learned = np.hstack([known.records, known.others]).astype(float)
        return strongest_attack(learned, known.group, np.hstack([view.records, view.others]).astype(float), rng)[1]
