"""Adversary A′ of ferry2023."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.attacks.correction.base import Adversary
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AdversaryXYH(Adversary):
    """Adversary A′: guesses from features, labels and the target's predictions (X, Y, Ŷ), then corrects the guess."""

    name: ClassVar[str] = "adversary_xyh"
    paper: ClassVar[str] = "ferry2023, Section IV-A"
    sees_predictions: ClassVar[bool] = True
