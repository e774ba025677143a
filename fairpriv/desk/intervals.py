"""How far off an answer may be, from public knowledge alone."""

import numpy as np

from fairpriv.defenses.base import QueryDefense, Question
from fairpriv.defenses.conceal_tight import nominal_size
from fairpriv.desk.state import Declaration
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.release import grid_for
from fairpriv.mechanisms.strategies import choose

LEVEL = 0.95
# Of all weighted sums of Laplace variables with one deviation, a single variable reaches farthest at this level.
_FARTHEST = float(Laplace(2**-0.5).ppf((1 + LEVEL) / 2))


def half_widths(question: Question, defense: QueryDefense, declared: Declaration) -> np.ndarray:
    """Return by how much answers are off at most, with probability `LEVEL`: shape (m, 1), or (m, 2) for eodds.

    Only what was declared enters. The noise of `conceal_exact` depends on group sizes: where they are secret, what is
    said is true if the smaller group has the declared share of the people asked about, or more (the noise falls as it
    grows).
    """
    m = len(question.h)
    if defense.name == "none":
        return np.zeros((m, len(question.classes)))
    if defense.name == "conceal_aware":
        return np.stack([_aware(question, defense, people) for people in question.classes], axis=1)
    columns = []
    for people in question.classes:
        n = len(people)
        small = nominal_size(declared.minority_share, n)
        if declared.sizes == "public":
            small = int((question.group[people] == 0).sum())
        law = defense.law(question.metric.replace("eodds", "eo"), small, n - small, m)
        columns.append(np.full(m, float(law.ppf((1 + LEVEL) / 2))))
    return np.stack(columns, axis=1)


def _aware(question: Question, defense: QueryDefense, people: np.ndarray) -> np.ndarray:
    group, strategy = question.group[people], choose(question.h[:, people])
    sizes = int((group == 0).sum()), int((group == 1).sum())
    return _FARTHEST * defense._noise(np.sqrt(strategy.variances), strategy, *sizes)


def public_grid(question: Question, defense: QueryDefense, widths: np.ndarray) -> np.ndarray | float:
    """Return what answers are multiples of; those of `conceal_aware` are rounded to it afterwards."""
    if defense.name == "conceal_aware":
        return np.array([grid_for(float(width)) for width in widths.min(axis=0)])
    return defense.grid(question.metric, *question.sizes, len(question.h))
