"""The correction for more than two groups (Appendix A): outer approximation of convex costs by small integer programs.

A solution is (a_g, b_g): how many positively and negatively predicted examples end in each group. A group pays for
what leaves it, in order of confidence: a convex function of its count, zero from the guess's own count on. Costs enter
as lines below them; each round solves an integer program in 2|S| whole numbers and adds the lines that touch at its
solution, until they give the true cost there. Rates are exact (slopes with small denominators) and checked again.
"""

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp

from fairpriv.attacks.correction.problem import Answer, Bounds, Problem
from fairpriv.attacks.correction.slopes import rate_slopes

ROUNDS = 500
CLOSE = 1e-9  # relative to the cost of changing everything


def _costs(problem: Problem) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return, for the positives of each group and then the negatives: rows by confidence, and cost[c] of keeping c."""
    orders, costs = [], []
    for side in (problem.predictions, ~problem.predictions):
        for g in range(problem.groups):
            rows = np.flatnonzero(side & (problem.guess == g))
            rows = rows[np.argsort(problem.confidence[rows], kind="stable")]
            orders.append(rows)
            costs.append(np.concatenate([[0.0], np.cumsum(problem.confidence[rows])])[::-1])
    return orders, costs


def within(counts: np.ndarray, bounds: Bounds, sides: list, k: int) -> bool:
    """Check a solution in whole numbers."""
    for g, (x, z) in enumerate(sides):
        a, b = int(counts[g]), int(counts[k + g])
        low, high = bounds.sizes[g]
        if not (low <= a + b <= high and x * a <= b and (z is None or b <= z * a)):
            return False
    return True


def limits(bounds: Bounds, sides: list, p: int, n: int, width: int) -> list[tuple]:
    """Return (row, low, high) of every bound on the counts a_0..a_k, b_0..b_k, the first of `width` variables."""
    k = len(sides)
    a, b = np.eye(width)[:k], np.eye(width)[k : 2 * k]
    fixed = [(a.sum(axis=0), p, p), (b.sum(axis=0), n - p, n - p)]
    for g, (x, z) in enumerate(sides):
        fixed.append((a[g] + b[g], *bounds.sizes[g]))
        fixed.append((x.denominator * b[g] - x.numerator * a[g], 0, np.inf))
        if z is not None:
            fixed.append((z.denominator * b[g] - z.numerator * a[g], -np.inf, 0))
    return fixed


def least_integers(lines: list[tuple], counts: int, width: int, p: int, n: int) -> tuple[str, np.ndarray | None, float]:
    """Return (status, the first `counts` variables, whole; the sum of the others), with the least such sum."""
    rows, low, high = zip(*lines)
    k = counts // 2
    found = milp(
        np.repeat([0.0, 1.0], [counts, width - counts]),
        integrality=np.repeat([1, 0], [counts, width - counts]),
        bounds=Box(np.zeros(width), np.repeat([p, n - p, np.inf], [k, k, width - counts])),
        constraints=LinearConstraint(np.array(rows), low, high),
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        return "infeasible" if found.status == 2 else "unknown", None, np.inf
    return "optimal", np.rint(found.x[:counts]).astype(int), found.fun


def solve(problem: Problem, bounds: Bounds) -> Answer:
    """Return the cheapest reconstruction within the bounds."""
    k, n, p = problem.groups, len(problem.guess), int(problem.predictions.sum())
    sides = [rate_slopes(rates, p, n) for rates in bounds.rates]
    if None in sides:
        return Answer(None, "infeasible")
    orders, costs = _costs(problem)
    unit = max(sum(c[0] for c in costs), np.finfo(float).tiny)
    # variables: a_0..a_k, b_0..b_k, then the cost of each
    fixed = limits(bounds, sides, p, n, 4 * k)
    cuts: dict[tuple[int, int], tuple] = {}

    def touch(i: int, count: int) -> None:
        """Add the lines through (c, cost) and (c + 1, cost) next to a count."""
        for c in (count - 1, count):
            if 0 <= c < len(costs[i]) - 1 and (i, c) not in cuts:
                rise = (costs[i][c + 1] - costs[i][c]) / unit
                row = np.eye(4 * k)[2 * k + i] - rise * np.eye(4 * k)[i]
                cuts[i, c] = (row, costs[i][c] / unit - rise * c, np.inf)

    for i in range(2 * k):
        touch(i, len(costs[i]) - 1)
        touch(i, 0)
    for _ in range(ROUNDS):
        status, counts, lower = least_integers([*fixed, *cuts.values()], 2 * k, 4 * k, p, n)
        if counts is None:
            return Answer(None, status)
        if not within(counts, bounds, sides, k):
            return Answer(None, "unknown")  # the solver's floats were not enough
        true = np.array([costs[i][min(counts[i], len(costs[i]) - 1)] for i in range(2 * k)]) / unit
        if true.sum() - lower <= CLOSE:
            return _regroup(problem, orders, counts, "optimal")
        known = len(cuts)
        for i in range(2 * k):
            touch(i, int(counts[i]))
        if len(cuts) == known:  # nothing left to add: what remains is the solver's rounding
            return _regroup(problem, orders, counts, "optimal")
    return _regroup(problem, orders, counts, "feasible")


def _regroup(problem: Problem, orders: list[np.ndarray], counts: np.ndarray, status: str) -> Answer:
    """Take the least confident out of groups that shrink and hand them, in order of their rows, to those that grow."""
    group, k = problem.guess.copy(), problem.groups
    for first in (0, k):
        loss = [len(orders[first + g]) - counts[first + g] for g in range(k)]
        leaving = np.sort(np.concatenate([orders[first + g][: max(loss[g], 0)] for g in range(k)]))
        group[leaving] = np.repeat(np.arange(k), [max(-x, 0) for x in loss])
    return Answer(group, status, float(problem.confidence[group != problem.guess].sum()))
