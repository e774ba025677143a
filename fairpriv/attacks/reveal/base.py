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
    """An attack on a desk that answers bias queries; `run(view, rng)` is its one verb.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpriv import Attack, ComplianceDesk, Recovery, registry
    >>> class Majority(Attack):
    ...     def run(self, view, rng):
    ...         larger = int(view.sizes[1] >= view.sizes[0])
    ...         return Recovery(group=np.full(len(view), larger), score=np.zeros(len(view)), queries=0)
    >>> group, label = np.array([0, 1, 1, 1]), np.array([0, 1, 0, 1])
    >>> exact = registry.build("defenses", "none", {})
    >>> desk = ComplianceDesk(group, label, exact, np.random.default_rng(0))
    >>> Majority().run(desk.view(np.full(4, 0.5)), np.random.default_rng(0)).group
    array([1, 1, 1, 1])
    """

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
