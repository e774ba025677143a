"""hamman2023, Remark 2: predictive rate parity gives everybody away too, one query a person."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv.attacks.reveal.base import Attack, Recovery
from fairpriv.desk import DeskView
from fairpriv.errors import BadRequest
from fairpriv.registry import register


@register
@dataclass(frozen=True)
class RevealPredictive(Attack):
    """Ask for the gap in predictive values of n models that accept one or two people each.

    Accept j alone. If Y = 1 the value of j's group is 1 and that of the other, of whom nobody is accepted, 0: the gap
    is 1 in group 1 and -1 in group 0, however large the groups are, where a gap in acceptance moves by 1/N0 + 1/N1. If
    Y = 0 accept j beside somebody k with Y = 1, whose group the first queries told: the value of k's group is 1/2
    where j is in it and 1 where not, and the other group's is 0 in both cases.

    The paper says that its results extend to this metric and gives no attack. Compressed sensing (Theorem 2) does not
    extend: an answer is a difference of two ratios, both of whose terms hold unknowns, and no linear equation in them.

    `Recovery.score` is larger for group 0.
    """

    name: ClassVar[str] = "reveal_predictive"
    paper: ClassVar[str] = "hamman2023, Remark 2"

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Ask about people with Y = 1 alone, then about the others beside the first of them."""
        positive, negative = (np.flatnonzero(view.label == y) for y in (1, 0))
        if not len(positive):
            raise BadRequest("predictive rate parity needs a person with Y = 1")
        group, score = np.empty(len(view), int), np.empty(len(view))
        gap = view.ask(_accepting(len(view), positive), "prp")
        group[positive], score[positive] = np.where(gap > 0, 1, 0), -gap
        if len(negative):
            known = positive[0]
            h = _accepting(len(view), negative)
            h[:, known] = 1.0
            gap = view.ask(h, "prp")
            sign = 1.0 if group[known] == 1 else -1.0
            same = sign * gap < 0.75  # 1/2 with k's group, 1 with the other
            group[negative] = np.where(same, group[known], 1 - group[known])
            score[negative] = gap - 0.75 * sign
        return Recovery(group, score, len(view))


def _accepting(n: int, people: np.ndarray) -> np.ndarray:
    """Return one model for each of these people, that accepts nobody else."""
    h = np.zeros((len(people), n))
    h[np.arange(len(people)), people] = 1.0
    return h
