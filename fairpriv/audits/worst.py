"""The worst neighbours of a query defense, and what the law it declares costs there.

All pairs of neighbouring sizes (n0, n1) and (n0 - 1, n1 + 1) are scanned, each with the models that part them most. A
developer may send one model m times, so all m answers can move by the worst case, and for independent noise the worst
log density ratio of m answers is m times that of one. Answers are rounded to a grid afterwards, which costs nothing.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from fairpriv.defenses.query.base import QueryDefense
from fairpriv.mechanisms.bounding import log_density, metric_range
from fairpriv.mechanisms.gaussian import gaussian_delta
from fairpriv.mechanisms.noise import Exact, Gaussian, Law
from fairpriv.mechanisms.privacy_loss import STEPS, loss_deltas

COARSE, FINE = 60, 3  # steps of the loss for every pair, and how many pairs are then worked out closely
_GRID = np.sinh(np.linspace(-10, 10, 1601))  # in units of the scale: fine at the centre, out to 1e4 (rounding beyond)


@dataclass(frozen=True, eq=False)
class Pair:
    """Neighbours: sizes and noise laws, models that part them (see `corners`), and the gaps these have on either."""

    sizes: tuple[tuple[int, int], tuple[int, int]]
    laws: tuple[Law, Law]
    models: np.ndarray
    gaps: tuple[np.ndarray, np.ndarray]

    def scaled(self, factor: float) -> "Pair":
        """Return the pair with noise of another scale."""
        return replace(self, laws=tuple(replace(law, scale=factor * law.scale) for law in self.laws))


@dataclass(frozen=True, eq=False)
class Worst:
    """The worst pair, which of its models is worst, and what that costs: epsilon, or bounds on delta at the claim."""

    pair: Pair
    which: int
    exact: float
    exact_delta: tuple[float, float]


def corners(metric: str, n0: int, n1: int) -> np.ndarray:
    """Return models as rows: predictions for group 1, for the rest of group 0, and for the one of n0 who moves.

    With the others of each group predicted alike, gaps are linear in the three predictions, so extremes are at 0 and 1;
    absolute gaps also bend where one of the two is zero.
    """
    models = np.array(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0])).reshape(3, -1).T
    if metric.startswith("abs_"):  # gap before = 0; gap after = 0
        models = np.concatenate([models, [[(n0 - 1) / n0, 1.0, 0.0], [1.0, n1 / (n1 + 1), 0.0]]])
    return models


def worst_gaps(metric: str, n0: int, n1: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the gaps of `corners` before and after one of n0 people moves to the other group."""
    one, zero, mover = corners(metric, n0, n1).T
    if metric.endswith("prp"):  # everybody has Y = 1: the value of a group is 1 once somebody is accepted
        before = np.sign(one) - np.sign(zero * (n0 - 1) + mover)
        after = np.sign(one * n1 + mover) - np.sign(zero)
    else:
        before = one - (zero * (n0 - 1) + mover) / n0
        after = (one * n1 + mover) / (n1 + 1) - zero
    return (np.abs(before), np.abs(after)) if metric.startswith("abs_") else (before, after)


def pairs(defense: QueryDefense, n: int, m: int, metric: str) -> list[Pair]:
    """Return all neighbouring sizes of n people."""
    laws = [defense.law(metric, n0, n - n0, m) for n0 in range(1, n)]
    return [
        Pair(
            ((n0, n - n0), (n0 - 1, n - n0 + 1)),
            (laws[n0 - 1], laws[n0 - 2]),
            corners(metric, n0, n - n0),
            worst_gaps(metric, n0, n - n0),
        )
        for n0 in range(2, n)
    ]


def _log_ratio(x: np.ndarray, pair: Pair, metric: str, bounding: str) -> np.ndarray:
    """Return |log density ratio| of one answer, for candidate gaps (rows) and answers x (one row each)."""
    first, second = (log_density(x, gap[:, None], law, metric, bounding) for gap, law in zip(pair.gaps, pair.laws))
    seen = np.isfinite(first) | np.isfinite(second)  # both minus infinity: an answer neither can give
    return np.abs(np.subtract(first, second, out=np.zeros(np.broadcast(first, second).shape), where=seen))


def supremum(pair: Pair, metric: str, bounding: str) -> tuple[float, int]:
    """Return the worst log density ratio of one answer, on a grid refined around it, and which models attain it."""
    if isinstance(pair.laws[0], Exact):
        return math.inf, int(np.argmax(np.abs(pair.gaps[0] - pair.gaps[1])))
    x = np.concatenate([gap[:, None] + law.scale * _GRID for gap, law in zip(pair.gaps, pair.laws)], axis=1)
    if bounding != "none":
        low, high = metric_range(metric)
        x = np.concatenate([np.clip(x, low, high), np.broadcast_to(np.linspace(low, high, 401), (len(x), 401))], axis=1)
    x.sort(axis=1)
    for _ in range(3):  # zoom in on the maximum of each row
        ratio = _log_ratio(x, pair, metric, bounding)
        best = ratio.argmax(axis=1)
        rows = np.arange(len(x))
        value = ratio[rows, best]
        left, right = x[rows, np.maximum(best - 1, 0)], x[rows, np.minimum(best + 1, x.shape[1] - 1)]
        x = np.concatenate([np.linspace(left, right, 201, axis=1), x[rows, best][:, None]], axis=1)
        x.sort(axis=1)
    return float(value.max()), int(value.argmax())


def deltas(pair: Pair, m: int, epsilon: float, steps: int = STEPS) -> tuple[tuple[float, float], int]:
    """Return bounds on the delta that m answers need at epsilon, and the models that need it: those that shift most.

    Gaussian noise of one scale in closed form, other laws by their privacy loss; bounded answers need no more.
    """
    shifts = np.abs(pair.gaps[0] - pair.gaps[1])
    which = int(shifts.argmax())
    one, two = pair.laws
    if isinstance(one, Gaussian) and one.scale == two.scale:
        needed = gaussian_delta(epsilon, math.sqrt(m) * float(shifts[which]) / one.scale)
        return (needed, needed), which
    gaps = tuple(float(gap[which]) for gap in pair.gaps)
    both = [
        loss_deltas(gaps, pair.laws, m, epsilon, steps),
        loss_deltas(gaps[::-1], pair.laws[::-1], m, epsilon, steps),
    ]
    return (max(b[0] for b in both), max(b[1] for b in both)), which


def worst(defense: QueryDefense, candidates: list[Pair], m: int, metric: str) -> Worst:
    """Return the worst of the pairs by the law declared."""
    if defense.delta == 0 or math.isinf(defense.epsilon):
        found = [supremum(pair, metric, defense.bounding) for pair in candidates]
        at = max(range(len(found)), key=lambda i: found[i][0])
        return Worst(candidates[at], found[at][1], m * found[at][0], (0.0, 0.0))
    coarse = [deltas(pair, m, defense.epsilon, COARSE)[0][1] for pair in candidates]
    fine = [(deltas(candidates[i], m, defense.epsilon), candidates[i]) for i in np.argsort(coarse)[-FINE:]]
    (bounds, which), pair = max(fine, key=lambda f: f[0][0][1])
    return Worst(pair, which, math.inf, (bounds[0], max(bounds[1], _rest(coarse))))


def _rest(coarse: list[float]) -> float:
    """Return the largest coarse bound on delta of pairs that were not looked at closely."""
    return max(sorted(coarse)[:-FINE], default=0.0)
