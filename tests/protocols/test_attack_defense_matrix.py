"""experiment=attack_defense_matrix: which pairs make sense, what plug-ins from outside get, and the games."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fairpriv import config
from fairpriv.attacks.inference.base import Known, Law, RecordsView
from fairpriv.config.every import expanded, family_members
from fairpriv.datasets import load
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.mechanisms.ldp.seen import seen_likelihood
from fairpriv.protocols.matrix.channels import channel_of, given_by, why_not
from fairpriv.registry import build, find, names
from fairpriv.report.attack_defense_matrix.tables import tables

# bayes_values guesses values and no groups: ldp_leakage plays it. The other is ldp_collection by other hashes.
ELSEWHERE = {"bayes_values", "ldp_independent_hashing"}


def smoke(*words):
    config.start()
    return config.plan(["experiment=attack_defense_matrix", "profile=smoke", *words]).cells


def played(cells):
    protocol = build("protocols", "attack_defense_matrix")
    params = dict(cells[0].plugins["dataset"])
    data = load(params.pop("name"), params)
    return [r.metrics for r in protocol.run(cells, lambda cell: data)]


def test_every_plugin_is_of_a_known_family_and_every_other_pair_has_its_reason():
    attacks, defenses = ([find(kind, n) for n in names(kind)[0]] for kind in ("attacks", "defenses"))
    own = [c for c in (*attacks, *defenses) if c.__module__.startswith("fairpriv.") and c.name not in ELSEWHERE]
    assert all(channel_of(c) or given_by(c) for c in own)
    for attack, defense in itertools.product(attacks, defenses):
        fits = channel_of(attack) in given_by(defense) and bool(channel_of(attack))
        if why_not(attack, defense) == "":
            assert fits
        elif fits:
            assert "law" in why_not(attack, defense)


@pytest.mark.parametrize("profile", ["quick", "paper"])
def test_the_grid_holds_every_family(profile):
    config.start()
    products = config.grids_of("attack_defense_matrix")[1][profile]
    used = {axis: {v for axes, _ in products for v in axes[axis]} for axis in ("attack", "defense", "dataset")}
    used["defense"].add("fairlearn_adversarial")  # needs torch
    for axis in ("attack", "defense"):
        own = {n for n in names(f"{axis}s")[0] if find(f"{axis}s", n).__module__.startswith("fairpriv.")}
        assert own - ELSEWHERE <= used[axis]
    assert used["dataset"] == {"adult", "compas", "german", "lsac", "acs_income"}


def test_a_defense_from_outside_is_in_the_matrix(shell):
    """A block that did not hold it would offer it to every block, and pairs that make no sense are refused."""
    words = ("experiment=attack_defense_matrix", "profile=smoke", "defense=toy_defense")
    assert "1 missing" in shell("run", *words, "--dry-run").stdout


def test_families_are_spelled_out():
    assert "reveal_single" in family_members("attack", "Attack")
    assert "adversary_xy" not in family_members("attack", "Attack")
    inference = expanded("a", "attack", {"every": "InferenceAttack", "but": ["LikelihoodAttack"], "also": ["x"]})
    assert inference == ["attribute_inference", "x"]
    assert expanded("a", "defense.tune", {"every": 1}) == {"every": 1}
    with pytest.raises(BadRequest, match="unknown family of attack 'Reveal'"):
        expanded("a", "attack", {"every": "Reveal"})
    with pytest.raises(BadRequest, match="must name a family"):
        expanded("a", "attack", {"but": ["x"]})
    with pytest.raises(BadRequest, match="unknown key"):
        expanded("a", "attack", {"every": "Attack", "except": ["x"]})


def test_a_pair_that_makes_no_sense_is_refused_with_the_reason():
    cell = smoke("attack=adversary_xy", "defense=unmitigated")[0]
    bad = type(cell)(cell.protocol, cell.axes, {**cell.plugins, "defense": {"name": "laplace"}}, 0)
    with pytest.raises(BadRequest, match=r"needs a model's predictions.*laplace gives answers to bias queries"):
        build("protocols", "attack_defense_matrix").validate(bad)


@pytest.mark.parametrize("name", list(PROTOCOLS))
def test_the_likelihood_of_what_the_server_sees_is_that_of_the_report(name):
    protocol = PROTOCOLS[name](5, 1.3)
    rng = np.random.default_rng(0)
    reports = protocol.perturb(rng.integers(0, 5, 200), rng)
    np.testing.assert_allclose(seen_likelihood(protocol, protocol.indicator(reports)), protocol.log_likelihood(reports))


def test_bayes_is_as_good_as_the_law_allows_and_a_prior_helps():
    """Randomized response on two values is right e^ε / (1 + e^ε) of the time; a telling feature lifts that."""
    rng = np.random.default_rng(0)
    value, epsilon, n = rng.integers(0, 2, 8000), 1.0, 4000
    others = (value + rng.normal(0, 0.7, 8000))[:, None]
    protocol = PROTOCOLS["grr"](2, epsilon)
    seen = protocol.indicator(protocol.perturb(value, rng))
    known = Known(seen[n:], others[n:], value[n:], value[n:])
    view = RecordsView(seen[:n], others[:n], known, Law(seen_likelihood(protocol, seen[:n]), np.array([0, 1])))
    right = {
        prior: (build("attacks", "bayes_reports", {"prior": prior}).run(view, rng) == value[:n]).mean()
        for prior in ("none", "shares", "features")
    }
    assert right["none"] == right["shares"] == pytest.approx(np.e / (1 + np.e), abs=0.03)
    assert right["features"] > right["none"] + 0.05
    with pytest.raises(BadRequest, match="needs the law"):
        build("attacks", "bayes_reports").run(RecordsView(seen, others, known), rng)


def test_results_do_not_depend_on_companions_and_defenses_hide():
    cells = [c for c in smoke() if c["defense"] in ("none", "laplace", "ldp_collection")]
    groups = [[c for c in cells if c["defense"] == name and c.get("m") is None] for name in ("none", "laplace")]
    exact, noisy = (played(group)[0] for group in groups)
    assert exact["leakage"] == 100
    assert exact["answer_error"] == 0
    assert noisy["leakage"] < 80
    assert noisy["x_leakage"] == exact["x_leakage"]
    ldp = [c for c in cells if c["defense"] == "ldp_collection"]
    together = played(ldp)
    assert [played([c])[0] for c in ldp[-2:]] == together[-2:]
    for found in together:
        assert found["leakage"] == pytest.approx((found["leakage_0"] + found["leakage_1"]) / 2)


def test_tables_name_the_strongest_attack_and_the_pairs():
    cells = [c for c in smoke() if c["defense"] in ("none", "threshold_optimizer")]
    by = {
        name: [c for c in cells if c["defense"] == name and c.get("m") is None]
        for name in ("none", "threshold_optimizer")
    }
    rows = pd.DataFrame([dict(c.axes) | {"seed": 0} | m for group in by.values() for c, m in zip(group, played(group))])
    made = tables(rows)
    best = made["defenses"].set_index("defended")
    model = made["matrix"][made["matrix"]["channel"] == "model"]
    assert best.loc["threshold_optimizer", "leakage"] == model["leakage"].max()
    pairs = made["pairs"].set_index(["attack", "defense"])
    assert pairs.loc[("reveal_single", "none"), "cells"] == 1
    assert "gives answers" in pairs.loc[("adversary_xy", "none"), "why_not"]
    assert set(made["the_defense_to_choose"]["keep"]) == {"utility", "fairness", "secrecy", "all three"}
