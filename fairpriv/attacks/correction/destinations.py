"""The correction for several groups where it matters where an example goes: a cost for each example and group.

As in `convex` a solution is how many of each side end in each group, found by small integer programs over lines below
the cost. The least cost of given sizes is a transport problem; it is convex in the sizes, and the prices of its
solution are such a line for any sizes. When the lines give the true cost of the program's solution, it is the optimum.
"""

import numpy as np

from fairpriv.attacks.correction.convex import CLOSE, ROUNDS, least_integers, limits, within
from fairpriv.attacks.correction.problem import Answer, Bounds, Problem
from fairpriv.attacks.correction.slopes import rate_slopes
from fairpriv.attacks.correction.transport import Transport


def solve(problem: Problem, bounds: Bounds) -> Answer:
    """Return the cheapest reconstruction within the bounds."""
    k, n, p = problem.groups, len(problem.guess), int(problem.predictions.sum())
    slopes = [rate_slopes(rates, p, n) for rates in bounds.rates]
    if None in slopes:
        return Answer(None, "infeasible")
    unit = max(float(problem.confidence.max()), np.finfo(float).tiny)
    rows = [np.flatnonzero(problem.predictions), np.flatnonzero(~problem.predictions)]
    sides = [Transport(problem.confidence[r] / unit, problem.guess[r]) for r in rows]
    # variables: a_0..a_k, b_0..b_k, then the cost of each side
    fixed, width = limits(bounds, slopes, p, n, 2 * k + 2), 2 * k + 2
    cuts: dict[bytes, tuple] = {}

    def touch() -> None:
        """Add the lines that touch the cost of each side at its present sizes."""
        for i, side in enumerate(sides):
            for prices in side.prices():
                row = np.zeros(width)
                row[i * k : (i + 1) * k], row[2 * k + i] = prices, 1.0
                cuts[row.tobytes()] = (row, side.lower(prices), np.inf)

    touch()
    for _ in range(ROUNDS):
        status, counts, lower = least_integers([*fixed, *cuts.values()], 2 * k, width, p, n)
        if counts is None:
            return Answer(None, status)
        if not within(counts, bounds, slopes, k):
            return Answer(None, "unknown")  # the solver's floats were not enough
        for i, side in enumerate(sides):
            side.reach(counts[i * k : (i + 1) * k])
        known = len(cuts)
        touch()
        close = sum(side.cost for side in sides) - lower <= CLOSE * n
        if close or len(cuts) == known:  # nothing left to add: what remains is the solver's rounding
            break
    else:
        return _answer(problem, rows, sides, "feasible")
    return _answer(problem, rows, sides, "optimal")


def _answer(problem: Problem, rows: list[np.ndarray], sides: list[Transport], status: str) -> Answer:
    group = problem.guess.copy()
    for r, side in zip(rows, sides):
        group[r] = side.group
    return Answer(group, status, float(problem.confidence[np.arange(len(group)), group].sum()))
