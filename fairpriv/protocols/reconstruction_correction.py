"""The experiments of ferry2023: reconstruct a sensitive attribute, then correct it by the model's fairness."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from fairpriv.attacks.correction.base import Adversary, AttackSet, Guess, ReconstructionView, estimate_constraint
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.split import stratified_split
from fairpriv.defenses.fair_learner.base import FairLearner
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import as_fraction, unfairness
from fairpriv.models.base import Model
from fairpriv.protocols.base import Protocol, Result
from fairpriv.registry import register
from fairpriv.validate import choice, number

SENSITIVE = ("binary", "values")
PUBLISHED_DECIMALS = 3


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


def make_target(cell: Cell, load: Callable[[Cell], Dataset]) -> Target:
    """Split in thirds for training, test and attack (IV-B) and train the target."""
    data = load(cell)
    group, groups = _sensitive(cell, data)
    parts = stratified_split(data, [1 / 3] * 3, cell.rng("split", "dataset", "sensitive"), by="none")
    rng = cell.rng("target", "dataset", "sensitive", "defense", "fairness", "tolerance")
    (train, s), (test, s_test), (known, s_known) = ((data.take(rows), group[rows]) for rows in parts)
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
    return Target(train, s, h, AttackSet(known.features, known.label, s_known, h_known), groups, measures, measured)


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


def attack_target(
    cell: Cell, attack: Adversary, view: ReconstructionView, guess: Guess, target: Target
) -> dict[str, Any]:
    """Correct a guess by each kind of fairness information and score it against the truth."""

    def accuracy(group: np.ndarray) -> float:
        return float((group == target.group).mean())

    out: dict[str, Any] = {"baseline": accuracy(guess.group)}
    metric = cell.get("fairness")
    if metric is not None:
        tolerance = _known_tolerance(cell, target)
        found = attack.correct(guess, view, metric, tolerance)
        changed = found.corrected.group != guess.group
        out |= {
            "corrected": accuracy(found.corrected.group),
            "improvement": accuracy(found.corrected.group) - out["baseline"],
            "changes": found.corrected.changes,
            "changes_right": float((found.corrected.group == target.group)[changed].mean()) if changed.any() else 1.0,
            "correction": found.corrected.status,
            "exponent": found.exponent,
            "known_tolerance": float(tolerance),
            "baseline_unfairness": float(unfairness(metric, target.predictions, guess.group, target.train.label)),
        }
        if metric != "EOdds" and target.groups == 2 and attack.corrector == "exact":
            for name, bounds in _published(target.unfairness).items():
                again = attack.correct(guess, view, metric, exponent=found.exponent, **bounds)
                out[name] = accuracy(again.corrected.group)
    estimated, tolerance = estimate_constraint(view.attack_set)
    found = attack.correct(guess, view, estimated, tolerance)
    return out | {
        "corrected_estimated": accuracy(found.corrected.group),
        "improvement_estimated": accuracy(found.corrected.group) - out["baseline"],
        "estimated_metric": estimated,
        "estimated_tolerance": float(tolerance),
        "estimated_correction": found.corrected.status,
        "estimated_exponent": found.exponent,
        "metric_detected": float(estimated == metric) if metric is not None else float("nan"),
    }


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
        """Train each target once, attack it by each adversary."""
        targets: dict[Any, Target] = {}
        guesses: dict[str, Guess] = {}
        results = []
        for cell in cells:
            tolerance = cell.get("tolerance")
            if tolerance not in targets:
                targets[tolerance] = make_target(cell, load)
            target, attack = targets[tolerance], cell.plugin("attack")
            train = target.train
            view = ReconstructionView(
                train.features, train.label, target.predictions, target.attack_set, cell.plugin("model"), target.groups
            )
            rng = cell.rng("attack model", "dataset", "sensitive", "attack", "model")
            # A does not look at predictions: its guess is the same for every tolerance
            key = f"{sorted(cell.plugins['attack'].items())}, {tolerance if attack.sees_predictions else None}"
            if key not in guesses:
                guesses[key] = attack.learn(view, rng)
            learner = guesses[key].learner
            forest = {p: getattr(learner, p) for p in ("max_depth", "min_samples_leaf", "max_features")}
            forest = {f"forest_{p}": -1 if v is None else v for p, v in forest.items()}
            found = attack_target(cell, attack, view, guesses[key], target)
            results.append(Result(target.measures | found | forest | {"train_rows": len(train)}))
        return results
