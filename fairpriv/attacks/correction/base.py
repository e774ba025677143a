"""What an adversary of ferry2023 is (Section IV-A): an attack model trained on an attack set, then the correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairpriv.attacks.base import AnyAttack
from fairpriv.attacks.correction import CORRECTORS, Correction, correct_reconstruction, parse_constraints
from fairpriv.datasets.split import stratified_split
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import METRICS, unfairness
from fairpriv.registry import param
from fairpriv.validate import choice, integer, number


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
    """Guessed group and confidence scaled to [1, 2], on the training set and on the held-out part of the attack set."""

    group: np.ndarray
    confidence: np.ndarray
    held_out: np.ndarray  # rows of the attack set
    held_group: np.ndarray
    held_confidence: np.ndarray
    learner: Any  # with the parameters it was trained with


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """The guess, its correction, and the exponent of the confidences."""

    guess: Guess
    corrected: Correction
    exponent: int
    metric: str
    tolerance: Fraction


def scaled(probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the likeliest class and its probability, min-max scaled to [1, 2]."""
    group, top = probabilities.argmax(axis=1), probabilities.max(axis=1)
    spread = top.max() - top.min()
    return group, 1 + (top - top.min()) / spread if spread > 0 else np.ones(len(top))


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
    """

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

    def __post_init__(self) -> None:
        """Check the parameters."""
        choice("corrector", self.corrector, CORRECTORS)
        number("held_out", self.held_out, above=0, below=1)
        number("seconds", self.seconds, above=0)
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
        group, confidence = scaled(model(self._inputs(view.features, view.label, view.predictions)))
        return Guess(group, confidence, held, *scaled(model(inputs.iloc[held])), learner)

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

    def choose_exponent(self, guess: Guess, known: AttackSet, metric: str, tolerance: Fraction, groups: int) -> int:
        """Return the exponent with the most accurate correction of the held-out rows; the least among equals.

        The constraint is the one to be applied to the training set. Held out, the target may be less fair than that; a
        looser constraint there would often be met by the guess itself, and say nothing about the exponent.
        """
        if len(self.powers) == 1:
            return self.powers[0]
        rows = guess.held_out
        truth, h, y = known.group[rows], known.predictions[rows], known.label[rows]

        def accuracy(k: int) -> float:
            found = self._correct(guess.held_group, guess.held_confidence**k, h, y, metric, tolerance, groups)
            return float((found.group == truth).mean())

        return max(self.powers, key=accuracy)

    def correct(
        self, guess: Guess, view: ReconstructionView, metric: str, tolerance: Fraction, **more: Any
    ) -> Reconstruction:
        """Correct a guess by this fairness information."""
        k = more.pop("exponent", None)
        if k is None:
            k = self.choose_exponent(guess, view.attack_set, metric, tolerance, view.groups)
        found = self._correct(
            guess.group, guess.confidence**k, view.predictions, view.label, metric, tolerance, view.groups, **more
        )
        return Reconstruction(guess, found, k, metric, tolerance)

    def run(self, view: ReconstructionView, rng: np.random.Generator) -> Reconstruction:
        """Guess, then correct by what is known, or (V-B) by what the attack set suggests."""
        metric, tolerance = view.metric, view.tolerance
        if metric is None or tolerance is None:
            metric, tolerance = estimate_constraint(view.attack_set)
        return self.correct(self.learn(view, rng), view, metric, tolerance)
