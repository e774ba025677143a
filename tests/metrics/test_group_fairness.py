"""Fairness and utility metrics, against scikit-learn and by hand."""

import math

import numpy as np
import pytest
from sklearn import metrics

from fairpriv.metrics.group_fairness import group_fairness, utility


def test_by_hand():
    label = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    predicted = np.array([1, 1, 1, 0, 1, 0, 0, 0])
    group = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    found, notes = group_fairness(label, predicted, group)
    assert (found["di"], found["spd"], found["eod"], found["oad"]) == pytest.approx((0.25 / 0.75, 0.5, 0.5, 0.0))
    assert notes == ()


def test_against_scikit_learn():
    rng = np.random.default_rng(0)
    label, group = rng.integers(0, 2, (2, 500))
    score = np.clip(0.3 * label + 0.2 * group + rng.normal(0.3, 0.3, 500), 0, 1)
    predicted = score > 0.5
    found, notes = utility(label, predicted, score)
    assert notes == ()
    assert found == pytest.approx(
        {
            "acc": metrics.accuracy_score(label, predicted),
            "f1": metrics.f1_score(label, predicted),
            "balanced_accuracy": metrics.roc_auc_score(label, predicted.astype(int)),  # the paper's "auc"
            "auc": metrics.roc_auc_score(label, score),
            "recall": metrics.recall_score(label, predicted),
        }
    )
    fair, _ = group_fairness(label, predicted, group)
    one, zero = group == 1, group == 0
    assert fair["eod"] == pytest.approx(
        metrics.recall_score(label[one], predicted[one]) - metrics.recall_score(label[zero], predicted[zero])
    )
    assert fair["oad"] == pytest.approx((predicted == label)[one].mean() - (predicted == label)[zero].mean())


@pytest.mark.parametrize(
    ("label", "predicted", "group", "missing", "said"),
    [
        ([1, 0], [1, 0], [1, 1], ("di", "spd", "eod", "oad"), "group 0 is empty"),
        ([1, 0], [1, 0], [0, 0], ("di", "spd", "eod", "oad"), "group 1 is empty"),
        ([1, 0, 0], [0, 1, 0], [1, 0, 1], ("di", "eod"), "no positive predictions in group 1"),
        ([0, 1, 0], [1, 1, 0], [1, 0, 1], ("eod",), "group 1 has no positive labels"),
    ],
)
def test_empty_groups_give_nan_and_a_note(label, predicted, group, missing, said):
    found, notes = group_fairness(*map(np.array, (label, predicted, group)))
    assert {m for m in ("di", "spd", "eod", "oad") if math.isnan(found[m])} == set(missing)
    assert any(said in note for note in notes)


def test_one_class_gives_nan_and_a_note():
    found, notes = utility(np.ones(3), np.array([1, 0, 1]), np.array([0.9, 0.1, 0.8]))
    assert math.isnan(found["auc"])
    assert math.isnan(found["balanced_accuracy"])
    assert found["recall"] == pytest.approx(2 / 3)
    assert notes == ("only one class among the labels: auc undefined",)
    assert math.isnan(utility(np.zeros(2), np.zeros(2), np.zeros(2))[0]["f1"])
