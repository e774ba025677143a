import math

import pytest

from fairpriv.report.page import names
from fairpriv.report.page.numbers import aligned, rounded, significant


@pytest.mark.parametrize(
    ("mean", "half", "printed", "wanted"),
    [
        (0.0703, 0.0127, 3, ("0.070", "0.013")),
        (0.84131617, 0.00900979, 3, ("0.8413", "0.0090")),
        (83.123, 12.7, 1, ("83", "13")),
        (0.5, math.nan, 2, ("0.50", "")),
        (100.0, 0.0, 0, ("100.0", "0")),
        (math.nan, math.nan, 2, ("–", "")),
    ],
)
def test_a_number_is_rounded_by_its_interval(mean, half, printed, wanted):
    assert rounded(mean, half, printed) == wanted


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (0.00012345, "0.000123"), (32561, "32600"), (1.5e-9, "1.50e-09"), (-0.25, "-0.250")],
)
def test_few_digits_and_no_exponent_where_that_stays_short(value, text):
    assert significant(value) == text


def test_points_stand_below_each_other():
    padded = aligned(["0.25", "10", "–", "1.5"])
    ends = [len(text) - text.index(".") for text in (padded[0], padded[3])]
    assert ends[0] == ends[1]
    assert len(padded[1]) - 2 == 3  # a point and two digits, all blank
    assert padded[2] == "–"


def test_figures_are_in_the_papers_order():
    found = sorted(["mechanisms", "figure10", "figure2", "attackers"], key=names.natural)
    assert found == ["figure2", "figure10", "attackers", "mechanisms"]


def test_every_printed_column_and_metric_has_a_name_a_reader_knows():
    from fairpriv.report.papers import papers

    printed = [number for paper in papers() for table in paper.tables for number in table.numbers]
    said = names._said("names.yaml")
    assert {n.metric for n in printed} <= set(said["metrics"])
    assert {c for n in printed for c in n.selectors} <= set(said["columns"])
