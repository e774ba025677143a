"""The exact correction for two groups in O(N log N): no solver, one pass over the net moves of the positive side.

Only the net moves enter constraints (7)-(10) of RC_E, so a solution is (a, b): how many positively and how many
negatively predicted examples end in group 1. The cost of reaching a is convex in a, that of b convex in b, each least
at the guess. For a fixed a every bound on a rate or a size is an interval of b, and the best b is the guess's own,
moved into the interval. Costs are sums of floats; which reconstructions are allowed is decided in whole numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpriv.attacks.correction.problem import Answer, Bounds, Problem
from fairpriv.attacks.correction.slopes import ceils, floors, rate_slopes

BLOCK = 1 << 14  # small enough to stay in the processor's cache, large enough for numpy to be quick


@dataclass(frozen=True, eq=False)
class Side:
    """The examples with one prediction: who they are, their sorted confidences, and the cost of each count."""

    members: tuple[np.ndarray, np.ndarray]  # masks on all rows: guessed in group 0, in group 1
    confidence: np.ndarray  # of all rows
    ordered: tuple[np.ndarray, np.ndarray]
    cost: np.ndarray  # cost[c]: least cost of having c of them in group 1

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.cost) - 1

    @property
    def start(self) -> int:
        """How many of them the guess has in group 1."""
        return len(self.ordered[1])

    def move(self, group: np.ndarray, count: int) -> None:
        """Flip the least confident guesses, the first ones among equals, until `count` are in group 1."""
        source = 0 if count > self.start else 1
        moves = abs(count - self.start)
        if moves:
            last = self.ordered[source][moves - 1]
            rows = np.flatnonzero(self.members[source] & (self.confidence <= last))
            ties = self.confidence[rows] == last
            group[rows[~ties]] = 1 - source
            group[rows[ties][: moves - np.count_nonzero(~ties)]] = 1 - source


def _side(members: tuple[np.ndarray, np.ndarray], confidence: np.ndarray) -> Side:
    ordered = (confidence.compress(members[0]), confidence.compress(members[1]))  # a third of a mask index's time
    for weights in ordered:
        weights.sort()
    start = len(ordered[1])
    cost = np.empty(len(ordered[0]) + start + 1)  # T_1 backwards, 0, T_0
    cost[start] = 0.0
    np.cumsum(ordered[0], out=cost[start + 1 :])
    np.cumsum(ordered[1], out=cost[:start][::-1])
    return Side(members, confidence, ordered, cost)


def both_sides(problem: Problem) -> tuple[Side, Side]:
    """Return the positively and the negatively predicted examples."""
    ones = problem.guess == 1
    positive, negative = problem.predictions, ~problem.predictions
    in_one = (positive & ones, negative & ones)
    return (
        _side((positive ^ in_one[0], in_one[0]), problem.confidence),
        _side((negative ^ in_one[1], in_one[1]), problem.confidence),
    )


def _blocks(start: int, count: int):
    """Yield 0..count in blocks, upwards from the start, then downwards: (first, last, nearest, direction)."""
    for first in range(start, count + 1, BLOCK):
        yield first, min(first + BLOCK, count + 1) - 1, first, 1
    for last in range(start - 1, -1, -BLOCK):
        yield max(last - BLOCK + 1, 0), last, last, -1


def _best(plus: Side, minus: Side, bounds: Bounds, best: float) -> tuple[float, int, int] | None:
    """Return (cost, a, b) of the cheapest solution that costs less than `best`."""
    n, p, m = plus.count + minus.count, plus.count, minus.count
    both = [rate_slopes(rates, p, n) for rates in bounds.rates]
    if None in both:
        return None
    (x0, z0), (x1, z1) = both
    smallest = max(bounds.sizes[1][0], n - bounds.sizes[0][1])
    largest = min(bounds.sizes[1][1], n - bounds.sizes[0][0])
    found, given_up = None, 0
    for first, last, nearest, direction in _blocks(plus.start, p):
        if direction == given_up:
            continue
        if plus.cost[nearest] >= best:  # and so is all that lies beyond
            given_up = direction
            continue
        a = np.arange(first, last + 1)
        low, high = ceils(a, x1), m - ceils(p - a, x0)  # rate of group 1, of group 0 at most ...
        if z1 is not None:
            np.minimum(high, floors(a, z1), out=high)  # ... at least
        if z0 is not None:
            np.maximum(low, m - floors(p - a, z0), out=low)
        np.maximum(low, np.maximum(smallest - a, 0), out=low)
        np.minimum(high, np.minimum(largest - a, m), out=high)
        possible = low <= high
        b = np.minimum(np.maximum(low, minus.start), high)
        cost = np.where(possible, plus.cost[first : last + 1] + minus.cost[np.where(possible, b, 0)], np.inf)
        i = int(np.argmin(cost))
        if cost[i] < best:
            best = float(cost[i])
            found = best, int(a[i]), int(b[i])
    return found


def solve(problem: Problem, ways: Sequence[Bounds]) -> Answer:
    """Return the cheapest reconstruction that meets one of the alternative bounds."""
    plus, minus = both_sides(problem)
    found = None
    for bounds in ways:
        found = _best(plus, minus, bounds, np.inf if found is None else found[0]) or found
    if found is None:
        return Answer(None, "infeasible")
    cost, a, b = found
    group = problem.guess.copy()
    plus.move(group, a)
    minus.move(group, b)
    return Answer(group, "optimal", cost)
