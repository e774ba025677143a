"""What the decisions themselves give away: groups inferred from them, and corrected by what is known of fairness."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from fairpriv.assessment.groups import Comparison
from fairpriv.assessment.people import People, some_of
from fairpriv.attacks.correction.adversary_xy import AdversaryXY
from fairpriv.attacks.correction.adversary_xyh import AdversaryXYH
from fairpriv.attacks.correction.base import Adversary, AttackSet, Guess, ReconstructionView
from fairpriv.datasets.split import stratified_split
from fairpriv.metrics.leakage import leakage
from fairpriv.metrics.unfairness import unfairness
from fairpriv.models.random_forest import RandomForest
from fairpriv.seeds import stream

MOST = 3000  # people attacked and known; of more, a sample
EXPONENTS = (1, 2, 4, 8, 16)  # of confidences; 0, the first of equals, would throw away who is surely guessed


def _part(people: People, group: np.ndarray, rows: np.ndarray) -> AttackSet:
    features = people.features.iloc[rows].reset_index(drop=True)
    return AttackSet(features, people.label[rows], group[rows].astype(int), people.decision[rows].astype(int))


def _row(title: str, knows: str, guessed: np.ndarray, truth: np.ndarray, status: str = "") -> dict[str, Any]:
    smaller = int(np.bincount(truth, minlength=2).argmin())
    return {
        "attack": title,
        "knows": knows,
        "leakage": leakage(guessed, truth),
        "leakage_of_all_people": 100 * float((guessed == truth).mean()),
        "leakage_of_smaller_group": 100 * float((guessed == truth)[truth == smaller].mean()),
        "correction": status,
    }


def _table_known(attack: Adversary, view: ReconstructionView, truth: np.ndarray) -> Adversary:
    """Return an adversary who knows how many are in each group and at which rate it is selected, exactly."""
    known: list[dict[str, Any]] = []
    for g in (0, 1):
        inside = truth == g
        share = Fraction(int(inside.sum()), len(truth))
        rate = Fraction(int(view.predictions[inside].sum()), int(inside.sum()))
        known += [
            {kind: {"group": g, "at_least": x, "at_most": x}} for kind, x in (("proportion", share), ("rate", rate))
        ]
    return replace(attack, constraints=tuple(known))


def _corrected(
    attack: Adversary, guess: Guess, view: ReconstructionView, truth: np.ndarray, title: str, knows: str
) -> list[dict[str, Any]]:
    """Correct a guess by the published unfairness, and by the published table."""
    exact = unfairness("SP", view.predictions, truth, view.label)
    by_gap = attack.correct(guess, view, "SP", exact, at_least=exact)
    table = _table_known(attack, view, truth)
    by_table = table.correct(guess, view, "SP", Fraction(1), exponent=by_gap.exponent)
    ways = (
        (by_gap, "corrected by the gap", "the gap in selection rates"),
        (by_table, "corrected by the table", "the table of rates and sizes of the groups"),
    )
    return [
        _row(f"{title}, {how}", f"{knows}, and {what}", found.corrected.group, truth, found.corrected.status)
        for found, how, what in ways
    ]


def inference(people: People, comparison: Comparison, seed: int) -> list[dict[str, Any]]:
    """Return a row an attacker: one who knows the groups of half of the people guesses those of the other half.

    Attackers A and A′ of ferry2023 learn from features and outcomes, and from decisions as well; then each corrects the
    guess by what was published about the decisions. The first row is one who calls everybody a member of the larger
    group.
    """
    rng = stream("assess", "inference", comparison.name, seed)
    rows = some_of(comparison.group, MOST, rng)
    strata = 2 * people.label[rows] + comparison.group[rows]
    halves: Sequence[np.ndarray] = stratified_split(strata, [0.5, 0.5], rng)
    known, target = (_part(people, comparison.group, rows[half]) for half in halves)
    truth = target.group
    if min(np.bincount(part.group, minlength=2).min() for part in (known, target)) < 4:
        return []
    view = ReconstructionView(
        target.features, target.label, target.predictions, known, RandomForest(trees=60, min_samples_leaf=5)
    )
    larger = int(np.bincount(known.group, minlength=2).argmax())
    out = [_row("guessing", "which group is larger", np.full(len(truth), larger), truth)]
    for attack, knows in (
        (AdversaryXY(exponents=EXPONENTS), "features and outcomes"),
        (AdversaryXYH(exponents=EXPONENTS), "features, outcomes and decisions"),
    ):
        guess = attack.learn(view, stream("assess", attack.name, comparison.name, seed))
        out.append(_row(attack.name, knows, guess.group, truth))
        out += _corrected(attack, guess, view, truth, attack.name, knows)
    return out
