import copy

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fairpriv.report.check import Check
from fairpriv.report.counts import by_paper, count, still_open
from fairpriv.report.verdicts import COLUMNS, interval, judge, matches, read_cells

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
        ([0.0, 0.9, 0.0], "consistent"),  # far, and three seeds that scatter so cannot tell
        ([0.299, 0.3, 0.301], "differs"),  # far, and more than chance
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
    assert first(cells(values))["rule"] == f"tolerance 0.014, chance within {half:.3g} (prediction interval)"


def test_chance_may_be_wider_than_the_tolerance(shelf):
    values = np.array([0.04, 0.07, 0.10])
    assert first(cells(values))["verdict"] == "reproduced"
    assert first(cells(values + 0.02))["verdict"] == "consistent"  # the tolerance is 0.014


def test_printed_deviation_is_welchs(shelf):
    values = np.array([0.050, 0.051, 0.052, 0.055])
    row = judge("toy_run", cells(values, defense="laplace")).iloc[2]
    a, b = values.var(ddof=1) / 4, 0.002**2 / 4
    half = stats.t.ppf(0.975, (a + b) ** 2 / (a**2 / 3 + b**2 / 3)) * np.sqrt(a + b) + 0.0005
    assert row["paper_spread"] == pytest.approx(0.002)
    assert row["rule"] == f"tolerance 0.01, chance within {half:.3g} (Welch)"
    for shift, verdict in ((half * 0.999, "reproduced"), (half * 1.001, "close")):
        moved = judge("toy_run", cells(values - values.mean() + 0.05 + shift, defense="laplace")).iloc[2]
        assert moved["verdict"] == verdict


def test_a_rate_is_judged_as_one(shelf):
    said = copy.deepcopy(PAPER)
    said["tables"][0] |= {"rates": ["error"], "tolerance": {"absolute": 0.1}}
    shelf(paper=said, table=TABLE.replace(",70,0.001,0,", ",0.50,1,2,"))
    assert first(cells([1.0, 1.0, 1.0]))["verdict"] == "consistent"
    assert "Fisher: 3 of 3 against 2 of 4" in first(cells([1.0, 1.0, 1.0]))["rule"]


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
    assert row["cause"] == ("data" if reason == "corpus on request" else "open")


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
    assert (conceal["verdict"], conceal["cause"], conceal["reason"]) == ("differs", "open", "")
    assert (laplace["verdict"], laplace["cause"], laplace["reason"]) == ("differs", "paper", "known <s> slip")
    assert laplace["shown_by"] == "experiments/toy2020/tables/one.csv"
    assert still_open(verdicts)[0] == (
        "differs: toy2020 one error (dataset=toy, epsilon=100, defense=conceal): paper 0.07, ours 0.5"
    )
    near = judge("toy_run", cells([0.05], defense="laplace")).iloc[2]
    assert (near["cause"], near["reason"], near["shown_by"]) == ("", "", "")


def test_a_deviation_may_say_why_something_was_not_run(shelf):
    verdicts = judge("toy_run", cells([0.07]))
    row = verdicts.iloc[2]
    assert (row["verdict"], row["cause"]) == ("not run", "paper")
    assert row["reason"] == "no such cells in this run: known <s> slip"


def test_by_construction_is_labelled_and_not_counted(shelf):
    so = [
        {"where": {"metric": "error", "epsilon": "inf"}, "label": "no noise, no error"},
        {"where": {"claim": "falls"}, "label": "it must"},
    ]
    before = judge("toy_run", cells([0.0], epsilon=np.inf))
    shelf(paper=PAPER | {"by_construction": so})
    after = judge("toy_run", cells([0.0], epsilon=np.inf))
    assert after["by_construction"].tolist() == ["", "no noise, no error", "", "it must"]
    assert after["verdict"].tolist() == before["verdict"].tolist()
    assert (count(before).tally["reproduced"], count(after).tally["reproduced"]) == (1, 0)
    assert sum(count(after).tally.values()) == 2
    assert count(after).by_construction == 2
    assert len(still_open(after)) == len(still_open(before)) - 1  # the claim, which was not run


def test_deviation_by_number(shelf):
    said = copy.deepcopy(PAPER) | {"deviations": [{"where": {"epsilon": 100.0}, "cause": "data", "reason": "why"}]}
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


@pytest.mark.parametrize(("sure", "verdict"), [(None, "differs"), (True, "differs"), (False, "consistent")])
def test_a_claim_that_fails_within_its_uncertainty_is_consistent(shelf, sure, verdict):
    row = judge("toy_run", cells([0.07]), Protocol(falls=Check("", False, "rose", sure))).iloc[-1]
    assert (row["verdict"], row["cause"]) == (verdict, "open" if verdict == "differs" else "")
    assert (
        judge("toy_run", cells([0.07]), Protocol(falls=Check("", True, "", sure))).iloc[-1]["verdict"] == "reproduced"
    )


def test_failed_claim_is_open_until_a_deviation_shows_why(shelf):
    protocol = Protocol(falls=Check("", False, "rose"))
    assert "differs: toy2020 claims falls: rose" in still_open(judge("toy_run", cells([0.07]), protocol))
    shelf(paper=PAPER | {"deviations": [{"where": {"claim": "falls"}, "cause": "data", "reason": "known"}]})
    row = judge("toy_run", cells([0.07]), protocol).iloc[-1]
    assert (row["cause"], row["reason"]) == ("data", "known")


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


def test_frame_and_counts(shelf):
    verdicts = judge("toy_run", pd.concat([cells([0.07]), cells([0.5], defense="laplace")], ignore_index=True))
    assert tuple(verdicts.columns) == COLUMNS
    counts = count(verdicts)
    assert counts.tally == {"reproduced": 1, "close": 0, "consistent": 0, "differs": 1, "not run": 2}
    assert counts.causes["differs"] == {"paper": 1, "data": 0, "unprinted": 0, "open": 0}
    assert str(counts) == "1 reproduced, 1 differs (1 paper), 2 not run (2 open)"
    assert by_paper(verdicts) == {"toy2020": counts}


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
