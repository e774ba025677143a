"""What an adversary of ferry2023 is (Section IV-A): an attack model trained on an attack set, then the correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairpriv.attacks.base import AnyAttack
from fairpriv.attacks.correction import CORRECTORS, Correction, correct_reconstruction, parse_constraints
from fairpriv.datasets.split import stratified_split
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import METRICS, metric_slices, unfairness
from fairpriv.registry import param
from fairpriv.validate import choice, integer, number

COSTS = ("powers", "log_odds")
FLOOR = 1e-3  # a forest's probability of 0 is no certainty: odds of more than a thousand to one are not believed


@dataclass(frozen=True, eq=False)
class AttackSet:
    """D_A, whose sensitive attribute the adversary knows, and the target's predictions on it."""

    features: pd.DataFrame
    label: np.ndarray
    group: np.ndarray
    predictions: np.ndarray


@dataclass(frozen=True, eq=False)
class ReconstructionView:
    """What the adversary sees of the training set: everything but the sensitive attribute.

    `metric` and `tolerance` are the fairness information (None: hidden), `learner` is the kind of attack model.
    """

    features: pd.DataFrame
    label: np.ndarray
    predictions: np.ndarray
    attack_set: AttackSet
    learner: Any
    groups: int = 2
    metric: str | None = None
    tolerance: Fraction | None = None


@dataclass(frozen=True, eq=False)
class Guess:
    """P(s | what is seen), a column a group: on the training set and on the held-out part of the attack set."""

    probabilities: np.ndarray
    held_out: np.ndarray  # rows of the attack set
    held_probabilities: np.ndarray
    learner: Any  # with the parameters it was trained with

    @cached_property
    def group(self) -> np.ndarray:
        """The guessed group of each training example."""
        return self.probabilities.argmax(axis=1)

    def knowing(self, shares: np.ndarray) -> "Guess":
        """Return the guess of one who knows how large the groups are: a balanced forest takes them for equal.

        Bayes: P(s | x) of a balanced loss times P(s), scaled to add up to 1.
        """

        def posterior(balanced: np.ndarray) -> np.ndarray:
            joint = balanced * shares
            return joint / joint.sum(axis=1, keepdims=True)

        return Guess(posterior(self.probabilities), self.held_out, posterior(self.held_probabilities), self.learner)

    def blind(self, shares: np.ndarray) -> "Guess":
        """Return the guess of one who knows how large the groups are, and nothing else: everyone is of the largest."""
        rows = (len(self.probabilities), 1), (len(self.held_out), 1)
        return Guess(np.tile(shares, rows[0]), self.held_out, np.tile(shares, rows[1]), self.learner)


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The guess, its correction, and the exponent of the confidences."""

    guess: Guess
    corrected: Correction
    exponent: int
    metric: str
    tolerance: Fraction


def group_shares(group: np.ndarray, groups: int) -> np.ndarray:
    """Return the share of each group among these rows."""
    return np.bincount(group, minlength=groups) / len(group)


def log_odds(probabilities: np.ndarray) -> np.ndarray:
    """Return what it costs to change each guess: the log odds of the guess against the other group.

    The correction of least cost is then the likeliest allowed reconstruction. With more than two groups the cost
    depends on where an example goes, so there is a column a group.
    """
    p = np.maximum(probabilities, FLOOR)
    costs = np.log(p.max(axis=1, keepdims=True) / p)
    return costs if costs.shape[1] > 2 else costs.max(axis=1)


def scaled(probabilities: np.ndarray) -> np.ndarray:
    """Return the probability of the likeliest group, min-max scaled to [1, 2]."""
    top = probabilities.max(axis=1)
    spread = top.max() - top.min()
    return 1 + (top - top.min()) / spread if spread > 0 else np.ones(len(top))


def estimate_constraint(attack_set: AttackSet) -> tuple[str, Fraction]:
    """Return the metric with the least unfairness on the attack set (the first among equals), and that unfairness."""
    found = {m: unfairness(m, attack_set.predictions, attack_set.group, attack_set.label) for m in METRICS}
    metric = min(found, key=found.get)
    return metric, found[metric]


@dataclass(frozen=True)
class Adversary(AnyAttack):
    """Learns P(s | what it sees) on the attack set, guesses, and corrects the guess by the fairness information.

    Attributes
    ----------
    corrector : str
        How the guess is corrected: see `correct_reconstruction`.
    held_out : float
        Share of the attack set on which the exponent of the confidences is chosen; the attack model does not see it.
    exponents : int or sequence of int
        Exponents to choose from; a number n stands for 0 .. n - 1.
    constraints : sequence
        What else is known, as plain data: see `parse_constraints`.
    seconds : float
        Time limit of CP-SAT.
    costs : str
        What changing a guess costs. powers: its confidence to an exponent (the paper). log_odds: see `log_odds`.

    Examples
    --------
    One who sees what the model predicts, and has ten exponents to choose from:

    >>> from dataclasses import dataclass
    >>> from fairpriv import Adversary
    >>> @dataclass(frozen=True)
    ... class Neighbour(Adversary):
    ...     name = "neighbour"
    ...     sees_predictions = True
    >>> Neighbour(exponents=10).powers
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    >>> Neighbour(held_out=1.5)
    Traceback (most recent call last):
    fairpriv.errors.BadRequest: held_out must be < 1, got 1.5
    """

    later: ClassVar[tuple[str, ...]] = ("costs",)

    sees_predictions: ClassVar[bool]

    corrector: str = param("exact", "how the guess is corrected, see `correct_reconstruction`", choices=CORRECTORS)
    held_out: float = param(0.25, "share of the attack set held out to choose the exponent", above=0, below=1)
    exponents: int | Sequence[int] = param(100, "exponents to choose from: a list, or n for 0 .. n - 1", at_least=1)
    constraints: Sequence[Any] = param(
        (),
        "what else is known, e.g. [{proportion: {group: 1, at_least: 0.6, at_most: 0.7}}, {rate: {group: 0,"
        " at_most: 0.3}}]",
    )
    seconds: float = param(60.0, "time limit of CP-SAT", above=0)
    costs: str = param(
        "powers", "what changing a guess costs: a power of its confidence (the paper), or its log odds", choices=COSTS
    )

    def __post_init__(self) -> None:
        """Check the parameters."""
        choice("corrector", self.corrector, CORRECTORS)
        number("held_out", self.held_out, above=0, below=1)
        number("seconds", self.seconds, above=0)
        choice("costs", self.costs, COSTS)
        for exponent in self.powers:
            integer("exponent", exponent, at_least=0, at_most=1000)
        parse_constraints(self.constraints)

    @property
    def powers(self) -> list[int]:
        """The exponents to choose from."""
        if isinstance(self.exponents, Sequence) and not isinstance(self.exponents, str):
            if len(self.exponents) == 0:
                raise BadRequest("exponents must name at least one exponent")
            return list(self.exponents)
        integer("exponents", self.exponents, at_least=1)
        return list(range(self.exponents))

    def _inputs(self, features: pd.DataFrame, label: np.ndarray, predictions: np.ndarray) -> pd.DataFrame:
        more = {"true label": label} | ({"prediction": predictions} if self.sees_predictions else {})
        return features.assign(**more)

    def learn(self, view: ReconstructionView, rng: np.random.Generator) -> Guess:
        """Train the attack model and guess."""
        known = view.attack_set
        held, fit = stratified_split(known.group, [self.held_out, 1 - self.held_out], rng)
        inputs = self._inputs(known.features, known.label, known.predictions)
        learner = view.learner.tuned(inputs.iloc[fit], known.group[fit], rng)
        model = learner.fit_classes(inputs.iloc[fit], known.group[fit], rng, view.groups)
        seen = self._inputs(view.features, view.label, view.predictions)
        return Guess(model(seen), held, model(inputs.iloc[held]), learner)

    def _weights(self, probabilities: np.ndarray, exponent: int) -> np.ndarray:
        """Return what changing each guess costs."""
        return log_odds(probabilities) if self.costs == "log_odds" else scaled(probabilities) ** exponent

    def _correct(self, group, weight, predictions, label, metric, tolerance, groups, **more) -> Correction:
        return correct_reconstruction(
            group,
            weight,
            predictions,
            tolerance,
            label,
            metric,
            groups,
            corrector=self.corrector,
            constraints=parse_constraints(self.constraints),
            seconds=self.seconds,
            **more,
        )

    def choose_exponent(
        self,
        guess: Guess,
        known: AttackSet,
        metric: str,
        tolerance: Fraction,
        groups: int,
        at_least: Fraction = Fraction(0),
    ) -> int:
        """Return the exponent with the most accurate correction of the held-out rows; the least among equals.

        The constraint is the one to be applied to the training set. Held out, the target may be less fair than that; a
        looser constraint there would often be met by the guess itself, and say nothing about the exponent.
        """
        if self.costs != "powers":
            return 1
        if len(self.powers) == 1:
            return self.powers[0]
        rows = guess.held_out
        truth, h, y = known.group[rows], known.predictions[rows], known.label[rows]
        if at_least > 0:  # fewer rows may not be able to meet the very number: one example more or less will do
            step = Fraction(1, min(len(part) for _, part in metric_slices(metric, y)))
            tolerance, at_least = min(tolerance + step, Fraction(1)), max(at_least - step, Fraction(0))
        start, confidence = guess.held_probabilities.argmax(axis=1), scaled(guess.held_probabilities)

        def accuracy(k: int) -> float:
            found = self._correct(start, confidence**k, h, y, metric, tolerance, groups, at_least=at_least)
            return float((found.group == truth).mean())

        return max(self.powers, key=accuracy)

    def correct(
        self, guess: Guess, view: ReconstructionView, metric: str, tolerance: Fraction, **more: Any
    ) -> Reconstruction:
        """Correct a guess by this fairness information (`more`: `at_least`; `exponent`, where it is given)."""
        k = more.pop("exponent", None)
        if k is None:
            k = self.choose_exponent(guess, view.attack_set, metric, tolerance, view.groups, **more)
        weights = self._weights(guess.probabilities, k)
        found = self._correct(
            guess.group, weights, view.predictions, view.label, metric, tolerance, view.groups, **more
        )
        return Reconstruction(guess, found, k, metric, tolerance)

    def run(self, view: ReconstructionView, rng: np.random.Generator) -> Reconstruction:
        """Guess, then correct by what is known, or (V-B) by what the attack set suggests."""
        metric, tolerance = view.metric, view.tolerance
        if metric is None or tolerance is None:
            metric, tolerance = estimate_constraint(view.attack_set)
        return self.correct(self.learn(view, rng), view, metric, tolerance)
