"""Equality of odds by hand."""

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.metrics.odds import intersectional, intersections, odds

#             group 0            group 1
LABEL = np.array([1, 1, 0, 0, 1, 1, 0, 0])
GROUP = np.array([0, 0, 0, 0, 1, 1, 1, 1])
GUESS = np.array([1, 0, 0, 0, 1, 1, 1, 0])


def test_signed_average_and_norm():
    found = odds(GUESS, LABEL, GROUP)
    assert (found.tpr, found.fpr) == (-0.5, -0.5)
    assert found.average == -0.5
    assert found.norm == pytest.approx(np.sqrt(0.5))
    turned = odds(GUESS, LABEL, 1 - GROUP)
    assert turned.average == 0.5
    assert turned.norm == found.norm


def test_gaps_of_opposite_sign_cancel_in_the_average_only():
    found = odds(np.array([1, 1, 0, 0, 1, 0, 1, 0]), LABEL, GROUP)
    assert found.average == 0.0
    assert found.norm > 0.7


def test_empty_group_is_refused():
    with pytest.raises(BadRequest, match="no one with label 0 in group 0 of race"):
        odds(GUESS, LABEL, np.array([0, 0, 1, 1, 1, 1, 1, 1]), "race")


def test_intersections_hide_from_single_attributes():
    a, b = np.array([0, 0, 1, 1] * 4), np.array([0, 1, 0, 1] * 4)
    label = np.repeat([1, 1, 0, 0], 4)
    guess = (a ^ b).astype(int)  # fair to each attribute, not to their crossings
    assert odds(guess, label, a).norm == odds(guess, label, b).norm == 0
    worst = intersectional(guess, label, {"a": a, "b": b})
    assert worst == {"tpr": 1.0, "fpr": 1.0, "norm": pytest.approx(np.sqrt(2)), "groups": 4}
    assert sorted(set(intersections({"a": a, "b": b}))) == [0, 1, 2, 3]


def test_crossings_without_a_label_are_left_out():
    worst = intersectional(GUESS, LABEL, {"a": GROUP, "b": np.array([0, 0, 0, 0, 0, 0, 0, 1])})
    assert worst["groups"] == 2
    with pytest.raises(BadRequest, match="fewer than two"):
        intersectional(GUESS, LABEL, {"a": LABEL})
