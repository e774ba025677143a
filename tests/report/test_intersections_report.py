"""Tables and figures of ldp_intersections, on rows whose answer is known."""

import matplotlib.pyplot as plt
import pytest

from fairpriv.report.ldp_intersections import figures, tables
from tests.report.test_ldp_report import rows as fairness_rows


def rows():
    made = fairness_rows(lambda d, s, p, e: {"spd": -0.1}, seeds=(0, 1, 2), sensitive=("table2",))
    noisy = made["defense.protocol"].notna()
    crossed = {"groups": 4, "left_out": 0, "worst_di": 0.3, "worst_eod": 0.2, "worst_oad": 0.1}
    named = {"crossed": "gender x race", "least_selected": "f y", "most_selected": "m x"}
    return made.assign(worst_spd=0.4 + 0.05 * noisy + 0.01 * made["seed"], **crossed, **named)


def test_a_gap_may_close_for_one_attribute_and_widen_for_two():
    made = tables(rows())
    found = made["improved"].set_index(["dataset", "gap"]).loc[("lsac", "spd")]
    assert (found["no_wider_alone"], found["no_wider_crossed"]) == (found["settings"], 0)
    assert found["change_alone"] == pytest.approx(-0.1)
    assert found["change_crossed"] == pytest.approx(0.05)
    assert made["worst_off"]["least_selected"].unique().tolist() == ["f y"]
    assert set(made) == {"intersections", "changes", "improved", "worst_off"}


def test_figures_are_drawn():
    made = figures(rows(), None)
    assert set(made) == {f"intersections_{d}" for d in ("adult_reconstructed", "acs_public_coverage", "lsac")}
    assert "groups of gender x race, 3 seeds" in made["intersections_lsac"].get_suptitle()
    for figure in made.values():
        plt.close(figure)
