"""hamman2023, Example 1: a model that accepts one person alone gives that person's group away."""

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
class RevealSingle(TargetedAttack):
    """One query a target: accept only that person and read the sign of the gap."""

    name: ClassVar[str] = "reveal_single"
    paper: ClassVar[str] = "hamman2023, Example 1"

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Ask and read off: SP = 1/N1 for a member of group 1, −1/N0 for one of group 0."""
        people = self.targets(len(view))
        h = np.zeros((len(people), len(view)))
        h[np.arange(len(people)), people] = 1.0
        return read_signs(len(view), people, view.ask(h, "sp"), queries=len(h))
