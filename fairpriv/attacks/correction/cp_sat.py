"""The paper's two models in OR-tools' CP-SAT: RC_E (III-C) and RC (III-B), for any number of groups (Appendix A).

CP-SAT works on integers: rates are written as slopes (exact), confidences are scaled so that they add up to at most
2^50 and rounded, so that an answer is optimal to that resolution.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairpriv.attacks.correction.problem import Answer, Bounds, Problem
from fairpriv.attacks.correction.slopes import rate_slopes


def _integers(confidence: np.ndarray) -> np.ndarray:
    total = confidence.sum()
    if total == 0:
        return np.zeros(confidence.shape, np.int64)
    return np.rint(np.ldexp(confidence, 50 - int(np.frexp(total)[1]))).astype(np.int64)


def _constrain(model: Any, counts: Sequence[tuple[Any, Any]], bounds: Bounds, p: int, n: int) -> bool:
    """Add the bounds on (positives, negatives) of each group; False where they cannot be met."""
    for (a, b), rates, (low, high) in zip(counts, bounds.rates, bounds.sizes):
        both = rate_slopes(rates, p, n)
        if both is None:
            return False
        x, z = both
        model.add(x.denominator * b >= x.numerator * a)
        if z is not None:
            model.add(z.denominator * b <= z.numerator * a)
        model.add_linear_constraint(a + b, low, high)
    return True


def _solve(model: Any, seconds: float) -> tuple[Any, str]:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = 1  # the paper's setting, and the same answer every time
    solver.parameters.random_seed = 0
    names = {cp_model.OPTIMAL: "optimal", cp_model.FEASIBLE: "feasible", cp_model.INFEASIBLE: "infeasible"}
    return solver, names.get(solver.solve(model), "unknown")


def _answer(problem: Problem, group: np.ndarray, status: str) -> Answer:
    costs = problem.confidence
    paid = costs[group != problem.guess] if costs.ndim == 1 else costs[np.arange(len(group)), group]
    return Answer(group, status, float(paid.sum()))


def efficient(problem: Problem, bounds: Bounds, seconds: float) -> Answer:
    """Solve RC_E, (6)-(10): how many moves of each kind, each kind's cost an element of its cumulated confidences."""
    from ortools.sat.python import cp_model

    model, k = cp_model.CpModel(), range(problem.groups)
    integers, n = _integers(problem.confidence), len(problem.guess)
    order: dict[tuple[int, bool], np.ndarray] = {}
    moves: dict[tuple[int, int, bool], Any] = {}
    costs, counts = [], {}
    for side in (True, False):
        size = {}
        for g in k:
            rows = np.flatnonzero((problem.guess == g) & (problem.predictions == side))
            order[g, side] = rows[np.argsort(problem.confidence[rows], kind="stable")]
            size[g] = len(rows)
            for h in k:
                if h != g:
                    moves[g, h, side] = model.new_int_var(0, len(rows), f"s{g}{h}{'+' if side else '-'}")
            away = model.new_int_var(0, len(rows), "")
            model.add(away == sum(moves[g, h, side] for h in k if h != g))
            table = np.concatenate([[0], np.cumsum(integers[order[g, side]])]).tolist()
            cost = model.new_int_var(0, table[-1], "")
            model.add_element(away, table, cost)
            costs.append(cost)
        for g in k:
            gained = sum(moves[h, g, side] - moves[g, h, side] for h in k if h != g)
            counts[g, side] = size[g] + gained
    p = int(problem.predictions.sum())
    if not _constrain(model, [(counts[g, True], counts[g, False]) for g in k], bounds, p, n):
        return Answer(None, "infeasible")
    model.minimize(sum(costs))
    solver, status = _solve(model, seconds)
    if status in ("infeasible", "unknown"):
        return Answer(None, status)
    group = problem.guess.copy()
    for (g, side), rows in order.items():
        done = 0
        for h in k:
            if h != g:
                count = solver.value(moves[g, h, side])
                group[rows[done : done + count]] = h
                done += count
    return _answer(problem, group, status)


def general(problem: Problem, bounds: Bounds, seconds: float, own: Sequence[Callable[..., None]] = ()) -> Answer:
    """Solve RC, (1)-(5): one variable an example and group, and whatever constraints a user adds."""
    from ortools.sat.python import cp_model

    model, n, k = cp_model.CpModel(), len(problem.guess), range(problem.groups)
    if problem.groups == 2:
        ones = [model.new_bool_var(f"s{i}") for i in range(n)]
        member = [[s.negated() for s in ones], ones]
    else:
        member = [[model.new_bool_var(f"s{i}={g}") for i in range(n)] for g in k]
        for i in range(n):
            model.add_exactly_one(member[g][i] for g in k)
    sides = [np.flatnonzero(problem.predictions).tolist(), np.flatnonzero(~problem.predictions).tolist()]
    counts = [tuple(sum(member[g][i] for i in side) for side in sides) for g in k]
    if not _constrain(model, counts, bounds, len(sides[0]), n):
        return Answer(None, "infeasible")
    for constrain in own:
        constrain(model, member)
    guess, integers = problem.guess.tolist(), _integers(problem.confidence).tolist()
    if problem.confidence.ndim == 1:
        model.minimize(sum(w * (1 - member[g][i]) for i, (g, w) in enumerate(zip(guess, integers))))
    else:  # what it costs depends on where an example goes
        model.minimize(sum(w * member[g][i] for i, row in enumerate(integers) for g, w in enumerate(row)))
    for i, g in enumerate(guess):
        model.add_hint(member[1][i] if problem.groups == 2 else member[g][i], 1 if problem.groups > 2 else g)
    solver, status = _solve(model, seconds)
    if status in ("infeasible", "unknown"):
        return Answer(None, status)
    values = np.array([[solver.boolean_value(v) for v in member[g]] for g in k])
    return _answer(problem, values.argmax(axis=0), status)
