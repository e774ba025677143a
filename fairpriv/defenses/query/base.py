"""What a query defense is: it answers bias queries with noise calibrated from group sizes and the budget."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.defenses.base import Defense
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.bounding import BOUNDINGS, noisy
from fairpriv.mechanisms.noise import Exact, Law
from fairpriv.mechanisms.release import Randomness, grid_for, rounding_allowance
from fairpriv.mechanisms.smooth_sensitivity import check_sizes
from fairpriv.metrics.bias import bias
from fairpriv.registry import param

Sizes = int | tuple[int, int]  # of one group; for equalized odds a pair: among Y = 1, then among Y = 0


@dataclass(frozen=True, eq=False)
class Question:
    """What a compliance desk is asked, with what it knows: predictions H (m, n), the metric, groups and labels."""

    h: np.ndarray
    metric: str
    group: np.ndarray
    label: np.ndarray

    @property
    def classes(self) -> list[np.ndarray]:
        """Return the people each answer is about: everybody, those with Y = 1, or both classes apart (Y = 1 first)."""
        name = self.metric.removeprefix("abs_")
        if name in ("sp", "prp"):
            return [np.arange(len(self.group))]
        return [np.flatnonzero(self.label == y) for y in ((1,) if name == "eo" else (1, 0))]

    @property
    def sizes(self) -> tuple[Sizes, Sizes]:
        """Return (N0, N1) of those people; for equalized odds a pair of each."""
        counts = [
            (int((self.group[people] == 0).sum()), int((self.group[people] == 1).sum())) for people in self.classes
        ]
        return counts[0] if len(counts) == 1 else tuple(zip(*counts))

    @cached_property
    def gaps(self) -> np.ndarray:
        """Return the true gaps."""
        return bias(self.metric, self.h, self.group, self.label)


@dataclass(frozen=True)
class Guarantee:
    """What a query defense promises: (epsilon, delta)-DP of what, and on which conditions."""

    epsilon: float
    delta: float
    protects: str
    assumes: tuple[str, ...]


@dataclass(frozen=True)
class QueryDefense(Defense):
    """Answers m bias queries on one test set by adding independent noise of one law to each.

    A defense is its calibration: `family`, a family of noise laws, and `noise_scale`. Equalized odds is calibrated in
    each class apart: a person is in one of the two only, so each spends the whole budget (parallel composition).

    Parameters
    ----------
    epsilon : float
        Budget of the m answers of one call together, > 0; infinity gives exact answers. A second call spends it again.
    bounding : str
        How answers are kept in the metric's range: see `fairpriv.mechanisms.bounding`.

    Examples
    --------
    >>> from fairpriv import QueryDefense
    >>> from fairpriv.mechanisms.noise import Laplace
    >>> class Wide(QueryDefense):
    ...     family = Laplace
    ...
    ...     def noise_scale(self, metric, n0, n1, m, epsilon):
    ...         return 2 * m / epsilon  # an answer lies in [-1, 1]
    >>> round(Wide(epsilon=1.0).law("sp", 40, 60, 10).scale, 6)  # and room for rounding
    20.0
    """

    epsilon: float = param(..., "budget of the answers of one call together; inf: exact answers", above=0)
    bounding: str = param("none", "how answers are kept in the metric's range", choices=BOUNDINGS)

    family: ClassVar[type[Law]]
    delta: ClassVar[float] = 0.0
    scale_depends_on_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        validate.number("epsilon", self.epsilon, above=0)
        validate.choice("bounding", self.bounding, BOUNDINGS)
        if self.bounding == "truncate" and self.delta > 0:
            raise BadRequest(
                "bounding must be one of none, clip, boundary_inflated where delta > 0, got 'truncate': "
                "conditioning on the range divides delta by its probability"
            )

    def noise_scale(self, metric: str, n0: int, n1: int, m: int, epsilon: float) -> float:
        """Return the scale of noise that makes m answers on groups of n0 and n1 people epsilon-DP."""
        raise NotImplementedError

    def law(self, metric: str, n0: Sizes, n1: Sizes, m: int) -> Law:
        """Return the noise law of m queries; for equalized odds its scale has one entry a class, Y = 1 first.

        It is that of the noise before answers are rounded to `grid`, some 2^-20 of its scale.

        Sizes are those of the groups the metric looks at: the test set for `sp`, those with Y = 1 for `eo`, and a pair
        (Y = 1, Y = 0) of each for `eodds`.
        """
        validate.integer("m", m, at_least=1)
        classes = _classes(metric, n0, n1)
        if math.isinf(self.epsilon):
            return Exact()
        scales = [self._scale(metric, *sizes, m) for sizes in classes]
        return self.family(scales[0] if len(scales) == 1 else np.array(scales))

    def grid(self, metric: str, n0: Sizes, n1: Sizes, m: int) -> float | np.ndarray:
        """Return what answers are multiples of, from n0 + n1, never from who is in which group; 0 if they are exact."""
        if math.isinf(self.epsilon):
            return 0.0
        grids = [grid_for(self._scale(metric, n // 2, n - n // 2, m)) for n in map(sum, _classes(metric, n0, n1))]
        return grids[0] if len(grids) == 1 else np.array(grids)

    def _scale(self, metric: str, n0: int, n1: int, m: int) -> float:
        """Return the scale of noise within one class, with room for what rounding adds to the sensitivity."""
        epsilon = self.epsilon / 2 if self.bounding == "truncate" else self.epsilon  # proof: mechanisms.bounding
        return self.noise_scale(metric, n0, n1, m, epsilon) * (1 + rounding_allowance(n0 + n1))

    def answer(self, gaps: np.ndarray, metric: str, n0: Sizes, n1: Sizes, rng: Randomness) -> np.ndarray:
        """Return the answers to the m true gaps: shape (m,), or (m, 2) for equalized odds.

        They are multiples of `grid`, drawn by `fairpriv.mechanisms.release`; without `rng`, from the operating system's
        randomness.
        """
        gaps = np.asarray(gaps, dtype=float)
        tail = (2,) if metric.endswith("eodds") else ()
        if gaps.ndim == 0 or gaps.shape[1:] != tail or not np.isfinite(gaps).all():
            shape = "(m, 2)" if tail else "(m,)"
            raise BadRequest(f"gaps of {metric} must be finite numbers of shape {shape}, got shape {gaps.shape}")
        law, grid = (of(metric, n0, n1, len(gaps)) for of in (self.law, self.grid))
        return noisy(gaps, law, metric, self.bounding, grid, rng)

    def respond(self, question: Question, rng: Randomness) -> np.ndarray:
        """Return the answers to a question; a defense that looks at the models themselves overrides this."""
        return self.answer(question.gaps, question.metric, *question.sizes, rng)

    def noise_law(self, question: Question) -> Law:
        """Return the law of the noise in the answers to a question, as anybody may know it."""
        return self.law(question.metric, *question.sizes, len(question.h))

    def guarantee(self) -> Guarantee:
        """Return what the answers of one call promise."""
        assumes = ["each group keeps a member in every class queried"]
        if self.scale_depends_on_groups:
            assumes.append(
                "the scale of noise and the group sizes stay secret; where they are published, it is who of two people "
                "is in which group that is protected, at 2 epsilon"
            )
        return Guarantee(
            epsilon=self.epsilon,
            delta=0.0 if math.isinf(self.epsilon) else self.delta,
            protects="nothing: answers are exact"
            if math.isinf(self.epsilon)
            else "the protected attribute of any one person, against whoever knows everything else",
            assumes=tuple(assumes),
        )


def _classes(metric: str, n0: Sizes, n1: Sizes) -> list[tuple[int, int]]:
    """Return the group sizes of each class that a metric looks at."""
    classes = [(n0, n1)]
    if metric.endswith("eodds"):
        if np.shape(n0) != (2,) or np.shape(n1) != (2,):
            raise BadRequest(f"{metric} needs group sizes of both classes, as pairs (Y = 1, Y = 0), got {n0}, {n1}")
        classes = list(zip(n0, n1))
    for sizes in classes:
        check_sizes(metric, *sizes)
    return classes
