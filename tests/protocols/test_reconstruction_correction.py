"""The protocol of ferry2023 on made-up data: pure, blind to the secret, honest in its checks."""

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from fairpriv import datasets, registry
from fairpriv.attacks.correction.base import (
    AttackSet,
    Guess,
    ReconstructionView,
    estimate_constraint,
    log_odds,
    scaled,
)
from fairpriv.cells import Cell
from fairpriv.errors import BadRequest
from fairpriv.metrics.unfairness import unfairness
from fairpriv.report.ferry2023 import checks, figures, tables
from fairpriv.runner.driver import tasks_of

ATTACKS = ("adversary_xy", "adversary_xyh")
DATA = {"name": "synthetic", "n": 900, "n0": 300, "proxy": 0.4, "n_features": 6}


def cell(attack="adversary_xyh", defense="exponentiated_gradient", fairness="SP", tolerance=0.0, seed=0, **more):
    plugins = {
        "dataset": DATA,
        "attack": {"name": attack, "exponents": 12} | more.pop("attack_params", {}),
        "defense": {"name": defense},
        "model": {"name": "random_forest", "trees": 10} | more.pop("model_params", {}),
    }
    axes = {"dataset": "synthetic", "attack": attack, "defense": defense, "fairness": fairness, "tolerance": tolerance}
    return Cell("reconstruction_correction", axes | more, plugins, seed)


def load(one):
    params = dict(one.plugins["dataset"])
    return datasets.load(params.pop("name"), params)


def run(*cells):
    protocol = registry.build("protocols", "reconstruction_correction")
    for one in cells:
        protocol.validate(one)
    return [r.metrics for r in protocol.run(cells, load)]


def test_a_cell_does_not_depend_on_its_companions():
    cells = [cell(a, tolerance=t) for t in (0.0, 0.1) for a in ("adversary_xy", "adversary_xyh")]
    cells += [
        cell("adversary_xy", "threshold_optimizer", "PE", None),
        cell("adversary_xyh", "threshold_optimizer", "PE", None),
        cell("adversary_xy", "unmitigated", None, None),
    ]
    together = run(*cells)
    alone = [run(c)[0] for c in cells]
    for one, other in zip(together, alone):
        assert repr(one) == repr(other)
    # A does not look at predictions
    assert together[0]["baseline"] == together[2]["baseline"] == together[4]["baseline"] == together[6]["baseline"]


def test_each_target_and_attack_model_is_trained_once(monkeypatch):
    trained = []
    learner, forest = (registry.find(k, n) for k, n in (("defenses", "threshold_optimizer"), ("models", "random_forest")))
    for cls, verb in ((learner, "fit"), (forest, "fit_classes")):
        real = getattr(cls, verb)
        monkeypatch.setattr(cls, verb, lambda self, *a, _real=real, _verb=verb: trained.append(_verb) or _real(self, *a))
    run(*(cell(a, "threshold_optimizer", m, None) for m in ("SP", "EO") for a in ("adversary_xy", "adversary_xyh")))
    assert trained.count("fit") == 2  # a target a metric
    assert trained.count("fit_classes") == 3  # A's once, A′'s for each target
    cells = [cell(a, d, m, None) for d, m in (("threshold_optimizer", "SP"), ("unmitigated", None)) for a in ATTACKS]
    assert len(tasks_of(cells, set(range(4)))) == 1  # and the runner hands them over together


def test_what_the_base_rate_gives_is_reported():
    (row,) = run(cell(defense="threshold_optimizer", tolerance=None))
    assert row["majority_balanced"] == 0.5
    assert row["majority"] == pytest.approx(row["majority_share"])
    for name in ("baseline", "corrected", "corrected_log_odds", "reweighted", "reweighted_corrected"):
        assert 0.4 < row[name] <= 1
        assert 0.4 < row[f"{name}_balanced"] <= 1
    (slow,) = run(cell(attack_params={"corrector": "cp_sat_efficient", "exponents": [1]}))
    assert "reweighted" not in slow


def test_seeds_differ_and_repeat():
    one, again, other = (run(cell(seed=s))[0] for s in (0, 0, 1))
    assert one == again
    assert one != other


def test_what_is_reported_is_consistent():
    (row,) = run(cell(tolerance=0.02))
    assert row["correction"] == "optimal"
    assert row["improvement"] == pytest.approx(row["corrected"] - row["baseline"])
    assert row["known_tolerance"] == max(0.02, row["train_unfairness"])
    gain = row["changes"] * (2 * row["changes_right"] - 1) / row["train_rows"]
    assert gain == pytest.approx(row["improvement"])
    assert row["metric_detected"] == (row["estimated_metric"] == "SP")


def test_learners_without_a_metric_are_attacked_by_estimate():
    (row,) = run(cell(defense="correlation_remover", fairness=None, tolerance=None))
    assert "corrected" not in row
    assert row["corrected_estimated"] == pytest.approx(row["baseline"] + row["improvement_estimated"])


def test_all_values_of_the_attribute():
    (row,) = run(cell(defense="threshold_optimizer", tolerance=None, sensitive="values"))
    (binary,) = run(cell(defense="threshold_optimizer", tolerance=None, sensitive="binary"))
    assert row["majority_share"] == pytest.approx(binary["majority_share"], abs=0.06)


def test_the_view_has_no_secret():
    assert not {"group", "sensitive"} & {f.name for f in fields(ReconstructionView)}


def a_view(seed=0, flip=False):
    rng = np.random.default_rng(seed)
    s = rng.integers(0, 2, 600)
    x = pd.DataFrame({"a": s + rng.standard_normal(600), "b": rng.standard_normal(600)})
    y = (x["a"] + rng.standard_normal(600) > 0.5).to_numpy().astype(int)
    h = rng.integers(0, 2, 600)  # fair to all
    known = AttackSet(x[300:], y[300:], s[300:], h[300:])
    forest = registry.build("models", "random_forest", {"trees": 20})
    return ReconstructionView(x[:300], y[:300], h[:300], known, forest, 2, "SP", Fraction(1, 100)), s[:300]


def test_attack_corrects_to_the_tolerance():
    view, secret = a_view()
    found = registry.build("attacks", "adversary_xy", {"exponents": [0, 3]}).run(view, np.random.default_rng(0))
    assert unfairness("SP", view.predictions, found.corrected.group, view.label) <= Fraction(1, 100)
    assert (found.guess.group == secret).mean() > 0.6
    assert found.exponent in (0, 3)
    assert len(found.guess.held_out) == 75


def test_constraints_reach_the_correction():
    view, _ = a_view()
    known = [{"proportion": {"group": 1, "at_least": 0.7, "at_most": 0.72}}]
    attack = registry.build("attacks", "adversary_xy", {"exponents": [1], "constraints": known})
    found = attack.run(view, np.random.default_rng(0))
    assert 0.7 <= found.corrected.group.mean() <= 0.72


def test_estimated_constraint_is_the_least_unfair_metric():
    view, _ = a_view()
    metric, tolerance = estimate_constraint(view.attack_set)
    k = view.attack_set
    every = {m: unfairness(m, k.predictions, k.group, k.label) for m in ("SP", "PE", "EO", "EOdds")}
    assert tolerance == min(every.values()) == every[metric]


def test_confidence_is_scaled_to_one_and_two():
    confidence = scaled(np.array([[0.5, 0.5], [0.1, 0.9], [0.7, 0.3]]))
    np.testing.assert_allclose(confidence, [1, 2, 1.5])
    np.testing.assert_array_equal(scaled(np.full((3, 2), 0.5)), np.ones(3))


def test_log_odds_are_a_column_a_group_where_there_are_more_than_two():
    np.testing.assert_allclose(log_odds(np.array([[0.2, 0.8], [0.5, 0.5], [1.0, 0.0]])), np.log([4, 1, 1000]))
    costs = log_odds(np.array([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(np.exp(costs), [[2.5, 1, 5 / 3], [1000, 1000, 1]])


def test_the_base_rate_is_put_back_by_bayes():
    rng = np.random.default_rng(0)
    shares, law = np.array([0.9, 0.1]), np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])  # P(s), P(x | s)
    balanced = (law / law.sum(axis=0)).T  # what a balanced loss learns of each x
    true = (law * shares[:, None] / (shares @ law)).T
    guess = Guess(balanced, rng.permutation(2), balanced[:2], None)
    np.testing.assert_allclose(guess.knowing(shares).probabilities, true)
    np.testing.assert_array_equal(guess.knowing(shares).group, [0, 0, 0])
    np.testing.assert_array_equal(guess.blind(shares).group, [0, 0, 0])
    assert guess.blind(shares).held_probabilities.shape == (2, 2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tolerance": 1.5}, "tolerance must be <= 1"),
        ({"fairness": "DP"}, "must be one of SP, PE, EO, EOdds"),
        ({"defense": "none"}, "cannot use defense=none"),
        ({"sensitive": "all"}, "sensitive must be one of binary, values"),
        ({"attack_params": {"corrector": "x"}}, "corrector must be one of"),
        ({"attack_params": {"held_out": 1}}, "held_out must be < 1"),
        ({"attack_params": {"exponents": 0}}, "exponents must be >= 1"),
        ({"attack_params": {"exponents": []}}, "at least one exponent"),
        ({"attack_params": {"constraints": [{"x": {}}]}}, "unknown constraint"),
        ({"model_params": {"tune": {"trial": 3}}}, "unknown key of tune"),
        ({"model_params": {"tune": {"trials": -1}}}, "tune.trials must be >= 0"),
    ],
)
def test_bad_cells_are_refused(more, message):
    with pytest.raises(BadRequest, match=message):
        registry.build("protocols", "reconstruction_correction").validate(cell(**more))


def test_tuning_is_repeatable_and_reported():
    params = {"model_params": {"tune": {"trials": 3}}}
    one, two = (run(cell("adversary_xy", **params))[0] for _ in range(2))
    assert one == two
    assert one["forest_max_depth"] >= 4


def rows(gain_tight=0.03, gain_loose=0.01, eo=0.001, exact=0.01):
    out = []
    for metric in ("SP", "PE", "EO", "EOdds"):
        for tolerance, gain in ((0.0, gain_tight), (0.2, gain_loose)):
            gain = eo if metric == "EO" else gain
            for attack in ("adversary_xy", "adversary_xyh"):
                for seed in (0, 1):
                    out.append(
                        {
                            **{
                                "dataset": "adult",
                                "defense": "exponentiated_gradient",
                                "fairness": metric,
                                "seed": seed,
                            },
                            **{"tolerance": tolerance, "attack": attack, "status": "done", "baseline": 0.8},
                            **{"corrected": 0.8 + gain, "improvement": gain, "improvement_estimated": gain / 2},
                            **{
                                "corrected_estimated": 0.8 + gain / 2,
                                "estimated_metric": "PE",
                                "exponent": 3,
                                "changes": 9,
                            },
                            **{"metric_detected": float(metric == "PE"), "estimated_tolerance": 0.01},
                            **{"corrected_exact": 0.8 + gain + exact, "corrected_rounded": 0.8 + gain},
                            **{"train_accuracy": 0.85, "test_accuracy": 0.84},
                            **{"train_unfairness": tolerance, "test_unfairness": tolerance},
                        }
                    )
    return pd.DataFrame(out)


def test_checks_hold_and_fail_as_they_should():
    assert all(check.holds for check in checks(rows()).values())
    assert not checks(rows(gain_loose=-0.01))["corrected_not_below_baseline"].holds
    assert not checks(rows(gain_loose=-0.01))["estimated_not_below_baseline"].holds
    assert not checks(rows(gain_loose=0.05))["improvement_grows_as_tolerance_shrinks"].holds
    assert not checks(rows(eo=0.1))["eo_improves_least"].holds
    assert not checks(rows(exact=-0.001))["exact_unfairness_helps"].holds
    odds = rows()
    odds.loc[odds["fairness"] == "EOdds", "metric_detected"] = 1.0
    assert not checks(odds)["eodds_never_detected"].holds
    assert checks(rows().query("defense == 'x'"))["eo_improves_least"].holds is None


def test_tables_and_figures_are_made():
    found = tables(rows())
    table = found["figures_2_3_4_9_10_11"]
    assert len(table) == 16
    assert table["cells"].eq(2).all()
    assert list(table["fairness"].unique()) == ["SP", "PE", "EO", "EOdds"]
    made = figures(rows(), None)
    assert {"figure_02_reconstruction_adult_adversary_xyh", "figure_15_estimated_adult_adversary_xy"} <= set(made)
    assert "figure_06_target_adult" in made
