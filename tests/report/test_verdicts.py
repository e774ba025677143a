import copy

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairpriv.protocols.base import Check
from fairpriv.report.verdicts import COLUMNS, interval, judge, matches, read_cells, tally, unexplained

from .conftest import PAPER, TABLE


class Protocol:
    """Stands for a protocol: answers with the checks it is given."""

    def __init__(self, **checks):
        self.given = checks

    def checks(self, rows):
        assert (rows["status"] == "done").all()
        return self.given


def cells(values, epsilon=100, defense="conceal", status="done", **more):
    n = len(values)
    fixed = {"dataset": "toy", "epsilon": epsilon, "defense": defense, "seed": range(n)}
    return pd.DataFrame(fixed | {"error": values, "status": status, "seconds": 0.1} | more)


def first(rows, **more):
    return judge("toy_run", rows, **more).iloc[0]


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.0704], "reproduced"),  # one seed: rounding only
        ([0.0705], "reproduced"),  # on the edge of the rounding
        ([0.0706], "close"),
        ([0.0840], "close"),  # 20 % is the tolerance
        ([0.0841], "differs"),
        ([0.0706, 0.0706], "close"),  # no spread: rounding only
        ([0.060, 0.076, 0.082], "reproduced"),  # within chance
        ([0.0, 0.9, 0.0], "differs"),  # a wide interval does not make a far number reproduced
    ],
)
def test_rule(shelf, values, verdict):
    assert first(cells(values))["verdict"] == verdict


def test_half_width_is_the_stated_one(shelf):
    values = np.array([0.068, 0.070, 0.071, 0.073])
    sd = values.std(ddof=1)
    half = stats.t.ppf(0.975, 3) * sd * np.sqrt(1 / 4 + 1 / 4) + 0.0005  # 4 seeds, the paper's 4 runs, rounding
    assert half < 0.2 * 0.07
    for shift, verdict in ((half * 0.999, "reproduced"), (half * 1.001, "close")):
        assert first(cells(values - values.mean() + 0.07 + shift))["verdict"] == verdict
    assert f"reproduced within {half:.3g}" in first(cells(values))["rule"]


def test_printed_spread_widens(shelf):
    rows = cells([0.0524], defense="laplace")
    row = judge("toy_run", rows).iloc[2]
    assert row["verdict"] == "reproduced"
    assert row["paper_spread"] == pytest.approx(0.002)
    assert "printed spread" in row["rule"]
    assert judge("toy_run", cells([0.0526], defense="laplace")).iloc[2]["verdict"] == "close"


def test_interval_is_students():
    values = np.array([1.0, 2.0, 4.0, 7.0])
    low, high = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert interval(values) == pytest.approx((3.5, low, high))
    assert interval(values[:1])[0] == 1.0
    assert np.isnan(interval(values[:1])[1:]).all()


@pytest.mark.parametrize("written", [100, 100.0, "100", "100.0", "1e2"])
def test_selectors_are_numbers_where_they_can_be(written):
    for column in ([100, 10], [100.0, np.inf], ["100", "inf"], ["100.0", "x"], [100, None]):
        assert matches(pd.Series(column), written).tolist() == [True, False]


@pytest.mark.parametrize("written", ["inf", float("inf"), "∞"])
def test_infinity_matches(written):
    assert matches(pd.Series([np.inf, 1e308, -np.inf, np.nan]), written).tolist() == [True, False, False, False]
    assert matches(pd.Series(["inf", "100"]), written).tolist() == [True, False]


def test_words_match_whole():
    assert matches(pd.Series(["conceal", "conceal_tight", None]), "conceal").tolist() == [True, False, False]


def test_infinite_epsilon_is_judged_apart(shelf):
    rows = pd.concat([cells([0.07]), cells([0.0], epsilon=np.inf)], ignore_index=True)
    verdicts = judge("toy_run", rows)
    assert verdicts["verdict"].tolist()[:2] == ["reproduced", "reproduced"]
    assert verdicts["ours"].tolist()[:2] == [0.07, 0.0]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (pd.DataFrame(), "has not been run"),
        (cells([0.1], epsilon=5), "no such cells in this run"),
        (cells([0.1]).drop(columns="defense"), "no column defense"),
        (cells([None, None], status="failed"), "2 of 2 cells failed"),
        (cells([None], status="open"), "1 of 1 cells open"),
        (cells([0.1]).drop(columns="error"), "have no error"),
        (cells([None]), "have no error"),
        (cells([None], status="not run").assign(why="corpus on request"), "corpus on request"),
        # what a cell would have measured is not known either: it may be a selector
        (cells([None], status="not run").assign(why="corpus on request", defense=None), "corpus on request"),
        (cells([None], status="not run", epsilon=5).assign(why="corpus on request"), "no such cells in this run"),
    ],
)
def test_not_run_says_why(shelf, rows, reason):
    row = first(rows)
    assert row["verdict"] == "not run"
    assert reason in row["reason"]
    assert row["seeds"] == 0


def test_failed_cells_are_left_out(shelf):
    rows = pd.concat([cells([0.07, 0.07]), cells([9.0], status="failed")], ignore_index=True)
    assert first(rows)["seeds"] == 2


def test_cells_of_one_seed_are_averaged_and_it_is_said(shelf):
    rows = pd.concat([cells([0.06, 0.06], m=1), cells([0.08, 0.08], m=2)], ignore_index=True)
    row = first(rows)
    assert (row["ours"], row["seeds"]) == (pytest.approx(0.07), 2)
    assert "2 cells a seed averaged" in row["rule"]


def test_deviation_explains_what_differs_and_nothing_else(shelf):
    rows = pd.concat([cells([0.5]), cells([0.5], defense="laplace")], ignore_index=True)
    verdicts = judge("toy_run", rows)
    conceal, laplace = verdicts.iloc[0], verdicts.iloc[2]
    assert (conceal["verdict"], conceal["reason"]) == ("differs", "")
    assert (laplace["verdict"], laplace["reason"]) == ("differs", "known <s> slip")
    assert unexplained(verdicts) == [
        "toy2020 one error (dataset=toy, epsilon=100, defense=conceal): paper 0.07, ours 0.5"
    ]
    assert judge("toy_run", cells([0.05], defense="laplace")).iloc[2]["reason"] == ""


def test_deviation_by_number(shelf):
    said = copy.deepcopy(PAPER) | {"deviations": [{"where": {"epsilon": 100.0}, "reason": "why"}]}
    shelf(paper=said)
    assert first(cells([0.5]))["reason"] == "why"
    assert judge("toy_run", cells([0.5], epsilon=np.inf)).iloc[1]["reason"] == ""


@pytest.mark.parametrize(
    ("holds", "verdict"), [(True, "reproduced"), (np.True_, "reproduced"), (False, "differs"), (None, "not run")]
)
def test_claims(shelf, holds, verdict):
    row = judge("toy_run", cells([0.07]), Protocol(falls=Check("", holds, "3 of 4"))).iloc[-1]
    assert (row["kind"], row["metric"], row["verdict"]) == ("claim", "falls", verdict)
    assert "3 of 4" in (row["reason"] if holds is None else row["detail"])


def test_failed_claim_is_unexplained_until_a_deviation_names_it(shelf):
    protocol = Protocol(falls=Check("", False, "rose"))
    assert unexplained(judge("toy_run", cells([0.07]), protocol)) == ["toy2020 claims falls: rose"]
    shelf(paper=PAPER | {"deviations": [{"where": {"claim": "falls"}, "reason": "known"}]})
    verdicts = judge("toy_run", cells([0.07]), protocol)
    assert unexplained(verdicts) == []
    assert verdicts.iloc[-1]["reason"] == "known"


def test_claims_without_a_check(shelf):
    class Broken(Protocol):
        def checks(self, rows):
            raise KeyError("epsilon")

    for protocol, reason in ((None, "not at hand"), (Protocol(), "no check of this name"), (Broken(), "KeyError")):
        row = judge("toy_run", cells([0.07]), protocol).iloc[-1]
        assert row["verdict"] == "not run"
        assert reason in row["reason"]
    assert "no finished cells" in judge("toy_run", cells([None], status="open"), Protocol()).iloc[-1]["reason"]


def test_other_readings_are_shown_and_change_nothing(shelf):
    row = first(cells([0.5, 0.5], error_median=[0.07, 0.07]))
    assert (row["verdict"], row["detail"]) == ("differs", "error_median 0.07")


def test_no_paper_no_verdicts(shelf):
    assert judge("my_own", cells([0.07])) is None


def test_frame_and_tally(shelf):
    verdicts = judge("toy_run", cells([0.07]))
    assert tuple(verdicts.columns) == COLUMNS
    assert tally(verdicts) == {"reproduced": 1, "close": 0, "differs": 0, "not run": 3}


def test_disk_and_memory_agree(shelf, tmp_path):
    shelf(table=TABLE + "Fig. 1,toy,100,None,error,3,0.1,0,\n")
    rng = np.random.default_rng(3)
    parts = [cells(rng.normal(0.07, 0.002, 7)), cells([0.0] * 3, epsilon=np.inf), cells([0.3], defense="None")]
    rows = pd.concat([*parts, cells([np.nan], defense="laplace", status="failed")], ignore_index=True)
    rows["epsilon"] = rows["epsilon"].astype(object)
    rows.to_csv(tmp_path / "cells.csv", index=False)
    back = read_cells(tmp_path / "cells.csv")
    pd.testing.assert_frame_equal(judge("toy_run", rows), judge("toy_run", back))
    assert back["seed"].dtype == int
