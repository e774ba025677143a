"""hamman2023, Example 2: two realistic models that differ in one prediction give that person's group away."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.attacks.reveal.base import Recovery
from fairpriv.attacks.reveal.recovery.reading import read_signs
from fairpriv.attacks.reveal.targeted import TargetedAttack
from fairpriv.desk import DeskView
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class RevealDouble(TargetedAttack):
    """Ask for the base model and for the one with the target's prediction flipped; the difference has a sign."""

    name: ClassVar[str] = "reveal_double"
    paper: ClassVar[str] = "hamman2023, Example 2"

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Ask all in one batch; SP₂ − SP₁ = (h₂ − h₁)ⱼ vⱼ, where the paper has a flip from 0 to 1 in mind."""
        people = self.targets(len(view))
        first = (view.base >= 0.5).astype(float)  # Example 2 is about binary classifiers
        h = np.repeat(first[None, :], len(people) + 1, axis=0)
        rows = np.arange(len(people))
        h[rows + 1, people] = 1.0 - first[people]
        answers = view.ask(h, "sp")
        v = (answers[1:] - answers[0]) / (h[rows + 1, people] - first[people])
        return read_signs(len(view), people, v, queries=len(h))
