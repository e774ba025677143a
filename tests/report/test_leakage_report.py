"""Tables and figures of ldp_leakage, and what is made of it beside ldp_fairness."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from fairpriv.report.ldp_leakage import PRESENTERS, figures, figures_beside, tables, tables_beside
from fairpriv.report.ldp_leakage.tables import METRICS
from tests.report.test_ldp_report import rows as fairness_rows

PROTECTED = {"adult_reconstructed": "gender", "lsac": "race1"}


def rows(seeds=(0, 1)):
    """Rows in which reports tell ε/10 bits, of the protected attribute half of it, and other attributes 0.3."""
    out = []
    grid = itertools.product(PROTECTED, seeds, ("grr", "oue"), ("uniform", "k_based"), (0.25, 8.0))
    for dataset, seed, protocol, split, epsilon in grid:
        for attribute in (PROTECTED[dataset], "age"):
            bits = epsilon / 10 / (2 if attribute != "age" else 1)
            told = {f"bits_{v}": b for v, b in (("reports", bits), ("features", 0.3), ("both", bits + 0.3))}
            base = dict.fromkeys(METRICS, 0.5) | told | {"guess": 0.5, "k": 2, "epsilon_attribute": epsilon / 2}
            base |= {
                "acc_closed_form": 0.5,
                "bal_closed_form": 0.52,
                "bal_most": 0.6,
                "calibration": 0.01,
                "targets": 99,
            }
            point = {"dataset": dataset, "defense.protocol": protocol, "defense.split": split, "epsilon": epsilon}
            out.append(
                point | {"attribute": attribute, "attack": "bayes_values", "seed": seed, "status": "done"} | base
            )
    return pd.DataFrame(out)


def fairness():
    made = fairness_rows(lambda d, s, p, e: {"spd": 0.01 * e}, epsilons=(0.25, 8.0), sensitive=("table2",))
    return made.assign(attributes=made["dataset"].map(PROTECTED).fillna("DIS") + " age")


def test_tables_say_from_which_epsilon_on_reports_say_more():
    made = tables(rows())
    found = made["attributes"].set_index(["dataset", "attribute"])
    assert found.loc[("lsac", "race1"), "reports_say_more_from_uniform"] == 8.0
    assert found["bits_features"].tolist() == pytest.approx([0.3] * 4)
    assert made["closed_form"].set_index("defense.protocol").loc["grr", "bal_apart"] == pytest.approx(-0.02)
    assert len(made["leakage"]) == 2 * 2 * 2 * 2 * 2
    never = tables(rows().assign(bits_reports=0.1))["attributes"]
    assert np.isinf(never["reports_say_more_from_k_based"]).all()


def test_beside_fairness_a_setting_has_its_own_leakage():
    made = tables_beside(rows(), fairness())
    both = made["beside_fairness"].set_index(["dataset", "defense.protocol", "defense.split", "epsilon"])
    one = both.loc[("lsac", "grr", "uniform", 8.0)]
    assert one["attribute"] == "race1"
    assert one["bits_reports"] == pytest.approx(0.4)
    assert one["all_bits_reports"] == pytest.approx(0.8 + 0.4)
    assert one["spd"] == pytest.approx(0.3 + 0.005 + 0.08)
    assert one["nondp_spd"] == pytest.approx(0.305)
    found = made["goes_with"].set_index(["dataset", "leak", "with"])["spearman"]
    assert found["lsac", "bits_reports", "spd"] == pytest.approx(1.0)


def test_figures_are_drawn():
    made = figures(rows(), None) | figures_beside(rows(), fairness())
    wanted = {f"{what}_{d}" for what in ("guesses", "accuracy") for d in PROTECTED}
    assert set(made) == wanted | {"closed_form", "against_fairness"}
    for figure in made.values():
        plt.close(figure)


def test_what_stands_beside_is_named():
    assert PRESENTERS["ldp_leakage"].beside.experiment == "ldp_fairness"
