"""The widest gaps between crossed groups, against a slow obvious count."""

import numpy as np
import pytest

from fairpriv.metrics.group_fairness import group_fairness
from fairpriv.metrics.intersections import LEAST, intersection, intersection_gaps


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    sex, race = rng.choice(["f", "m"], n), rng.choice(["x", "y", "z"], n, p=[0.6, 0.39, 0.01])
    return sex, race, rng.integers(0, 2, n), rng.integers(0, 2, n)


def test_gaps_are_those_of_the_worst_pair_of_groups_that_are_large_enough():
    sex, race, label, predicted = people()
    group, names = intersection({"sex": sex, "race": race})
    found = intersection_gaps(label, predicted, group, names)
    sp, tpr, acc = {}, {}, {}
    for s, r in {(a, b) for a, b in zip(sex, race)}:
        members = (sex == s) & (race == r)
        if members.sum() >= LEAST:
            sp[f"{s} {r}"], acc[f"{s} {r}"] = predicted[members].mean(), (predicted == label)[members].mean()
        if (members & (label == 1)).sum() >= LEAST:
            tpr[f"{s} {r}"] = predicted[members & (label == 1)].mean()
    assert found.metrics["groups"] == len(sp) == 4  # z is rare
    assert found.metrics["left_out"] == (race == "z").sum()
    for name, rates in (("worst_spd", sp), ("worst_eod", tpr), ("worst_oad", acc)):
        assert found.metrics[name] == pytest.approx(max(rates.values()) - min(rates.values()))
    assert found.metrics["worst_di"] == pytest.approx(min(sp.values()) / max(sp.values()))
    assert found.metrics["least_selected"] == min(sp, key=sp.get)
    assert found.rates["size"].sum() == len(label)


def test_one_attribute_alone_gives_the_gaps_of_group_fairness():
    sex, _, label, predicted = people()
    group, names = intersection({"sex": sex})
    found, fair = (
        intersection_gaps(label, predicted, group, names).metrics,
        group_fairness(label, predicted, sex == "m")[0],
    )
    for crossed, alone in (("worst_spd", "spd"), ("worst_eod", "eod"), ("worst_oad", "oad")):
        assert found[crossed] == pytest.approx(abs(fair[alone]))


def test_crossed_gaps_are_no_narrower():
    sex, race, label, predicted = people(seed=1)
    common = race != "z"
    whole = intersection_gaps(label[common], predicted[common], *intersection({"s": sex[common], "r": race[common]}))
    alone = intersection_gaps(label[common], predicted[common], *intersection({"s": sex[common]}))
    assert whole.metrics["worst_spd"] >= alone.metrics["worst_spd"]


def test_too_few_people_give_no_gap():
    found = intersection_gaps(np.ones(10), np.ones(10), np.zeros(10, int), ["all"])
    assert found.metrics["groups"] == 0
    assert np.isnan(found.metrics["worst_spd"])
