"""experiment=maad_private: attributes, inputs, rows, tables, checks and figures, on made-up data."""

import numpy as np
import pandas as pd
import pytest

from fairpriv import datasets, registry
from fairpriv.cells import Cell
from fairpriv.errors import BadRequest, DataUnavailable
from fairpriv.protocols.maad_private import MaadPrivate, binary_attributes, condition, f1, inputs
from fairpriv.report.maad2023 import PRESENTERS
from fairpriv.report.papers import papers

PRESENTER = PRESENTERS["maad_private"]

SMALL = {"name": "maad", "hidden": (8,), "batch": 20, "epochs": 2, "sigma": 1.0, "epsilon": 100.0, "gamma": 0.5}


def cell(dataset, attributes=None, seed=0, **defense):
    params = SMALL | {"debias": True, "privacy": "none"} | defense
    axes = {"dataset": dataset["name"], "attributes": attributes, "defense": params["name"]}
    axes |= {f"defense.{k}": params[k] for k in ("debias", "privacy", "gamma") if k in params}
    return Cell("maad_private", axes, {"dataset": dataset, "defense": params}, seed)


def load(a_cell):
    params = dict(a_cell.plugins["dataset"])
    return datasets.load(params.pop("name"), params)


TABLE = {"name": "synthetic", "n": 400, "n0": 150, "n_features": 3, "proxy": 0.5}
TEXTS = {"name": "synthetic_corpus", "n": 300}


def test_attributes_by_name_and_what_is_refused():
    texts = cell(TEXTS, "age+country")
    frame = binary_attributes(texts, load(texts))
    assert list(frame) == ["age", "country"]
    assert set(frame["age"]) == {0, 1}
    assert list(binary_attributes(cell(TABLE), load(cell(TABLE)))) == ["group"]
    with pytest.raises(BadRequest, match=r"unknown sensitive attribute of synthetic_corpus 'height': .*valid: age"):
        binary_attributes(cell(TEXTS, "height"), load(texts))


@pytest.mark.data
def test_an_attribute_that_is_not_binary_is_refused():
    a_cell = cell({"name": "adult"}, "age")
    try:
        data = load(a_cell)
    except DataUnavailable as error:
        pytest.skip(str(error))
    with pytest.raises(BadRequest, match="attribute age of adult is not binary: it has"):
        binary_attributes(a_cell, data)


def test_inputs_owe_nothing_to_the_data():
    a_cell = cell(TABLE)
    data = load(a_cell)
    x, _ = inputs(a_cell, data)
    assert x.shape == (400, 5)  # three numbers, two groups
    few, _ = inputs(a_cell, data.take(np.arange(60)))
    np.testing.assert_array_equal(few, x[:60])
    tokens, vectors = inputs(cell(TEXTS), load(cell(TEXTS)))
    assert tokens.dtype.kind == "i"
    assert vectors is None


def test_a_protected_attribute_that_is_left_out_stays_out():
    a_cell = cell(TABLE | {"exclude": ["group"]})
    x, _ = inputs(a_cell, load(a_cell))
    assert x.shape == (400, 3)  # without the two columns of the group


def test_f1_against_scikit_learn():
    from sklearn.metrics import f1_score

    rng = np.random.default_rng(0)
    label, guess = rng.integers(0, 2, 50), rng.integers(0, 2, 50)
    ours = f1(guess, label)
    for kind in ("micro", "macro", "weighted"):
        assert ours[f"{kind}_f1"] == pytest.approx(f1_score(label, guess, average=kind))


@pytest.mark.parametrize(("privacy", "debias"), [("none", True), ("printed", True), ("joint", True), ("joint", False)])
def test_a_row_tells_what_was_spent_and_on_what(privacy, debias):
    a_cell = cell(TABLE, privacy=privacy, debias=debias)
    first, second = (MaadPrivate().run([a_cell], load)[0] for _ in range(2))
    assert first.metrics == second.metrics
    row = first.metrics
    assert row["condition"] == condition(a_cell)
    assert 0 <= row["micro_f1"] <= 1
    assert abs(row["aod_group"]) <= row["eoo_group"] + 1e-12
    assert np.isfinite(row["epsilon_spent"]) == (privacy != "none")
    if privacy == "joint":
        assert row["epsilon_proven"] == row["epsilon_spent"] == row["epsilon_claimed"] <= 100
    if privacy == "printed":
        assert row["epsilon_sensitive"] == np.inf
        assert row["epsilon_spent"] > row["epsilon_claimed"]
    assert len(first.arrays["losses"]) > 1


def test_texts_with_four_attributes():
    result = MaadPrivate().run([cell(TEXTS, "gender+ethnicity+age+country", width=8, words=128, epochs=1)], load)[0]
    assert {f"aod_{a}" for a in ("gender", "ethnicity", "age", "country")} <= set(result.metrics)


def test_the_public_algorithm_has_conditions_of_its_own():
    a_cell = cell(TABLE, algorithm="public", privacy="printed", debias=False)
    MaadPrivate().validate(a_cell)
    row = MaadPrivate().run([a_cell], load)[0].metrics
    assert row["condition"] == "public_dp"
    assert row["steps"] == 50 * 320 / 20
    assert row["epsilon_spent"] == row["epsilon_claimed"]


def test_texts_given_as_token_ids(tmp_path, monkeypatch):
    made = load(cell(TEXTS))
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    folder = tmp_path / "hate_speech" / "English"
    folder.mkdir(parents=True)
    ids = [" ".join(str(1 + hash_of(w)) for w in text.split()) for text in made.features["text"]]
    columns = {a: made.sensitive[a].astype(str) for a in made.sensitive}
    frame = pd.DataFrame({"text": ids} | columns | {"label": np.where(made.label, "0", "1")})
    frame.to_csv(folder / "valid.tsv", sep="\t", index=False)
    a_cell = cell({"name": "hate_speech"}, "gender+age", width=8, words=64, epochs=1, privacy="combined")
    x, vectors = inputs(a_cell, load(a_cell))
    assert vectors is None
    assert x.max() < 64
    row = MaadPrivate().run([a_cell], load)[0].metrics
    assert {"aod_gender", "aod_age"} <= set(row)


def hash_of(word):
    import zlib

    return zlib.crc32(word.encode()) % 500


def test_the_other_defense_runs_too():
    a_cell = Cell(
        "maad_private",
        {"dataset": "synthetic", "attributes": None, "defense": "dp_postprocess"},
        {"dataset": TABLE, "defense": {"name": "dp_postprocess", "batch": 20, "epochs": 1, "epsilon": 50.0}},
    )
    MaadPrivate().validate(a_cell)
    row = MaadPrivate().run([a_cell], load)[0].metrics
    assert row["condition"] == "dp_postprocess"
    assert row["epsilon_spent"] <= 50


def rows(**changes):
    """Cells as a run would leave them: the four conditions on Adult and COMPAS, two splits."""
    out = []
    for dataset, gamma in (("adult_aif360", 0.2), ("compas_aif360_default", 0.5)):
        for privacy in ("none", "printed", "joint"):
            for debias in (False, True):
                for seed in (0, 1):
                    claimed = np.inf if privacy == "none" else 4.0
                    name = {"none": ("baseline", "debias")}.get(privacy, ("dp", "dp_debias"))[debias]
                    gap = -0.1 if debias else -0.3
                    row = {"dataset": dataset, "attributes": "race+sex", "defense": "maad", "condition": name}
                    row |= {"defense.debias": debias, "defense.privacy": privacy, "defense.gamma": gamma}
                    row |= {"defense.batch": 16, "seed": seed, "positive_share": 0.2, "weighted_f1": 0.7}
                    row |= {"micro_f1": 0.8 - 0.05 * (name == "dp") + 0.001 * seed, "macro_f1": 0.7}
                    for a in ("race", "sex"):
                        row |= {f"aod_{a}": gap, f"eoo_{a}": 0.4, f"tpr_gap_{a}": gap, f"fpr_gap_{a}": gap}
                    row |= {f"epsilon_{k}": claimed for k in ("claimed", "claimed_rdp", "spent", "proven", "sensitive")}
                    row |= {"epsilon_proven": claimed * (10 if privacy == "printed" else 1), "spent_on": "x, y, s"}
                    row |= {f"intersectional_{k}": 0.5 for k in ("tpr", "fpr", "norm", "groups")}
                    row |= {"steps": 10, "epochs": 4.0, "one_sided_batches": 0.1, "train_loss": 0.4, "status": "done"}
                    out.append(row | changes)
    return pd.DataFrame(out)


def test_tables_have_both_privacies():
    tables = PRESENTER.tables(rows())
    assert {"summary", "table1_budget", "table2_adult", "table3_compas"} <= set(tables)
    assert set(tables["table2_adult"]["defense.privacy"]) == {"none", "printed", "joint"}
    assert len(tables["table1_budget"]) == 8
    assert (tables["table2_adult"]["seeds"] == 2).all()


def test_tables_of_what_is_not_printed_and_of_other_mitigations():
    base, others = rows(), rows()
    varied = base[(base["condition"] == "dp") & (base["defense.privacy"] == "printed")].assign(**{"defense.clip": 4.0})
    other = others[others["condition"] == "debias"].assign(
        **{"defense": "fairlearn_adversarial", "condition": "fairlearn_adversarial", "defense.alpha": 0.7}
    )
    other["defense.gamma"] = np.nan
    other["defense.privacy"] = None
    tables = PRESENTER.tables(pd.concat([base, varied, other], ignore_index=True))
    clips = tables["unprinted_settings"].groupby("dataset", sort=False)["defense.clip"].apply(list)
    assert clips.to_dict() == {"adult_aif360": [1.0, 4.0], "compas_aif360_default": [1.0, 4.0]}
    assert (tables["table2_adult"]["seeds"] == 2).all()  # the varied cells are not in the paper's table
    fairlearn = tables["mitigations"].set_index("condition").loc["fairlearn_adversarial"]
    assert fairlearn["defense.gamma"] == 0.7
    assert fairlearn["defense.privacy"] == "none"


def test_a_defense_that_lacks_its_engine_is_refused_before_anything_runs(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    params = {"name": "fairlearn_adversarial", "epochs": 1}
    a_cell = Cell("maad_private", {"dataset": "synthetic"}, {"dataset": TABLE, "defense": params})
    with pytest.raises(DataUnavailable, match="needs torch"):
        MaadPrivate().validate(a_cell)


def test_checks_follow_the_rows():
    good = PRESENTER.checks(rows())
    assert good["debias_reduces_bias"].holds
    assert good["dp_costs_utility"].holds
    assert good["debias_keeps_utility"].holds
    assert good["budget_holds"].holds is False
    bad = PRESENTER.checks(rows(aod_race=-0.2, micro_f1=0.5))
    assert not bad["debias_reduces_bias"].holds
    assert not bad["dp_costs_utility"].holds
    none = PRESENTER.checks(rows(dataset="synthetic"))
    assert all(check.holds is None for check in none.values())


def test_a_claim_that_fails_by_chance_is_not_sure_to_fail():
    def check(gap, noise):
        some = rows()
        more = pd.concat([some.assign(seed=some["seed"] + 2 * k) for k in range(4)], ignore_index=True)
        debiased = more["condition"] == "debias"
        spread = noise * np.random.default_rng(0).standard_normal(len(more))
        return PRESENTER.checks(more.assign(aod_race=np.where(debiased, gap + spread, -0.2)))["debias_reduces_bias"]

    assert check(-0.1, 0.01).holds
    by_chance, surely = check(-0.25, 0.5), check(-0.25, 0.001)
    assert by_chance.holds is surely.holds is False
    assert surely.sure
    assert not by_chance.sure
    assert "8 splits" in surely.detail


def test_the_public_algorithm_and_the_fronts_have_tables_of_their_own():
    base = rows()
    adult = base[(base["dataset"] == "adult_aif360") & (base["defense.privacy"] != "joint")]
    public = adult.assign(**{"condition": "public_" + adult["condition"], "defense.algorithm": "public"})
    joint = base[(base["dataset"] == "adult_aif360") & (base["defense.privacy"] == "joint") & base["defense.debias"]]
    louder = {"defense.privacy": "combined", "defense.learning_rate": 0.0003, "defense.adversary_part": 5.0}
    combined = joint.assign(**louder, **{"defense.gamma": 2.0, "aod_sex": -0.15, "micro_f1": 0.79})
    every = pd.concat([base, public, combined], ignore_index=True)
    tables = PRESENTER.tables(every)
    both = tables["public_algorithm"].set_index(["algorithm", "condition"])
    assert set(both.index.get_level_values("algorithm")) == {"printed", "public"}
    assert (tables["table2_adult"]["seeds"] == 2).all()  # none of them is in the paper's table
    front = tables["joint_fronts"].set_index("defense.privacy").loc["combined"]
    assert front["bias_removed"] == pytest.approx(0.5)
    assert front["micro_f1_lost"] == pytest.approx(0.0105)
    figures = PRESENTER.figures(every, lambda **_: {})
    assert {"fronts", "public_algorithm"} <= set(figures)
    import matplotlib.pyplot as plt

    plt.close("all")


def test_every_claim_has_its_check_and_the_other_way_round():
    paper = next(p for p in papers() if p.key == "maad2023")
    assert {c["id"] for c in paper.claims} == set(PRESENTER.checks(rows()))


def test_figures_are_made():
    curve = np.ones((5, 2))
    figures = PRESENTER.figures(rows(), lambda **_: {"losses": curve})
    assert {"conditions", "budget_claimed_and_spent", "learning"} <= set(figures)
    import matplotlib.pyplot as plt

    for figure in figures.values():
        plt.close(figure)


def test_list_does_not_load_jax():
    """`fairpriv list` imports every plug-in; none of them may bring JAX with it."""
    import subprocess
    import sys

    code = (
        "import sys; from fairpriv import registry; [registry.names(k) for k in ('defenses', 'protocols', 'datasets')]"
    )
    code += "; from fairpriv.registry import find; find('defenses', 'maad'); find('protocols', 'maad_private')"
    code += "; sys.exit('fairpriv.jax_cpu' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
    assert registry.find("protocols", "maad_private") is MaadPrivate
