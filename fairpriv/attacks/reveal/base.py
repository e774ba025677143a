"""What an attack on a desk is: it asks bias queries through a view, and never sees the sensitive column."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpriv.attacks.base import AnyAttack
from fairpriv.desk import DeskView


@dataclass(frozen=True)
class Recovery:
    """What a bias-query attacker believes: group 0 or 1 per person (−1: not recoverable), and the s̄ estimate."""

    group: np.ndarray
    score: np.ndarray
    queries: int


@dataclass(frozen=True)
class Attack(AnyAttack):
    """An attack on a desk that answers bias queries; `run(view, rng)` is its one verb."""

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Attack through the view and return what was learned."""
        raise NotImplementedError

    def run_many(self, views: Sequence[DeskView], rng: np.random.Generator) -> list[Recovery]:
        """Attack several views that differ in their answers only; an attack that can share work overrides this."""
        state = rng.bit_generator.state
        out = []
        for view in views:
            rng.bit_generator.state = state  # every view meets the same random choices
            out.append(self.run(view, rng))
        return out
