"""The noise of answers, as a desk knows it, and how far off they may be, from public knowledge alone."""

from functools import lru_cache

import numpy as np

from fairpriv.defenses.base import QueryDefense, Question
from fairpriv.defenses.conceal_tight import nominal_size
from fairpriv.desk.query import Query
from fairpriv.desk.state import Declaration
from fairpriv.mechanisms.bounding import noisy
from fairpriv.mechanisms.noise import Laplace, Law
from fairpriv.mechanisms.release import Randomness, grid_for
from fairpriv.mechanisms.strategies import choose

LEVEL = 0.95
# Of all weighted sums of Laplace variables with one deviation, a single variable reaches farthest at this level.
_FARTHEST = float(Laplace(2**-0.5).ppf((1 + LEVEL) / 2))


class Drawer:
    """Draws answers: all that is ever taken from the protected attribute."""

    def __init__(self, declared: Declaration, label: np.ndarray, group: np.ndarray) -> None:
        self._declared, self._label, self._group = declared, label, group
        # Scales follow from what a desk knows before any query, and from what all may know of one.
        self._calibrated = lru_cache(maxsize=256)(self._calibrate)

    def draw(self, query: Query, rng: Randomness = None) -> tuple[np.ndarray, np.ndarray, np.ndarray | float]:
        """Return answers, (m,) or (m, 2) for equalized odds, by how much they are off at most, and their grid.

        The half-widths hold with probability `LEVEL`. Only what was declared enters them: where sizes are secret, those
        of `conceal_exact` are right if the smaller group has the declared share of the people asked about, or more (its
        noise falls as that group grows).
        """
        question = Question(query.h, query.metric, self._group, self._label)
        if query.defense.name == "conceal_aware":
            return self._aware(question, query.defense, rng)
        law, width, grid = self._calibrated(query.defense, query.metric, len(query.h))
        # what the defense's `respond` does, with a calibration that is at hand
        answers = noisy(question.gaps, law, query.metric, query.defense.bounding, grid, rng)
        return answers, np.broadcast_to(width, answers.shape), grid

    def _calibrate(self, defense: QueryDefense, metric: str, m: int) -> tuple[Law, np.ndarray, np.ndarray | float]:
        """Return the law of the noise, the half-width that may be told, and the grid."""
        question = Question(np.empty((m, 0)), metric, self._group, self._label)
        law = told = defense.law(metric, *question.sizes, m)
        if self._declared.sizes == "secret":
            n = [len(people) for people in question.classes]
            small = [nominal_size(self._declared.minority_share, size) for size in n]
            rest = [size - few for size, few in zip(n, small)]
            told = defense.law(metric, *((small[0], rest[0]) if len(n) == 1 else (tuple(small), tuple(rest))), m)
        return law, told.ppf((1 + LEVEL) / 2), defense.grid(metric, *question.sizes, m)

    @staticmethod
    def _aware(question: Question, defense: QueryDefense, rng: Randomness) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Draw by the matrix mechanism; its answers, sums of numbers on grids, are rounded to one of their own."""
        answers = defense.respond(question, rng)
        columns = []
        for people in question.classes:
            group, strategy = question.group[people], choose(question.h[:, people])
            sizes = int((group == 0).sum()), int((group == 1).sum())
            columns.append(_FARTHEST * defense.noise(np.sqrt(strategy.variances), strategy, *sizes))
        widths = np.stack(columns, axis=1).reshape(answers.shape)
        grid = np.array([grid_for(float(width.min())) for width in columns])
        grid = grid if answers.ndim == 2 else float(grid[0])
        return np.round(answers / grid) * grid, widths, grid
