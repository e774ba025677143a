"""Reconstruction correction (ferry2023, Section III): change a guess as little as the known fairness asks."""

from collections.abc import Callable, Sequence
from numbers import Rational
from typing import Any

import numpy as np

from fairpriv import validate
from fairpriv.attacks.correction import convex, cp_sat, exact
from fairpriv.attacks.correction.constraints import Proportion, Rate, parse_constraints, read_constraints
from fairpriv.attacks.correction.problem import Correction, bounds, check, slices
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
        What it costs to change each guess.
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
        RC_E and RC in OR-tools.
    at_least : number in [0, tolerance]
        The unfairness that the model is known to reach (equal to `tolerance`: its unfairness is known exactly). Only
        `exact` with two groups takes it; for EOdds it is not used, as one slice may be fairer than the other.
    constraints : sequence
        What else is known: Proportion, Rate; for cp_sat_general also functions `f(model, member)`, where
        `member[g][i]` is the CP-SAT literal "example i is in group g". They hold on the examples the metric looks at.
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
    validate.choice("corrector", corrector, CORRECTORS)
    validate.number("seconds", seconds, above=0)
    if low > high:
        raise BadRequest(f"at_least must be <= the tolerance {float(high):g}, got {at_least!r}")
    if low > 0 and (corrector != "exact" or groups != 2 or metric == "EOdds"):
        raise BadRequest("at_least must be 0 unless corrector is exact, groups is 2 and metric is SP, PE or EO")
    own = [c for c in constraints if not isinstance(c, Proportion | Rate)]
    if own and corrector != "cp_sat_general":
        raise BadRequest("constraints of your own need corrector='cp_sat_general'; the others take Proportion and Rate")
    if any(not callable(c) for c in own):
        raise BadRequest("constraints must be Proportion, Rate or functions f(model, member)")

    found, total, status = np.array(problem.guess), 0.0, "optimal"
    for rows in slices(problem, metric):
        part = problem.take(rows)
        ways = bounds(part, high, low, [c for c in constraints if isinstance(c, Proportion | Rate)])
        if corrector == "cp_sat_efficient":
            answer = cp_sat.efficient(part, ways[0], seconds)
        elif corrector == "cp_sat_general":
            answer = cp_sat.general(part, ways[0], seconds, own)
        else:
            answer = exact.solve(part, ways) if groups == 2 else convex.solve(part, ways[0])
        if answer.group is None:
            return Correction(np.array(problem.guess), answer.status, float("nan"), 0)
        found[rows], total = answer.group, total + answer.cost
        status = status if answer.status == "optimal" else answer.status
    return Correction(found, status, total, int((found != problem.guess).sum()))
