"""What a correction works on: checked arrays, the slices of a metric, and exact bounds on rates and sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fairpriv import validate
from fairpriv.attacks.correction.constraints import Proportion, Rate
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import METRICS, metric_slices

__all__ = ["METRICS", "Answer", "Bounds", "Correction", "Problem", "bounds", "check", "slices"]


@dataclass(frozen=True, eq=False)
class Correction:
    """A corrected reconstruction.

    Attributes
    ----------
    group : ndarray
        The corrected guess (the guess itself where the status is infeasible or unknown).
    status : {"optimal", "feasible", "infeasible", "unknown"}
        feasible: a time limit stopped the search at a valid answer; unknown: it stopped without one.
    cost : float
        Sum of the confidences of what was changed; nan where there is no answer.
    changes : int
        How many guesses were changed.
    """

    group: np.ndarray
    status: str
    cost: float
    changes: int

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return the corrected guess, so that a Correction can stand where an array is wanted."""
        return np.array(self.group, dtype=dtype)

    def __len__(self) -> int:
        """Return the number of examples."""
        return len(self.group)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver found on one slice; `group` is None where it found nothing."""

    group: np.ndarray | None
    status: str
    cost: float = float("nan")


@dataclass(frozen=True, eq=False)
class Problem:
    """Checked inputs."""

    guess: np.ndarray
    confidence: np.ndarray  # one number each, or (more than two groups) a column a destination
    predictions: np.ndarray  # bool
    labels: np.ndarray | None
    groups: int

    def take(self, rows: np.ndarray | slice) -> "Problem":
        """Return the problem on these rows."""
        return Problem(self.guess[rows], self.confidence[rows], self.predictions[rows], None, self.groups)


@dataclass(frozen=True)
class Bounds:
    """Per group: the interval of its positive prediction rate, and of its size."""

    rates: tuple[tuple[Fraction, Fraction], ...]
    sizes: tuple[tuple[int, int], ...]


def _whole(name: str, values: Any, top: int, length: int | None) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise BadRequest(f"{name} must be a one-dimensional array of numbers, got {array.dtype} of shape {array.shape}")
    if length is not None and len(array) != length:
        raise BadRequest(f"{name} must be as long as guess ({length}), got {len(array)}")
    if array.dtype.kind != "f" and len(array) and array.min() >= 0 and array.max() <= top:
        return array  # without arrays as long as the input
    good = (array >= 0) & (array <= top)
    if array.dtype.kind == "f":
        good &= array == np.floor(array)
    if not good.all():
        raise BadRequest(f"{name} must be in {{0, ..., {top}}}, got {array[~good][0]!s}")
    return array


def _weights(confidence: Any, guess: np.ndarray, groups: int) -> np.ndarray:
    """Return what changing each guess costs: one number each, or for several groups one for each destination."""
    weight, n = np.asarray(confidence), len(guess)
    if weight.dtype.kind not in "biuf":
        raise BadRequest(f"confidence must be an array of numbers, got {weight.dtype}")
    if weight.shape not in ((n,), (n, groups)):
        raise BadRequest(f"confidence must be as long as guess ({n}), got shape {weight.shape}")
    weight = weight.astype(float, copy=False)
    if not (weight.min() >= 0 and weight.max() < np.inf):  # a nan is neither
        bad = weight[~(np.isfinite(weight) & (weight >= 0))][0]
        raise BadRequest(f"confidence must be finite and >= 0, got {bad!s}")
    if weight.ndim == 1:
        return weight
    if weight[np.arange(n), guess.astype(np.int64)].any():
        raise BadRequest("confidence with a column a group must be 0 where the guess is: staying costs nothing")
    return weight.max(axis=1) if groups == 2 else weight


def check(guess: Any, confidence: Any, predictions: Any, labels: Any, metric: str, groups: int) -> Problem:
    """Refuse what no corrector could use, in one line."""
    validate.choice("metric", metric, METRICS)
    validate.integer("groups", groups, at_least=2)
    start = _whole("guess", guess, groups - 1, None)
    n = len(start)
    if n == 0:
        raise BadRequest("guess must have at least one example, got none")
    weight = _weights(confidence, start, groups)
    answers = _whole("predictions", predictions, 1, n)
    if labels is None and metric != "SP":
        raise BadRequest(f"metric {metric} needs labels")
    truth = None if labels is None else _whole("labels", labels, 1, n)
    return Problem(start.astype(np.int64, copy=False), weight, answers == 1, truth, groups)


def slices(problem: Problem, metric: str) -> list[np.ndarray | slice]:
    """Return the rows a metric looks at (III-D): everyone, those with label 0, with label 1, or one after the other."""
    if metric == "SP":
        return [slice(None)]
    return [rows for _, rows in metric_slices(metric, problem.labels)]


def bounds(
    part: Problem, tolerance: Fraction, at_least: Fraction, constraints: Sequence[Proportion | Rate]
) -> list[Bounds]:
    """Return what the groups of a slice must obey; several entries are alternatives, of which one must hold.

    (4), (5): every group's rate is within `tolerance` of the rate of all; (2), (3): no group is empty. That the
    unfairness is at least L means that some group's rate is at least L away: for two groups four alternatives.
    """
    n = len(part.guess)
    overall = Fraction(int(part.predictions.sum()), n)
    rates = [(overall - tolerance, overall + tolerance)] * part.groups
    sizes = [(1, n)] * part.groups
    for constraint in constraints:
        g = constraint.group
        if g >= part.groups:
            raise BadRequest(f"constraint on group {g}: there are groups 0 to {part.groups - 1}")
        if isinstance(constraint, Rate):
            rates[g] = (max(rates[g][0], constraint.low), min(rates[g][1], constraint.high))
        else:
            low, high = constraint.counts(n)
            sizes[g] = (max(sizes[g][0], low), min(sizes[g][1], high))
    if at_least == 0:
        return [Bounds(tuple(rates), tuple(sizes))]
    ways = []
    for g in range(part.groups):
        low, high = rates[g]
        for narrowed in ((max(low, overall + at_least), high), (low, min(high, overall - at_least))):
            ways.append(Bounds((*rates[:g], narrowed, *rates[g + 1 :]), tuple(sizes)))
    return ways
