"""Tables, figures and checks of ldp_fairness, on rows whose answer is known."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fairpriv.report.arcolezi2023 import checks, figures, tables
from fairpriv.report.arcolezi2023.figures import not_dominated
from fairpriv.report.arcolezi2023.rows import (
    DATASETS,
    METRICS,
    PAPER,
    against_nondp,
    distances,
    k_based_minus_uniform,
    tidy,
)
from fairpriv.report.papers import papers

BASE = {"di": 0.5, "spd": 0.3, "eod": 0.2, "oad": -0.1, "acc": 0.8, "f1": 0.8, "balanced_accuracy": 0.8, "recall": 0.8}


def rows(change, seeds=(0, 1), epsilons=(0.25, 8.0), sensitive=("table2", "random")):
    """Rows in which LDP changes the metrics by change(dataset, split, protocol, epsilon)."""
    out = []
    for dataset, seed in itertools.product(DATASETS, seeds):
        shift = 0.01 * seed
        base = {"dataset": dataset, "model": "lgbm", "seed": seed, "status": "done"}
        bare = {"sensitive": "table2", "defense": "nondp"}
        out.append(base | bare | {m: v + shift for m, v in BASE.items()} | {"auc": 0.9})
        for s, split, protocol, epsilon in itertools.product(sensitive, ("uniform", "k_based"), PAPER, epsilons):
            point = {"sensitive": s, "defense.protocol": protocol, "defense.split": split, "epsilon": epsilon}
            moved = change(dataset, split, protocol, epsilon)
            out.append(base | point | {m: v + shift + moved.get(m, 0.0) for m, v in BASE.items()} | {"auc": 0.9})
    return pd.DataFrame(out)


def as_the_paper_says(dataset, split, protocol, epsilon):
    """Changes under which every claim is true."""
    acs, adult, k = dataset == "acs_public_coverage", dataset == "adult_reconstructed", split == "k_based"
    worse = (
        0.002 * PAPER.index(protocol)
        if protocol not in ("grr", "ss", "blh")
        else {"grr": 0, "ss": 0, "blh": 0.02}[protocol]
    )
    loss = -worse / 2 + (0.001 if k and adult else 0) - (0.001 if k and acs else 0)
    fair = 0.05 - worse + (0.004 if k and dataset != "lsac" else 0)
    out = dict.fromkeys(("acc", "f1", "balanced_accuracy", "recall"), loss)
    return out | {"di": fair, "spd": -fair, "eod": -fair, "oad": -0.13 if acs else fair / 2}


def against_the_paper(dataset, split, protocol, epsilon):
    k = split == "k_based"
    loss = -0.05 * (protocol == "grr") - 0.03 * (k != (dataset == "acs_public_coverage"))
    out = dict.fromkeys(("acc", "f1", "balanced_accuracy", "recall"), loss)
    return out | {"di": -0.05 - 0.02 * k, "spd": 0.05 + 0.02 * k, "eod": 0.05 + 0.02 * k, "oad": 0.0}


def test_checks_hold_on_rows_as_the_paper_says_and_fail_on_the_opposite():
    good, bad = checks(rows(as_the_paper_says)), checks(rows(against_the_paper))
    assert {name: check.holds for name, check in good.items()} == dict.fromkeys(good, True)
    assert {name: check.holds for name, check in bad.items()} == dict.fromkeys(bad, False)
    assert all(check.detail for check in [*good.values(), *bad.values()])


def test_checks_without_cells_are_not_run():
    all_rows = rows(as_the_paper_says)
    bare = all_rows[all_rows["defense"] == "nondp"]
    assert {check.holds for check in checks(bare).values()} == {None}
    no_baseline = all_rows[all_rows["defense"] != "nondp"]
    found = checks(no_baseline)
    assert found["fairness_not_worse"].holds is None
    assert found["k_based_utility_adult"].holds is True  # needs no baseline


def test_every_claim_of_the_paper_has_its_check():
    (paper,) = [p for p in papers() if p.key == "arcolezi2023"]
    assert {claim["id"] for claim in paper.claims} == set(checks(rows(as_the_paper_says)))
    assert sum(len(table.numbers) for table in paper.tables) == 52


def test_differences_are_paired_by_seed():
    made = tidy(rows(as_the_paper_says))
    apart = against_nondp(made)
    one = apart[(apart["dataset"] == "lsac") & (apart["defense.protocol"] == "grr")]
    np.testing.assert_allclose(one["di"], 0.05)  # the shift of the seed is gone
    assert len(apart) == len(made) - 6
    both = k_based_minus_uniform(made)
    np.testing.assert_allclose(both[both["dataset"] == "adult_reconstructed"]["acc"], 0.001)
    np.testing.assert_allclose(distances(made)["di"], 1 - made["di"])


def test_tables_hold_the_means_of_every_figure():
    made = tables(rows(as_the_paper_says))
    assert {f"figure{i}" for i in range(2, 14)} <= set(made)
    figure2 = made["figure2"].set_index(["defense.split", "defense.protocol", "epsilon"])
    assert figure2.loc[("uniform", "grr", 0.25), "di"] == pytest.approx(0.5 + 0.005 + 0.05)
    assert figure2.loc[("nondp", "nondp", np.inf), "di"] == pytest.approx(0.505)
    assert figure2.loc[("uniform", "grr", 0.25), "seeds"] == 2
    paired = made["paired_nondp"].set_index(["dataset", "sensitive", "defense.split", "defense.protocol", "epsilon"])
    point = paired.loc[("lsac", "table2", "uniform", "grr", 8.0)]
    assert point["di"] == pytest.approx(0.05)
    assert point["di_half_width"] == pytest.approx(0, abs=1e-12)
    assert set(METRICS) <= set(made["means"].columns)


def test_figures_are_drawn_for_what_there_is():
    made = figures(rows(as_the_paper_says), None)
    assert {*(f"figure{i}" for i in range(2, 14)), "paired_splits", "tradeoff"} == set(made)
    assert len(made["figure2"].axes) == 8
    for figure in made.values():
        plt.close(figure)
    few = rows(as_the_paper_says, seeds=(0,), epsilons=(1.0,), sensitive=("table2",))
    few = few[(few["dataset"] == "lsac") & few["defense.protocol"].isin(["grr", np.nan])]
    made = figures(few, None)
    assert {"figure4", "figure7"} <= set(made)
    for figure in made.values():
        plt.close(figure)


def test_not_dominated_is_the_slow_one():
    points = np.random.default_rng(0).integers(0, 4, (40, 3))
    slow = [not any((q <= p).all() and (q < p).any() for q in points) for p in points]
    np.testing.assert_array_equal(not_dominated(points), slow)


def test_what_fails_is_sure_where_the_seeds_agree():
    failed = checks(rows(against_the_paper, seeds=(0, 1, 2)))
    for claim in ("fairness_not_worse", "utility_minor", "k_based_utility_adult", "k_based_fairness"):
        assert (failed[claim].holds, failed[claim].sure) == (False, True), claim


def test_what_fails_is_not_sure_where_the_seeds_do_not():
    made = rows(lambda *_: {}, seeds=(0, 1, 2))
    noisy = made["defense.protocol"].notna()
    moved = made["seed"].map({0: -0.1, 1: -0.1, 2: 0.25}).where(noisy, 0.0)
    found = checks(made.assign(di=made["di"] - moved, spd=made["spd"] + moved, eod=made["eod"] + moved))
    assert (found["fairness_not_worse"].holds, found["fairness_not_worse"].sure) == (False, False)
    assert "; 0 worse by more than chance" in found["fairness_not_worse"].detail
