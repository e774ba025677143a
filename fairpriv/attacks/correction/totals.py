"""The exact correction for two groups where the size of a group is known of everyone, and the metric looks at a part.

PE and EO look at the examples of one label, EOdds at those of each label by itself; a census knows the groups of all.
So the slices, and the examples that no slice holds, share one number: how many end in group 1. For each part the least
cost f(t) of having t of its examples in group 1 is found for every t at once. With a of the t predicted positive it is
C+(a) + C-(t - a), which is convex in a; bounds on rates are an interval of a. So the best a is the free one, moved into
the interval. The free one comes from merging the sorted marginal costs of both sides. Then two such functions are added
under the bound on t0 + t1, with the least value of f1 in a sliding window: O(N log N) in all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpriv.attacks.correction.exact import Side, both_sides
from fairpriv.attacks.correction.problem import Answer, Bounds, Problem
from fairpriv.attacks.correction.slopes import above, below, ceils, floors


@dataclass(frozen=True, eq=False)
class Part:
    """A part of the examples: the least cost of having t of them in group 1 (inf: not allowed), and how."""

    problem: Problem
    plus: Side
    minus: Side
    cost: np.ndarray  # by t = 0 .. n
    positives: np.ndarray  # of the t, those predicted positive

    def solution(self, t: int) -> Answer:
        """Return the cheapest reconstruction with t in group 1."""
        group = self.problem.guess.copy()
        self.plus.move(group, int(self.positives[t]))
        self.minus.move(group, t - int(self.positives[t]))
        return Answer(group, "optimal", float(self.cost[t]))


def _marginal(side: Side) -> np.ndarray:
    """Return what each further member of group 1 costs, in order: first those won back, then those won over."""
    return np.concatenate([-side.ordered[1][::-1], side.ordered[0]])


def _interval(bounds: Bounds, t: np.ndarray, p: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest allowed number of positives among t members of group 1."""
    low, high = np.zeros(len(t), np.int64), np.full(len(t), p)
    for g, members in ((1, t), (0, n - t)):
        rate_low, rate_high = bounds.rates[g]
        if rate_low > rate_high or rate_low > 1 or rate_high < 0:
            return high + 1, high
        least, most = ceils(members, above(max(rate_low, 0), n)), floors(members, below(min(rate_high, 1), n))
        if g == 0:  # of the others there are p - a
            least, most = p - most, p - least
        smallest, largest = bounds.sizes[g]
        most = np.where((members >= smallest) & (members <= largest), most, -1)
        low, high = np.maximum(low, least), np.minimum(high, most)
    return low, high


def part(problem: Problem, ways: Sequence[Bounds] | None) -> Part:
    """Return f(t) of some examples that must meet one of the alternative bounds (None: whatever they are)."""
    plus, minus = both_sides(problem)
    p, n = plus.count, plus.count + minus.count
    t = np.arange(n + 1)
    order = np.argsort(np.concatenate([_marginal(plus), _marginal(minus)]), kind="stable")
    free = np.concatenate([[0], np.cumsum(order < p)])
    cost, positives = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    for bounds in ways or [None]:
        low, high = (np.zeros(n + 1, np.int64), np.full(n + 1, p)) if bounds is None else _interval(bounds, t, p, n)
        low, high = np.maximum(low, t - minus.count), np.minimum(high, t)
        possible = low <= high
        a = np.where(possible, np.minimum(np.maximum(free, low), high), free)
        found = np.where(possible, plus.cost[a] + minus.cost[t - a], np.inf)
        better = found < cost
        cost, positives = np.where(better, found, cost), np.where(better, a, positives)
    return Part(problem, plus, minus, cost, positives)


def window_least(values: np.ndarray, width: int) -> np.ndarray:
    """Return the least of each `width` neighbours, [min(values[i : i + width])], in O(len(values))."""
    blocks = -(-len(values) // width) + 1
    padded = np.full(blocks * width, np.inf)
    padded[: len(values)] = values
    table = padded.reshape(blocks, width)
    ahead = np.minimum.accumulate(table, axis=1).ravel()  # from the start of a block
    behind = np.minimum.accumulate(table[:, ::-1], axis=1)[:, ::-1].ravel()  # to its end
    starts = np.arange(len(values))
    return np.minimum(behind[starts], ahead[starts + width - 1])


def solve(first: Part, second: Part | None, low: int, high: int) -> list[Answer] | None:
    """Return the cheapest reconstruction of each part with low..high examples in group 1 in all; None: none has."""
    if low > high:
        return None
    n0 = len(first.cost) - 1
    if second is None:
        allowed = first.cost[low : high + 1]
        if not np.isfinite(allowed).any():
            return None
        return [first.solution(low + int(np.argmin(allowed)))]
    width = high - low + 1
    margin = np.full(n0 + width, np.inf)
    padded = np.concatenate([margin, second.cost, margin])
    begins = low - np.arange(n0 + 1) + len(margin)  # where the second part's window begins, for each t of the first
    total = first.cost + window_least(padded, width)[begins]
    t0 = int(np.argmin(total))
    if not np.isfinite(total[t0]):
        return None
    t1 = begins[t0] - len(margin) + int(np.argmin(padded[begins[t0] : begins[t0] + width]))
    return [first.solution(t0), second.solution(int(t1))]
