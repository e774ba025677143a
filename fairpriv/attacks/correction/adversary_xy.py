"""Adversary A of ferry2023."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.attacks.correction.base import Adversary
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class AdversaryXY(Adversary):
    """Adversary A: guesses the sensitive attribute from features and labels (X, Y), then corrects the guess."""

    name: ClassVar[str] = "adversary_xy"
    paper: ClassVar[str] = "ferry2023, Section IV-A"
    sees_predictions: ClassVar[bool] = False
