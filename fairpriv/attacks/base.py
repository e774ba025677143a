"""What an attack is: it receives only a view, never the sensitive column."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fairpriv.registry import Plugin


@dataclass(frozen=True)
class Recovery:
    """What a bias-query attacker believes: group 0 or 1 per person (−1: not recoverable), and the s̄ estimate."""

    group: np.ndarray
    score: np.ndarray
    queries: int


@dataclass(frozen=True)
class AnyAttack(Plugin):
    """An attack of any family; each says in `paper` where it comes from."""

    kind: ClassVar[str] = "attacks"
    name: ClassVar[str]
    paper: ClassVar[str] = ""


@dataclass(frozen=True)
class Attack(AnyAttack):
    """An attack on a desk that answers bias queries; `run(view, rng)` is its one verb."""

    def run(self, view: Any, rng: np.random.Generator) -> Any:
        """Attack through the view and return what was learned."""
        raise NotImplementedError

    def run_many(self, views: Sequence[Any], rng: np.random.Generator) -> list[Any]:
        """Attack several views that differ in their answers only; an attack that can share work overrides this."""
        state = rng.bit_generator.state
        out = []
        for view in views:
            rng.bit_generator.state = state  # every view meets the same random choices
            out.append(self.run(view, rng))
        return out
