"""Tables, figures and checks of ldp_fairness, on rows whose answer is known."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairpriv.report.arcolezi2023 import checks, equal_in_law, figures, paired, tables
from fairpriv.report.arcolezi2023.figures import not_dominated
from fairpriv.report.arcolezi2023.printed import authors
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


def rows(change, seeds=(0, 1), epsilons=(0.25, 8.0, 50.0), sensitive=("table2", "random")):
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
    fair = 0.05 - worse + (0.004 if k and dataset != "lsac" else 0) + (0.03 if acs and protocol == "blh" else 0)
    if epsilon == 50 and (not k or dataset == "lsac"):
        fair = fair / 10 + 0.001
    out = dict.fromkeys(("acc", "f1", "balanced_accuracy", "recall"), loss)
    return out | {"di": fair, "spd": -fair, "eod": -fair, "oad": -0.13 if acs else fair / 2}


def against_the_paper(dataset, split, protocol, epsilon):
    k = split == "k_based"
    loss = -0.05 * (protocol == "grr") - 0.03 * (k != (dataset == "acs_public_coverage"))
    out = dict.fromkeys(("acc", "f1", "balanced_accuracy", "recall"), loss)
    worse = 0.05 + 0.02 * k + 0.01 * (protocol == "blh")
    return out | {"di": -worse, "spd": worse, "eod": worse, "oad": 0.0}


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
    assert sum(len(table.numbers) for table in paper.tables) == 70


def test_differences_are_paired_by_seed():
    made = tidy(rows(as_the_paper_says))
    apart = against_nondp(made)
    one = apart[(apart["dataset"] == "lsac") & (apart["defense.protocol"] == "grr") & (apart["epsilon"] < 50)]
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


def test_paired_tests_count_what_is_beyond_chance():
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(9, 2000)))
    found = paired.ask(noise, general=True)
    assert 0.015 < found.against / 2000 < 0.035  # 2.5 % a side; five deviations are 0.0175
    assert found.against_holm <= 1
    shifted = paired.ask(noise - 3, general=False)
    assert (shifted.against, shifted.reading) == (2000, "contradicted")
    assert paired.ask(noise + 3, general=False).reading == "supported"
    assert paired.ask(noise.head(1), general=False).reading == "one seed: no test"


def test_a_question_of_one_seed_beside_others_of_several_is_no_test():
    rng = np.random.default_rng(2)
    several, once = rng.normal(3, 1, (5, 10)), np.full((5, 10), np.nan)
    once[0] = -1.0  # against, without any doubt if one seed left none
    found = paired.ask(pd.DataFrame(np.hstack([several, once])), general=False)
    assert (found.seeds, found.questions, found.against, found.reading) == (5, 10, 0, "supported")
    assert found.low > 0
    assert paired.ask(pd.DataFrame(once), general=False).reading == "one seed: no test"


def test_p_values_and_holm_are_the_slow_ones():
    values = np.random.default_rng(1).normal(0.3, 1, (7, 40))
    p = paired.p_against(pd.DataFrame(values))
    np.testing.assert_allclose(p, [stats.ttest_1samp(v, 0, alternative="less").pvalue for v in values.T])
    slow = 0
    for rank, value in enumerate(sorted(p)):
        if value > 0.3 / (len(p) - rank):
            break
        slow += 1
    assert slow == paired.rejected_by_holm(p, 0.3)


def test_alike_needs_both_sides_within_the_margin():
    change = pd.DataFrame({"a": [0.001, 0.002, 0.0]})
    within = paired._within(change, 0.01)
    assert paired.ask(within, general=False, alike=True).reading == "supported"
    assert paired.ask(paired._within(change + 0.02, 0.01), False, True).reading == "contradicted"
    assert paired.ask(paired._within(change * 20, 0.01), False, True).reading == "not contradicted"


def test_paired_tests_decide_no_verdict():
    made = rows(as_the_paper_says, seeds=(0, 1, 2))
    found = checks(made)
    assert "; paired over 3 seeds (added later, decides nothing)" in found["fairness_not_worse"].detail
    assert set(tables(made)["paired_claims"]["claim"]) == set(found)
    # a failing rule stays failed, whatever the test beside it says
    failed = checks(rows(against_the_paper, seeds=(0, 1, 2)))
    assert {c.holds for c in failed.values()} == {False}


def test_weightings_say_under_which_the_claim_holds():
    table = tables(rows(as_the_paper_says))["weightings"]
    useful = table[(table["weight_of_utility"] == 1) & (table["utility"] != "auc")]
    assert useful["grr_ss_best"].all()
    assert useful["blh_worst"].all()
    moved = tables(rows(lambda d, s, p, e: {"acc": 0.1 * (p == "oue"), "di": 0.0}))["weightings"]
    only = moved[(moved["utility"] == "acc") & (moved["weight_of_utility"] == 1)]
    assert only["best_two_lsac"].str.contains("oue").all()


def test_losses_of_utility_are_the_least_threshold_that_would_do():
    table = tables(rows(lambda d, s, p, e: {"acc": -0.03 if e < 8 else -0.01}))["utility_losses"]
    found = table[(table["dataset"] == "lsac") & (table["sensitive"] == "table2")].set_index("loss")["acc"]
    assert found.to_dict() == pytest.approx({"mean": -0.05 / 3, "worst": -0.03, "worst_at_8_and_above": -0.01})


def test_points_equal_in_law_are_those_of_the_protocols():
    """SS is GRR in 19 and OLH is BLH in 15 of the paper's 378 points."""
    grid = itertools.product(DATASETS, ("uniform", "k_based"), (0.25, 0.5, 1, 2, 4, 8, 10, 20, 50))
    points = list(grid)
    found = {pair: sum(equal_in_law.equal(*pair, *point) for point in points) for pair in equal_in_law.PAIRS}
    assert found == {("ss", "grr"): 19, ("olh", "blh"): 15}


def test_figures_have_the_authors_numbers_and_the_number_of_seeds():
    made = figures(rows(as_the_paper_says, seeds=(0, 1, 2)), None)
    assert "3 seeds, bands" in made["figure2"].get_suptitle()
    names = {text.get_text() for text in made["figure2"].legends[0].get_texts()}
    assert {"NonDP, authors' 20 runs", "the paper's text", "GRR"} <= names
    bands = [c for c in made["figure2"].axes[0].collections if c.get_paths()]
    assert len(bands) == len(PAPER)
    for figure in made.values():
        plt.close(figure)


def test_the_authors_numbers_are_those_of_the_tables():
    said = authors()
    assert said["what"].value_counts().to_dict() == {"nondp": 24, "runs": 40, "text": 3}
    one = said[(said["what"] == "nondp") & (said["dataset"] == "lsac") & (said["metric"] == "acc")]
    assert one["value"].tolist() == [0.94383]
