"""The experiments of ferry2023: reconstruct a sensitive attribute, then correct it by the model's fairness."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from fairpriv.attacks.correction.base import (
    Adversary,
    AttackSet,
    Guess,
    ReconstructionView,
    estimate_constraint,
    group_shares,
)
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.split import stratified_split
from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import as_fraction, unfairness
from fairpriv.models.base import Model
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import register
from fairpriv.seeds import canonical
from fairpriv.validate import choice, number

SENSITIVE = ("binary", "values")
PUBLISHED_DECIMALS = 3


@dataclass(frozen=True, eq=False)
class Parts:
    """A dataset in thirds for training, test and attack (IV-B), each with its sensitive attribute."""

    train: tuple[Dataset, np.ndarray]
    test: tuple[Dataset, np.ndarray]
    known: tuple[Dataset, np.ndarray]
    groups: int


@dataclass(frozen=True, eq=False)
class Target:
    """A trained target model: what is released, and how it does."""

    train: Dataset
    group: np.ndarray
    predictions: np.ndarray
    attack_set: AttackSet
    groups: int
    measures: dict[str, float]
    unfairness: Fraction | None  # on the training set, by the metric it was trained for


def _sensitive(cell: Cell, data: Dataset) -> tuple[np.ndarray, int]:
    """Return the sensitive attribute: binarised, or (Appendix A) with all its values that occur."""
    if cell.get("sensitive", "binary") == "binary":
        return data.group.astype(int), 2
    codes = np.unique(data.sensitive[data.protected].cat.codes, return_inverse=True)[1]
    return codes, int(codes.max()) + 1


def split(cell: Cell, load: Callable[[Cell], Dataset]) -> Parts:
    """Split in random thirds, the same for all cells that are computed together."""
    data = load(cell)
    group, groups = _sensitive(cell, data)
    parts = stratified_split(data, [1 / 3] * 3, cell.rng("split", "dataset", "sensitive"), by="none")
    return Parts(*((data.take(rows), group[rows]) for rows in parts), groups)


def make_target(cell: Cell, parts: Parts) -> Target:
    """Train the target."""
    rng = cell.rng("target", "dataset", "sensitive", "defense", "fairness", "tolerance")
    (train, s), (test, s_test), (known, s_known) = parts.train, parts.test, parts.known
    metric = cell.get("fairness")
    model = cell.plugin("defense").fit(train.features, train.label, s, metric, cell.get("tolerance"), rng)
    h, h_test, h_known = (model(d.features, g, rng) for d, g in ((train, s), (test, s_test), (known, s_known)))
    measures = {
        "train_accuracy": float((h == train.label).mean()),
        "test_accuracy": float((h_test == test.label).mean()),
        "majority_share": float(np.bincount(s).max() / len(s)),
    }
    measured = None
    if metric is not None:
        measured = unfairness(metric, h, s, train.label)
        measures["train_unfairness"] = float(measured)
        measures["test_unfairness"] = float(unfairness(metric, h_test, s_test, test.label))
    attack_set = AttackSet(known.features, known.label, s_known, h_known)
    return Target(train, s, h, attack_set, parts.groups, measures, measured)


def _known_tolerance(cell: Cell, target: Target) -> Fraction:
    """Return the tolerance told to the adversary: the one trained for, raised where the model misses it."""
    return max(as_fraction("tolerance", cell.get("tolerance", 0)), target.unfairness)


def _published(value: Fraction) -> dict[str, dict[str, Fraction]]:
    """Return the bounds of one who knows the training unfairness itself: to three decimals, and exactly (III-B)."""
    unit = Fraction(1, 10**PUBLISHED_DECIMALS)
    rounded = round(value / unit) * unit
    return {
        "corrected_rounded": {
            "tolerance": min(rounded + unit / 2, Fraction(1)),
            "at_least": max(rounded - unit / 2, Fraction(0)),
        },
        "corrected_exact": {"tolerance": value, "at_least": value},
    }


def _score(name: str, group: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return the share of right guesses, and its mean over the groups, which calling all the same leaves at 1 / k."""
    right = group == truth
    by_group = [right[truth == value].mean() for value in np.unique(truth)]
    return {name: float(right.mean()), f"{name}_balanced": float(np.mean(by_group))}


def _informed(cell: Cell, attack: Adversary, view: ReconstructionView, guess: Guess, target: Target) -> dict[str, Any]:
    """Correct a guess by the metric and the tolerance that the target was trained for, and by its exact unfairness."""
    metric, tolerance, truth = cell["fairness"], _known_tolerance(cell, target), target.group
    found = attack.correct(guess, view, metric, tolerance)
    changed = found.corrected.group != guess.group
    out = _score("corrected", found.corrected.group, truth) | {
        "changes": found.corrected.changes,
        "changes_right": float((found.corrected.group == truth)[changed].mean()) if changed.any() else 1.0,
        "correction": found.corrected.status,
        "exponent": found.exponent,
        "known_tolerance": float(tolerance),
        "baseline_unfairness": float(unfairness(metric, target.predictions, guess.group, target.train.label)),
    }
    out["improvement"] = out["corrected"] - float((guess.group == truth).mean())
    if metric != "EOdds" and target.groups == 2 and attack.corrector == "exact":
        for name, bounds in _published(target.unfairness).items():
            again = attack.correct(guess, view, metric, **bounds)
            out |= {name: float((again.corrected.group == truth).mean()), f"{name}_exponent": again.exponent}
    return out


def _without_forest_or_fairness(
    attack: Adversary, view: ReconstructionView, guess: Guess, target: Target, metric: str, tolerance: Fraction
) -> dict[str, Any]:
    """Return what the attack set's base rate alone gives, and what it adds: before and after the same correction.

    `majority` knows the base rate and nothing else, `reweighted` is the balanced guess with the base rate put back.
    """
    shares, truth = group_shares(view.attack_set.group, view.groups), target.group
    blind, weighted, by_odds = guess.blind(shares), guess.knowing(shares), replace(attack, costs="log_odds")
    corrected = {
        "majority_corrected": attack.correct(blind, view, metric, tolerance, exponent=0),
        "corrected_log_odds": by_odds.correct(guess, view, metric, tolerance),
        "reweighted_corrected": attack.correct(weighted, view, metric, tolerance),
        "reweighted_log_odds": by_odds.correct(weighted, view, metric, tolerance),
    }
    out = _score("majority", blind.group, truth) | _score("reweighted", weighted.group, truth)
    for name, found in corrected.items():
        out |= _score(name, found.corrected.group, truth)
    return out


def attack_target(
    cell: Cell, attack: Adversary, view: ReconstructionView, guess: Guess, target: Target
) -> dict[str, Any]:
    """Correct a guess by each kind of fairness information and score it against the truth."""
    metric = cell.get("fairness")
    out: dict[str, Any] = _score("baseline", guess.group, target.group)
    if metric is not None:
        out |= _informed(cell, attack, view, guess, target)
    estimated, tolerance = estimate_constraint(view.attack_set)
    found = attack.correct(guess, view, estimated, tolerance)
    out |= _score("corrected_estimated", found.corrected.group, target.group) | {
        "estimated_metric": estimated,
        "estimated_tolerance": float(tolerance),
        "estimated_correction": found.corrected.status,
        "estimated_exponent": found.exponent,
        "metric_detected": float(estimated == metric) if metric is not None else float("nan"),
    }
    out["improvement_estimated"] = out["corrected_estimated"] - out["baseline"]
    if attack.corrector == "exact":  # the others take seconds for each of some hundred corrections
        known = (estimated, tolerance) if metric is None else (metric, _known_tolerance(cell, target))
        out |= _without_forest_or_fairness(attack, view, guess, target, *known)
    return out


@register
@dataclass(frozen=True)
class ReconstructionCorrection(Protocol):
    """Sensitive attributes of a fair model's training set: guessed, then corrected by the fairness it is known for."""

    name: ClassVar[str] = "reconstruction_correction"
    paper: ClassVar[str] = "ferry2023"
    presented_by: ClassVar[str] = "fairpriv.report.ferry2023"
    shared: ClassVar[tuple[str, ...]] = ("attack", "tolerance")
    accepts: ClassVar[Mapping[str, type]] = {"attack": Adversary, "defense": FairLearner, "model": Model}
    least_rows: ClassVar[int] = 30  # thirds for training, test and attack

    @classmethod
    def shared_by(cls, cell: Cell) -> tuple[str, ...]:
        """Return the axes along which cells are computed together: A's forest serves all targets without a tolerance.

        Those with one are slow to train, and one metric's tolerances are enough to share a forest.
        """
        return cls.shared if cell.get("tolerance") is not None else (*cls.shared, "fairness", "defense")

    def validate(self, cell: Cell) -> None:
        """Refuse a cell before anything runs."""
        super().validate(cell)
        choice("sensitive", cell.get("sensitive", "binary"), SENSITIVE)
        if not hasattr(cell.plugin("model"), "fit_classes"):
            raise BadRequest("model must be random_forest or another that learns any number of classes")
        if cell.get("tolerance") is not None:
            number("tolerance", cell["tolerance"], at_least=0, at_most=1)
        cell.plugin("defense").check(cell.get("fairness"), cell.get("tolerance"))

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Split once, train each target once, and each attack model once: A's is the same for every target."""
        parts = split(cells[0], load)
        targets: dict[str, Target] = {}
        guesses: dict[str, Guess] = {}
        results = []
        for cell in cells:
            trained = canonical([cell.plugins["defense"], cell.get("fairness"), cell.get("tolerance")])
            if trained not in targets:
                targets[trained] = make_target(cell, parts)
            target, attack = targets[trained], cell.plugin("attack")
            train = target.train
            view = ReconstructionView(
                train.features, train.label, target.predictions, target.attack_set, cell.plugin("model"), target.groups
            )
            rng = cell.rng("attack model", "dataset", "sensitive", "attack", "model")
            # A does not look at predictions
            learnt = canonical([cell.plugins["attack"], trained if attack.sees_predictions else None])
            if learnt not in guesses:
                guesses[learnt] = attack.learn(view, rng)
            learner = guesses[learnt].learner
            forest = {p: getattr(learner, p) for p in ("max_depth", "min_samples_leaf", "max_features")}
            forest = {f"forest_{p}": -1 if v is None else v for p, v in forest.items()}
            found = attack_target(cell, attack, view, guesses[learnt], target)
            results.append(Result(target.measures | found | forest | {"train_rows": len(train)}))
        return results
