"""Reconstruction correction (ferry2023, Section III): change a guess as little as the known fairness asks."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from fairpriv import validate
from fairpriv.attacks.correction import convex, cp_sat, destinations, exact, totals
from fairpriv.attacks.correction.constraints import Proportion, Rate, parse_constraints, read_constraints
from fairpriv.attacks.correction.problem import Answer, Bounds, Correction, Problem, bounds, check, slices
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import as_fraction

__all__ = [
    "CORRECTORS",
    "Correction",
    "Proportion",
    "Rate",
    "correct_reconstruction",
    "parse_constraints",
    "read_constraints",
]

CORRECTORS = ("exact", "cp_sat_efficient", "cp_sat_general")


def correct_reconstruction(
    guess: Any,
    confidence: Any,
    predictions: Any,
    tolerance: float | str | Rational,
    labels: Any = None,
    metric: str = "SP",
    groups: int = 2,
    *,
    corrector: str = "exact",
    at_least: float | str | Rational = 0,
    constraints: Sequence[Proportion | Rate | Callable[..., None]] = (),
    seconds: float = 60.0,
) -> Correction:
    """Return the reconstruction nearest to the guess under which the model is as fair as it is said to be.

    Parameters
    ----------
    guess : array of int, 0 .. groups - 1
        The adversary's guess of each training example's sensitive attribute.
    confidence : array of float, finite and >= 0
        What it costs to change each guess; with a column a group: to change it to that group (0 at the guess itself).
    predictions : array of 0 and 1
        The target model's predictions on the training set.
    tolerance : number in [0, 1]
        The unfairness that the model does not exceed. A float stands for its decimal text (0.05 is 1/20); comparisons
        are exact.
    labels : array of 0 and 1, optional
        The true labels; PE, EO and EOdds need them.
    metric : {"SP", "PE", "EO", "EOdds"}
        Which rate the model equalises between groups and everyone (Table I).
    groups : int
        How many values the sensitive attribute has.
    corrector : {"exact", "cp_sat_efficient", "cp_sat_general"}
        exact: O(N log N) for two groups, outer approximation for more. cp_sat_efficient, cp_sat_general: the models
        RC_E and RC in OR-tools; of these only cp_sat_general takes a confidence with a column a group.
    at_least : number in [0, tolerance]
        The unfairness that the model is known to reach (equal to `tolerance`: its unfairness is known exactly). Only
        `exact` with two groups takes it; for EOdds it is not used, as one slice may be fairer than the other.
    constraints : sequence
        What else is known: Proportion, Rate; for cp_sat_general also functions `f(model, member)`, where
        `member[g][i]` is the CP-SAT literal "example i is in group g". They hold on the examples the metric looks at,
        but for a Proportion `of="everyone"`, which `exact` with two groups combines with any metric.
    seconds : float
        Time limit of CP-SAT, for each slice.

    Returns
    -------
    Correction
        Status "infeasible" or "unknown" (time limit) returns the guess as it was.

    Examples
    --------
    The model accepts the first two people and no one else; it is fair, so the groups cannot be as guessed. The two
    least sure guesses change:

    >>> import fairpriv
    >>> found = fairpriv.correct_reconstruction(
    ...     guess=[0, 0, 1, 1], confidence=[0.9, 0.1, 0.9, 0.2], predictions=[1, 1, 0, 0], tolerance=0.2
    ... )
    >>> found.group.tolist(), found.status, found.changes
    ([0, 1, 1, 0], 'optimal', 2)
    """
    problem = check(guess, confidence, predictions, labels, metric, groups)
    high, low = as_fraction("tolerance", tolerance), as_fraction("at_least", at_least)
    _check_choices(problem, metric, corrector, high, low, seconds, constraints)
    known = [c for c in constraints if isinstance(c, Proportion | Rate)]
    own = [c for c in constraints if not isinstance(c, Proportion | Rate)]
    if metric != "SP" and any(_of_everyone(c) for c in known):
        return _with_totals(problem, metric, high, low, known)

    if metric == "SP":  # one slice, which is all
        answer = _solve(problem, bounds(problem, high, low, known), corrector, seconds, own)
        return _corrected(problem, answer.group, answer.status, answer.cost)
    found, total, status = np.array(problem.guess), 0.0, "optimal"
    for rows in slices(problem, metric):
        part = problem.take(rows)
        answer = _solve(part, bounds(part, high, low, known), corrector, seconds, own)
        if answer.group is None:
            return _corrected(problem, None, answer.status, float("nan"))
        found[rows], total = answer.group, total + answer.cost
        status = status if answer.status == "optimal" else answer.status
    return _corrected(problem, found, status, total)


def _corrected(problem: Problem, group: np.ndarray | None, status: str, cost: float) -> Correction:
    """Return what was found; where nothing was, the guess itself."""
    if group is None:
        return Correction(np.array(problem.guess), status, float("nan"), 0)
    return Correction(group, status, cost, int(np.count_nonzero(group != problem.guess)))


def _of_everyone(constraint: Any) -> bool:
    return isinstance(constraint, Proportion) and constraint.of == "everyone"


def _check_choices(problem, metric, corrector, high, low, seconds, constraints) -> None:
    """Refuse what a corrector cannot do, in one line."""
    validate.choice("corrector", corrector, CORRECTORS)
    validate.number("seconds", seconds, above=0)
    if low > high:
        raise BadRequest(f"at_least must be <= the tolerance {float(high):g}, got {float(low):g}")
    if low > 0 and (corrector != "exact" or problem.groups != 2 or metric == "EOdds"):
        raise BadRequest("at_least must be 0 unless corrector is exact, groups is 2 and metric is SP, PE or EO")
    if problem.confidence.ndim == 2 and corrector == "cp_sat_efficient":
        raise BadRequest("confidence with a column a group needs corrector='exact' or 'cp_sat_general'")
    own = [c for c in constraints if not isinstance(c, Proportion | Rate)]
    if own and corrector != "cp_sat_general":
        raise BadRequest("constraints of your own need corrector='cp_sat_general'; the others take Proportion and Rate")
    if any(not callable(c) for c in own):
        raise BadRequest("constraints must be Proportion, Rate or functions f(model, member)")
    if metric != "SP" and any(map(_of_everyone, constraints)) and (corrector != "exact" or problem.groups != 2):
        raise BadRequest(f"a proportion of everyone with metric {metric} needs corrector='exact' and two groups")


def _solve(part: Problem, ways: list[Bounds], corrector: str, seconds: float, own: Sequence[Any]) -> Answer:
    """Correct one slice."""
    if corrector == "cp_sat_efficient":
        return cp_sat.efficient(part, ways[0], seconds)
    if corrector == "cp_sat_general":
        return cp_sat.general(part, ways[0], seconds, own)
    if part.groups == 2:
        return exact.solve(part, ways)
    return destinations.solve(part, ways[0]) if part.confidence.ndim == 2 else convex.solve(part, ways[0])


def _with_totals(problem: Problem, metric: str, high: Fraction, low: Fraction, known: Sequence[Any]) -> Correction:
    """Correct the slices of a metric, and the examples that none of them holds, under bounds on the groups of all."""
    n = len(problem.guess)
    least, most = 0, n
    for constraint in filter(_of_everyone, known):
        if constraint.group > 1:
            raise BadRequest(f"constraint on group {constraint.group}: there are groups 0 to 1")
        few, many = constraint.counts(n)
        few, many = (few, many) if constraint.group == 1 else (n - many, n - few)
        least, most = max(least, few), min(most, many)
    inside = [c for c in known if not _of_everyone(c)]
    rows = slices(problem, metric)
    parts = [totals.part(part, bounds(part, high, low, inside)) for part in map(problem.take, rows)]
    rest = np.setdiff1d(np.arange(n), np.concatenate(rows))
    if len(rest):
        rows, parts = [*rows, rest], [*parts, totals.part(problem.take(rest), None)]
    answers = totals.solve(parts[0], parts[1] if len(parts) > 1 else None, least, most)
    if answers is None:
        return _corrected(problem, None, "infeasible", float("nan"))
    found = np.array(problem.guess)
    for where, answer in zip(rows, answers):
        found[where] = answer.group
    return _corrected(problem, found, "optimal", sum(a.cost for a in answers))
