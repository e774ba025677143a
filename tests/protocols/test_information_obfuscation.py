"""The protocol of xie2024: cells are pure, bounds hold, bad input is refused; tables, figures and checks from rows."""

import itertools

import numpy as np
import pandas as pd
import pytest

from fairpriv.cells import Cell
from fairpriv.datasets.synthetic import Synthetic
from fairpriv.errors import BadRequest
from fairpriv.protocols.information_obfuscation import InformationObfuscationProtocol, split
from fairpriv.report.xie2024 import PRESENTERS

DATA = Synthetic(n=400, n0=160, proxy=0.4, n_features=4).load()
PROTOCOL = InformationObfuscationProtocol()
PRESENTER = PRESENTERS["information_obfuscation"]


def make(defense="information_obfuscation", epsilon=5.0, beta=None, seed=0, **more):
    plugin = {"name": defense, "epochs": 3, "batch": 50, "hidden": 12} | more.pop("params", {})
    axes = {"dataset": "synthetic", "defense": defense, "epsilon": epsilon, "beta": beta} | more
    return Cell("information_obfuscation", axes, {"dataset": {"name": "synthetic"}, "defense": plugin}, seed)


def run(*cells):
    return [r.metrics for r in PROTOCOL.run(cells, lambda cell: DATA)]


def test_a_cell_does_not_depend_on_its_companions():
    cells = [make(epsilon=e) for e in (1.0, 5.0)]
    together = run(*cells)
    assert together == [run(c)[0] for c in cells]
    assert together[0] != together[1]


def test_a_baseline_is_trained_once_for_every_epsilon(monkeypatch):
    from fairpriv.defenses.representation.cfb import CFB

    calls = []
    fit = CFB.fit
    monkeypatch.setattr(CFB, "fit", lambda self, *a: calls.append(1) or fit(self, *a))
    found = run(make("cfb", float("inf")), make("cfb", 8.0))
    assert len(calls) == 1
    assert "i_xz" not in found[0]
    assert found[1]["lemma2"] == found[1]["theorem1"] == 1


def test_everything_measured():
    (found,) = run(make(mine_of="both", mine_iterations=1000, mine_batch=32, attacks=True))
    assert {"accuracy", "delta_dp", "delta_eo", "i_sz", "i_uz", "i_sz_bits", "accuracy_s", "attack_balanced"} <= set(
        found
    )
    assert found["n_train"] + found["n_test"] == 400
    assert found["lemma2"] == found["theorem1"] == 1
    assert found["mine_iterations_used_s"] == found["mine_iterations_used_u"] == 1000
    assert found["mine_settled_s"] == 0  # too few to say
    assert found["i_sz_bits"] == pytest.approx(found["i_sz"] / np.log(2))
    assert found["i_xz"] == pytest.approx(found["i_xz_given_s"] + found["i_sz_known"])
    assert 0 < found["i_xz"] <= 5
    assert all(np.isfinite(v) for v in found.values() if not isinstance(v, str))


@pytest.mark.parametrize(("defense", "epsilon"), [("cfb", float("inf")), ("laftr", 8.0), ("laftr", float("inf"))])
def test_mine_sees_fresh_noise_or_one_draw(defense, epsilon):
    """Both together are what each is alone; where nothing is random they are one number."""
    told = {"mine_of": "s", "mine_iterations": 1000, "mine_batch": 32}
    both, fresh, fixed = run(*(make(defense, epsilon, mine_draw=d, **told) for d in ("both", "fresh", "fixed")))
    assert both["i_sz"] == fresh["i_sz"]
    assert both["i_sz_fixed"] == fixed["i_sz_fixed"]
    assert "i_sz_fixed" not in fresh
    assert "i_sz" not in fixed
    assert (both["i_sz"] == both["i_sz_fixed"]) == (defense == "laftr" and np.isinf(epsilon))
    assert run(make(defense, epsilon, **told))[0]["i_sz"] == fresh["i_sz"]  # what came later changes nothing


def test_every_column_scaled_by_one():
    name = list(DATA.features)[1]
    train, test = split(make(scale_by=name), DATA)
    plain = np.vstack([part.x for part in (train, test)])
    assert train.x[:, 1].mean() == pytest.approx(0, abs=1e-9)
    assert train.x[:, 1].std() == pytest.approx(1)
    shares = np.std(plain, axis=0) / np.std(DATA.features.to_numpy(float), axis=0)
    np.testing.assert_allclose(shares, shares[0], rtol=1e-9)  # the same scale for all
    with pytest.raises(BadRequest, match="unknown feature of synthetic in scale_by"):
        PROTOCOL.fits(make(scale_by="shoe size"), DATA)


def test_split_is_70_30_and_standardised():
    train, test = split(make(), DATA)
    assert (len(train), len(test)) == (280, 120)
    np.testing.assert_allclose(train.x.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(train.x.std(axis=0), 1)
    other = split(make(seed=1), DATA)[0]
    assert not np.array_equal(train.x, other.x)


def test_validation_rows_come_from_the_training_part():
    """Settings are chosen without a look at the test rows: changing those changes nothing."""
    from dataclasses import replace

    data = replace(DATA, train=np.arange(400) < 300)
    train, held = split(make(scored_on="validation"), data)
    assert (len(train), len(held)) == (225, 75)
    features = data.features.copy()
    features.iloc[300:] = 7.0
    again, held_again = split(make(scored_on="validation"), replace(data, features=features))
    np.testing.assert_array_equal(train.x, again.x)
    np.testing.assert_array_equal(held.x, held_again.x)


@pytest.mark.parametrize(("defense", "epsilon"), [("cfb", float("inf")), ("laftr", 8.0), ("laftr", float("inf"))])
def test_what_is_random_is_drawn_anew(defense, epsilon):
    cell = make(defense, epsilon)
    method = cell.plugin("defense", epsilon=epsilon)
    train, test = split(cell, DATA)
    rng = np.random.default_rng(0)
    params = method.fit(train, rng)
    encoded = method.encode(params, test, rng)
    found = method.fresh(params, encoded, test)
    if defense == "laftr" and np.isinf(epsilon):
        assert np.array_equal(found, encoded)
    else:
        draws = [found(np.arange(5), np.random.default_rng(s)) for s in (1, 1, 2)]
        assert np.array_equal(draws[0], draws[1])
        assert not np.array_equal(draws[0], draws[2])


def test_constant_u_is_refused():
    from dataclasses import replace

    rows = np.arange(400)
    data = replace(DATA, train=DATA.label == 1)
    with pytest.raises(BadRequest, match="U is constant in the training part"):
        PROTOCOL.run([make()], lambda cell: data)
    data = replace(DATA, train=(DATA.group == 1) & (rows >= 0))
    with pytest.raises(BadRequest, match="S is constant in the training part"):
        PROTOCOL.run([make()], lambda cell: data)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ({"epsilon": -1}, "epsilon must be >= 0"),
        ({"beta": -1}, "beta must be >= 0"),
        ({"mine_of": "x"}, "mine_of must be one of none, s, both"),
        ({"mine_iterations": 10}, "mine_iterations must be >= 1000"),
        ({"mine_batch": 1}, "mine_batch must be >= 2"),
        ({"mine_settle": "often"}, "mine_settle must be one of"),
        ({"mine_draw": "old"}, "mine_draw must be one of fresh, fixed, both"),
        ({"scored_on": "train"}, "scored_on must be one of test, validation"),
        ({"params": {"t": 0}}, "t must be > 0"),
        ({"params": {"k": 1}}, "k must be >= 2"),
        ({"params": {"d": 0}}, "d must be >= 1"),
        ({"defense": "cfair", "beta": 3}, "unknown parameter of defense cfair 'beta'"),
    ],
)
def test_refused(cell, said):
    with pytest.raises(BadRequest, match=said):
        PROTOCOL.validate(make(**cell))


def test_another_kind_of_defense_is_refused():
    cell = Cell("information_obfuscation", {"epsilon": 1.0}, {"defense": {"name": "laplace"}}, 0)
    with pytest.raises(BadRequest, match="cannot use defense=laplace"):
        PROTOCOL.validate(cell)


def rows():
    """Rows as a run gives them: made up, but of the right shape."""
    rng = np.random.default_rng(0)
    out = []
    base = {"majority_u": 0.55, "majority_s": 0.6, "n_train": 10, "n_test": 5, "attributes": 3, "p_u": 0.45}
    base |= {"mine_iterations": 2000, "lemma2": 1, "theorem1": 1, "worst_log_ratio": 0.1, "note": "a stand-in"}
    kinds = ("information_obfuscation", "information_obfuscation_discrete")
    for defense, epsilon, beta, seed in itertools.product(kinds, (0.0, 1.0, 5.0), (0.1, 100.0), (0, 1)):
        level = 0.55 + 0.02 * epsilon
        found = {"accuracy": level, "delta_dp": 0.03 * epsilon, "delta_eo": 0.01, "i_xz": 0.4 * epsilon}
        found |= {"i_xz_given_s": 0.3 * epsilon, "i_sz_known": 0.1 * epsilon, "i_sz": 0.11 * epsilon}
        found |= {"i_uz": 0.01 * beta * epsilon, "i_sz_at_10": 0.1, "i_sz_at_20": 0.1, "i_sz_at_50": 0.1}
        found |= {"accuracy_s": 0.6, "attack_balanced": 0.55, "attack_accuracy": 0.6, "i_sz_bits": 0.1}
        point = {"dataset": "compas", "defense": defense, "epsilon": epsilon, "beta": beta, "seed": seed}
        out.append(base | point | found)
    for defense, epsilon, seed in itertools.product(("cfb", "ffvae", "raw_data"), (8.0, float("inf")), (0, 1)):
        found = {"accuracy": 0.6 + 0.05 * np.isinf(epsilon) + 0.001 * rng.random(), "delta_dp": 0.1, "delta_eo": 0.1}
        found |= {"accuracy_s": 0.6, "attack_balanced": 0.55, "attack_accuracy": 0.6, "i_sz": 0.1, "i_sz_bits": 0.15}
        point = {"dataset": "compas", "defense": defense, "epsilon": epsilon, "beta": np.nan, "seed": seed}
        out.append(base | point | found)
    return pd.DataFrame(out)


def test_tables_name_the_stand_in_and_show_the_bounds():
    tables = PRESENTER.tables(rows())
    assert {"table1", "table2", "figure5", "figure6", "bounds", "mine_settling"} <= set(tables)
    for name, table in tables.items():
        assert (table["note"] == "a stand-in").all(), name
    bounds = tables["bounds"]
    np.testing.assert_allclose(bounds["epsilon_minus_v"], 0.7 * bounds["epsilon"])
    assert (bounds["theorem1_holds"] == 1).all()
    table2 = tables["table2"]
    assert set(table2[table2["defense"].str.startswith("information")]["epsilon"]) == {5.0}


def test_settling_shows_the_encoders_measured_both_ways():
    some = rows().assign(mine_settle=True, mine_iterations_used_s=3000, mine_settled_s=1)
    whole = some[(some["epsilon"] == 5.0) & (some["beta"] == 100.0) & (some["seed"] == 0)].assign(
        mine_settle=False, mine_iterations=50_000, mine_iterations_used_s=50_000, accuracy_s=np.nan
    )
    tables = PRESENTER.tables(pd.concat([some, whole], ignore_index=True))
    found = tables["mine_settling"]
    assert len(found) == 4
    assert set(found["mine_iterations_used_s"]) == {3000, 50_000}
    assert (tables["table2"]["mine_iterations_used_s"] == 3000).all()


def test_checks_can_fail():
    found = PRESENTER.checks(rows())
    assert found["lemma2"].holds
    assert found["theorem1"].holds
    assert found["zero_epsilon"].holds
    assert found["epsilon_trades"].holds
    assert found["utility_rises_with_beta"].holds is False  # at ε = 0 it cannot
    assert found["laplace_costs_baselines"].holds
    assert found["ffvae_no_utility"].holds is False
    assert found["images_keep_utility"].holds is None
    bad = rows()
    bad.loc[bad["epsilon"] == 5.0, ["lemma2", "theorem1"]] = 0
    found = PRESENTER.checks(bad)
    assert found["lemma2"].holds is False
    assert found["theorem1"].holds is False


def test_a_claim_is_weighed_with_its_uncertainty():
    """Too small a difference for its runs is neither borne out nor refuted; a single run counts by its sign."""
    from fairpriv.report.xie2024.claims import _weigh

    def weigh(*margins):
        found = _weigh("c", {str(i): pd.Series(m, dtype=float) for i, m in enumerate(margins)})
        return found.holds, found.sure

    assert weigh([0.1, 0.11, 0.12]) == (True, False)
    assert weigh([0.1, 0.11, 0.12], [0.157 - 0.147, -0.02, 0.03]) == (False, False)
    assert weigh([0.1, 0.11, 0.12], [-0.1, -0.11]) == (False, True)
    assert weigh([0.2]) == (True, False)
    assert weigh([-0.2]) == (False, True)
    assert weigh([]) == (None, None)


def test_a_tuned_option_stands_for_its_method():
    """Cells with a method's own setting take the place of those without; the ten features that of the eight."""
    from fairpriv.report.xie2024.methods import main_rows, method, table2_rows, tuned_rows

    assert method("cfair_adult") == "cfair"
    assert method("information_obfuscation_discrete_hsls") == "information_obfuscation_discrete"
    assert method("information_obfuscation_image") == "information_obfuscation_image"
    some = rows()
    own = some[some["defense"] == "cfb"].assign(defense="cfb_compas", accuracy=0.7)
    other = some.assign(dataset="compas_fairml")
    both = pd.concat([some, other, own.assign(dataset="compas_fairml")], ignore_index=True)
    found = tuned_rows(table2_rows(main_rows(both)))
    assert set(found["dataset"]) == {"compas_fairml"}
    assert (found.loc[found["defense"] == "cfb", "accuracy"] == 0.7).all()
    assert {"ffvae", "raw_data"} <= set(found["defense"])
    table = PRESENTER.tables(both)["table2"]
    assert table.loc[table["defense"] == "cfb_compas", "tuned"].all()


def test_the_setting_nearest_to_the_printed_accuracy_is_chosen():
    """Both printed accuracies count, and only they; of tries there is a table and neither figure nor claim."""
    tries = [(0.1, 0.67, 0.62, 0.9), (1.0, 0.67, 0.55, 0.31), (10.0, 0.60, 0.62, 0.31)]  # printed: 0.67 and 0.62
    some = pd.DataFrame(
        {"dataset": "compas_fairml", "defense": "cfair", "defense.strength": strength, "defense.batch": 64}
        | {"epsilon": epsilon, "seed": 0, "accuracy": accuracy + 0.01, "delta_dp": gap, "scored_on": "validation"}
        | {"majority_u": 0.5478}  # a hundredth above the printed share of the larger class, as the accuracies are
        for strength, *two, gap in tries
        for epsilon, accuracy in zip((float("inf"), 8.0), two)
    )
    tables = PRESENTER.tables(some)
    assert set(tables) == {"settings"}
    found = tables["settings"]
    assert found.loc[found["chosen"], "setting"].unique().tolist() == ["strength=0.1"]
    assert found["off"].tolist() == pytest.approx([0, 0, *[0.07 / 2**0.5] * 4], abs=1e-4)
    assert PRESENTER.figures(some, lambda **axes: {}) == {}


def test_checks_have_their_claims():
    from fairpriv.report.papers import papers

    (paper,) = [p for p in papers() if p.key == "xie2024"]
    assert {c["id"] for c in paper.claims} == set(PRESENTER.checks(rows()))


def test_figures_are_drawn():
    import matplotlib.pyplot as plt

    some = rows()
    images = pd.DataFrame(
        [
            {
                "dataset": d,
                "defense": "information_obfuscation_image",
                "epsilon": e,
                "beta": 10.0,
                "seed": 0,
                "accuracy": 0.9,
            }
            for d, e in itertools.product(("mnist", "mnist_hide_digit"), (500.0, 5000.0))
        ]
    )

    def arrays(dataset, **axes):
        digit, colour = np.repeat(np.arange(10), 3), np.tile(np.arange(3), 10)
        u, s = (digit, colour) if dataset == "mnist" else (colour, digit)
        return {
            "x": np.random.default_rng(0).random((30, 300)),
            "z": np.zeros((30, 300)) + digit[:, None],
            "u": u,
            "s": s,
        }

    made = PRESENTER.figures(pd.concat([some, images], ignore_index=True), arrays)
    assert set(made) == {"figure4", "figure5", "figure6", "pareto", "attackers"}
    for figure in made.values():
        plt.close(figure)
    assert PRESENTER.figures(some.iloc[:0].assign(delta_dp=[]), arrays) == {}
