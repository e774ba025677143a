"""The three games, one a channel: what an attack makes of what a defense lets out."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairpriv.attacks.correction.base import Adversary, AttackSet, Guess, ReconstructionView
from fairpriv.cells import Cell
from fairpriv.datasets.split import stratified_split
from fairpriv.desk import ComplianceDesk
from fairpriv.metrics.gaps import fairness_gap
from fairpriv.metrics.leakage import sp_error
from fairpriv.metrics.unfairness import unfairness
from fairpriv.models.random_forest import RandomForest
from fairpriv.protocols.matrix.people import People, scored
from fairpriv.protocols.matrix.released import Released

KNOWS = ("nothing", "shares", "fairness", "fairness+shares")  # what A and A′ correct their guess by
CARD = Fraction(1, 1000)  # a model card gives statistical parity on the training set to three decimals
MARGIN = 0.01  # by which the shares of the known part may be off
FOREST = RandomForest(trees=50)


def quality(predicted: np.ndarray, people: People) -> dict[str, float]:
    """Return utility and fairness of predictions on the test part."""
    label, group = people.data.label[people.test], people.data.group[people.test]
    right = predicted == label
    h = predicted[None].astype(float)
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[label == y].mean() for y in (0, 1)])),
        "gap_sp": float(fairness_gap("abs_sp", h, group, label)[0]),
        "gap_eodds": float(fairness_gap("abs_eodds", h, group, label).max()),
    }


def reconstruction_view(people: People, released: Released) -> ReconstructionView:
    """Return what A and A′ may see of the training part."""
    data, known = people.data, people.known
    frame = data.features
    attack_set = AttackSet(frame.iloc[known], data.label[known], data.group[known].astype(int), released.known)
    rows = people.train
    return ReconstructionView(frame.iloc[rows], data.label[rows], released.train, attack_set, FOREST)


def _shares(attack_set: AttackSet) -> tuple[dict[str, Any], ...]:
    """Return how large group 1 is, as a constraint that holds of everyone and within each label."""
    slices = [attack_set.group, *(attack_set.group[attack_set.label == y] for y in (0, 1))]
    found = [float(part.mean()) for part in slices]
    bounds = {"at_least": max(0.0, min(found) - MARGIN), "at_most": min(1.0, max(found) + MARGIN)}
    return ({"proportion": {"group": 1, **bounds}},)


def corrected(
    attack: Adversary, guess: Guess, view: ReconstructionView, knows: str, truth: Fraction
) -> tuple[np.ndarray, str]:
    """Return a guess corrected by what the adversary knows, and how the correction went."""
    if knows == "nothing":
        return guess.group, ""
    if "shares" in knows:
        attack = replace(attack, constraints=(*attack.constraints, *_shares(view.attack_set)))
    bounds: dict[str, Any] = {"tolerance": Fraction(1)}
    if "fairness" in knows:
        said = round(truth / CARD) * CARD
        bounds = {"tolerance": min(said + CARD / 2, Fraction(1))}
        if attack.corrector == "exact":  # the others take no bound from below
            bounds["at_least"] = max(said - CARD / 2, Fraction(0))
    found = attack.correct(guess, view, "SP", **bounds).corrected
    return found.group, found.status


def true_unfairness(people: People, released: Released) -> Fraction:
    """Return what the model card says before it is rounded: statistical parity on the training part."""
    rows = people.train
    return unfairness("SP", released.train, people.data.group[rows], people.data.label[rows])


@dataclass(frozen=True, eq=False)
class Asked:
    """Those a desk is asked about: some of the test part, with the base model's outputs and what X alone tells."""

    label: np.ndarray
    group: np.ndarray
    base: np.ndarray
    from_x: np.ndarray
    quality: dict[str, float]

    @classmethod
    def of(cls, cell: Cell, people: People) -> "Asked":
        """Draw them; the base model is trained on the training part."""
        data, train = people.data, people.train
        share = cell["n"] / len(people.test)
        (some,) = stratified_split(data.group[people.test], [share], cell.rng("people asked about", "dataset", "n"))
        rows, rng = people.test[some], cell.rng("base model", "dataset", "model")
        model = cell.plugin("model").fit(data.features.iloc[train], data.label[train], rng)
        score = model(data.features.iloc[people.test])
        return cls(
            data.label[rows],
            data.group[rows].astype(int),
            score[some],
            people.from_x_alone(rows, cell.rng("from x alone", "dataset")),
            quality((score > 0.5).astype(int), people),
        )


def ask_the_desk(cell: Cell, attack: Any, defense: Any, about: Asked) -> dict[str, Any]:
    """Let an attack ask a desk."""
    # all decoders of the same questions get the same answers
    noise = cell.rng(f"noise for {attack.name}", "dataset", "n", "m", "defense", "epsilon")
    desk = ComplianceDesk(about.group, about.label, defense, noise)
    found = attack.run(desk.view(about.base), cell.rng("queries", "dataset", "n", "m"))
    asked = max(desk.asked, key=lambda a: len(a.truth))
    error = sp_error(asked.answers, asked.truth, (0.0, 1.0) if asked.metric.startswith("abs_") else (-1.0, 1.0))
    return (
        about.quality
        | scored(found.group, about.from_x, about.group)
        | {
            "epsilon_promised": float(defense.epsilon),
            "answer_error": error["clipped_mean"],
            "queries": found.queries,
        }
    )
