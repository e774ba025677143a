"""hamman2023, Theorem 3: absolute gaps still split the test set into its two groups."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.attacks.reveal.base import Attack, Recovery
from fairpriv.attacks.reveal.recovery.reading import sizes_from
from fairpriv.desk import DeskView
from fairpriv.errors import BadRequest
from fairpriv.registry import param, register

METRICS = ("abs_sp", "abs_eo", "abs_eodds")


@register
@dataclass(frozen=True)
class RevealPartition(Attack):
    """Partition everyone with n queries for absolute gaps; the smaller part is called group 0, if equal the first's.

    Absolute gaps cannot say which part is which: the recovery is right up to a swap of the two groups, for |EO| and
    |EOdds| up to a swap within each class of the label. A model for |EOdds| accepts one of each class, so that as many
    queries do as the larger class has people; |EO| tells nothing of people with Y = 0. `Recovery.score` holds the
    answers.
    """

    name: ClassVar[str] = "reveal_partition"
    paper: ClassVar[str] = "hamman2023, Theorem 3 and Appendix A.3, Remark 2"
    later: ClassVar[tuple[str, ...]] = ("metric",)

    metric: str = param("abs_sp", "what is asked for; abs_eo is about people with Y = 1 only", choices=METRICS)

    def __post_init__(self) -> None:
        validate.choice("metric", self.metric, METRICS)

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Learn the sizes from the first person alone, then ask for the others alone, or in pairs with the first."""
        n, classes = len(view), self._classes(view)
        longest = max(map(len, classes))
        first = self._ask(view, [people[:1] for people in classes], [None] * len(classes), 1)
        sizes = [sizes_from(-float(gap[0]), len(people)) for gap, people in zip(first, classes)]  # 1/N_α: α the first's
        beside = [people[0] if part == other else None for people, (part, other) in zip(classes, sizes)]
        rest = self._ask(view, [people[1:] for people in classes], beside, longest - 1)
        group, score = np.full(n, -1), np.full(n, np.nan)
        for people, one, others, (part, other) in zip(classes, first, rest, sizes):
            gap = np.concatenate([one, others[: len(people) - 1]])
            if part != other:
                smaller = gap > 0.5 * (1.0 / part + 1.0 / other)  # 1/N_α or 1/N_β, whichever is nearer
            else:
                smaller = gap > 1.0 / part  # 2/N_α with another of α, 0 with one of β
                smaller[0] = True
            group[people], score[people] = np.where(smaller, 0, 1), gap
        return Recovery(group, score, longest)

    def _classes(self, view: DeskView) -> list[np.ndarray]:
        """Return the people that each answer is about."""
        labels = {"abs_sp": (None,), "abs_eo": (1,), "abs_eodds": (1, 0)}[self.metric]
        found = [np.arange(len(view)) if y is None else np.flatnonzero(view.label == y) for y in labels]
        if min(map(len, found)) < 2:
            raise BadRequest(f"{self.metric} needs two people of each class of the label that it looks at")
        return found

    def _ask(
        self, view: DeskView, people: list[np.ndarray], beside: list[int | None], queries: int
    ) -> list[np.ndarray]:
        """Ask for models that accept the i-th of each class, with one person beside; return the answers by class."""
        h = np.zeros((queries, len(view)))
        for those, other in zip(people, beside):
            h[np.arange(len(those)), those] = 1.0
            if other is not None:
                h[: len(those), other] = 1.0
        return list(view.ask(h, self.metric).reshape(queries, -1).T)
