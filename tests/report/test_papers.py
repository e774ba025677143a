"""What stands in experiments/ is well formed: one test over every paper, and what the reader refuses."""

import copy
import math

import pytest

from fairpriv.errors import BadRequest
from fairpriv.paths import share
from fairpriv.report.papers import papers, read_paper

from .conftest import PAPER, TABLE

FOLDERS = sorted(p.parent for p in share("experiments").glob("*/paper.yaml"))


def test_there_are_papers():
    assert FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_paper_is_well_formed(folder):
    paper = read_paper(folder)
    assert paper.key == folder.name
    assert {"authors", "title", "venue", "year"} <= set(paper.citation)
    assert isinstance(paper.citation["authors"], list)
    assert (folder / "README.md").stat().st_size > 200
    names = [t.name for t in paper.tables]
    assert len(set(names)) == len(names)
    assert {p.stem for p in (folder / "tables").glob("*.csv")} == set(names), "a table that nothing refers to"
    ids = [c["id"] for c in paper.claims]
    assert len(set(ids)) == len(ids)
    for claim in paper.claims:
        assert claim["id"].isidentifier()
        assert claim["text"].endswith(".")
    for where in [d.where for d in paper.deviations] + [c["where"] for c in paper.by_construction]:
        assert "claim" in where or {"table", "metric"} <= set(where), f"too broad: {where}"
        assert where.get("claim") is None or where["claim"] in ids


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_tables_are_well_formed(folder):
    for table in read_paper(folder).tables:
        assert table.numbers
        assert table.runs >= 1
        seen = set()
        for printed in table.numbers:
            key = (printed.metric, *sorted(printed.selectors.items()))
            assert key not in seen, f"{table.name} prints {key} twice"
            seen.add(key)
            assert printed.selectors
            assert math.isclose(math.log10(printed.scale) % 1, 0, abs_tol=1e-9), "scale is a power of ten"
            # as printed: no more decimals than it says
            assert printed.value == pytest.approx(round(printed.value, printed.decimals), abs=1e-12)
            assert table.close(printed) > 0
            rule = table.tolerance.get(printed.metric, table.tolerance)
            assert set(rule) <= {"relative", "absolute"}, f"{table.name} has no tolerance for {printed.metric}"


def test_hamman_numbers_stand_as_printed():
    paper = next(p for p in papers() if p.key == "hamman2023")
    assert {t.name: len(t.numbers) for t in paper.tables} == {
        "table1": 64,
        "table2": 36,
        "table3": 32,
        "table4": 12,
        "text_conceal": 3,
        "text_reveal": 7,
    }
    first = paper.tables[0].numbers[0]
    assert (first.ours, first.text, first.rounding) == (pytest.approx(0.0109), "0.0109", pytest.approx(0.00005))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.replace("value,", "worth,"), "missing column value"),
        (TABLE.replace(",70,", ",seventy,"), "line 2: value must be a number"),
        (TABLE.replace(",0,2", ",0,two"), "line 4: spread must be a number"),
        (TABLE.replace("70,0.001", "70,0"), "scale must be > 0"),
        (TABLE.replace("70,0.001,0", "70,0.001,0.5"), "decimals a whole number"),
        (TABLE + "x,toy\n", "as many fields"),
    ],
)
def test_bad_table_is_refused_in_one_line(shelf, table, message):
    folder = shelf(table=table)
    with pytest.raises(BadRequest, match=message) as caught:
        read_paper(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "key", ["key", "citation", "tables.title", "claims.where", "deviations.reason", "deviations.cause"]
)
def test_bad_paper_is_refused(shelf, key):
    said = copy.deepcopy(PAPER)
    outer, _, inner = key.partition(".")
    if inner:
        del said[outer][0][inner]
    else:
        del said[outer]
    with pytest.raises(BadRequest, match=r"paper\.yaml"):
        read_paper(shelf(paper=said))


def test_paper_without_anything_to_say_is_refused(shelf):
    with pytest.raises(BadRequest, match="no numbers and no claims"):
        read_paper(shelf(paper={"key": "toy2020", "citation": {}}))


def changed(section, **changes):
    said = copy.deepcopy(PAPER)
    said[section][0] |= changes
    return said


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (changed("deviations", shown_by=""), "cause paper needs shown_by"),
        (changed("deviations", cause="unprinted", shown_by=""), "cause unprinted needs shown_by"),
        (changed("deviations", cause="luck"), "cause must be one of paper, data, unprinted, open, got luck"),
        (changed("deviations", shown_by="results/none.csv"), "shown_by names results/none.csv, which does not exist"),
        (changed("deviations", cause="open", shown_by="results/none.csv"), "which does not exist"),
        (changed("deviations", shown_by="experiments/toy2020/paper.yaml::test_it"), "which does not exist"),
        (changed("tables", spread=""), "paper.yaml must say which"),
        (changed("tables", spread="range"), "spread must be one of sd, se, ci"),
        (changed("tables", runs=1), "of at least 2 runs; got sd, 1"),
        (PAPER | {"by_construction": [{"where": {}, "label": "so"}]}, "by_construction needs `where`"),
    ],
)
def test_what_is_not_shown_is_refused_in_one_line(shelf, said, message):
    with pytest.raises(BadRequest, match=message) as caught:
        read_paper(shelf(paper=said))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cause", ["data", "open"])
def test_these_causes_need_nothing_shown(shelf, cause):
    assert read_paper(shelf(paper=changed("deviations", cause=cause, shown_by=""))).deviations[0].cause == cause


def test_a_test_may_show_it(shelf):
    folder = shelf(paper=changed("deviations", shown_by="tests/test_toy.py::test_it"))
    (folder.parents[1] / "tests").mkdir()
    (folder.parents[1] / "tests" / "test_toy.py").write_text("def test_it(): ...\n", encoding="utf-8")
    assert read_paper(folder).deviations[0].shown_by == "tests/test_toy.py::test_it"


def test_an_installed_wheel_has_no_results_and_no_tests(shelf, tmp_path):
    folder = shelf(paper=changed("deviations", shown_by="results/none.csv"))
    packed = tmp_path / "_share" / "experiments"
    packed.parent.mkdir()
    folder.parent.rename(packed)
    assert read_paper(packed / folder.name).deviations[0].shown_by == "results/none.csv"
