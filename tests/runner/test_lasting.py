"""Results last: committed cells are reused, changes are named, adopted only where they keep results, and redrawn."""

import gzip
import json
import shutil
import sqlite3
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from fairpriv.cells import Cell
from fairpriv.runner.adopt import _to_check
from fairpriv.runner.kept import Kept, Origin
from fairpriv.stamps.stamp import Stamp
from tests.conftest import ROOT, TOY, Shell


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The command line with a copy of the toy package that a test may change."""
    place = tmp_path / "toy"
    shutil.copytree(TOY, place, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", str(place))
    import os

    shell = Shell(tmp_path, dict(os.environ))
    shell.plugin = place / "fairpriv_toy.py"
    shell.run = lambda *args, **more: shell("run", "--conf-dir", str(place / "conf"), "experiment=toy", *args, **more)
    return shell


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def snapshot(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_clone_without_the_store_reuses_every_cell_and_gives_the_same_bytes(own):
    own.run("jobs=1")
    (own.folder / "results/cells.sqlite").unlink()
    before = snapshot(own.folder / "results/toy")
    done = own.run("jobs=1")
    assert "12 of 12 cells reused" in done.stderr
    assert "(12 reused)" in done.stdout
    assert snapshot(own.folder / "results/toy") == before
    assert "computing" not in done.stderr


def test_more_seeds_are_added_and_none_lost(own):
    own.run("jobs=1", "seeds=4")
    own.run("jobs=1", "seeds=[7]")
    own.run("jobs=1", "seeds=2")
    rows = pd.read_csv(own.folder / "results/toy/cells.csv")
    assert sorted(set(rows["seed"])) == [0, 1, 2, 3, 7]
    assert (rows["status"] == "done").all()
    assert list(rows["seed"][:5]) == [0, 1, 2, 3, 7]  # seeds ascend within a point
    assert "3 more in the folder" in own.run("jobs=1", "seeds=4").stderr


@pytest.mark.parametrize("place", ["cells.csv", "store", "both"])
def test_a_changed_digit_is_found_named_and_recomputed(own, place):
    own.run("jobs=1")
    cells = own.folder / "results/toy/cells.csv"
    good = cells.read_text()
    row = good.splitlines()[3]
    digit = row.split(",")[4]  # x=1, seed=2: its draw
    other = digit[:-1] + ("1" if digit[-1] != "1" else "2")
    if place != "store":
        cells.write_text(good.replace(digit, other))
    if place != "cells.csv":
        with sqlite3.connect(own.folder / "results/cells.sqlite") as db:
            (before,) = db.execute("SELECT count(*) FROM cells WHERE metrics LIKE ?", (f"%{digit}%",)).fetchone()
            assert before == 1
            db.execute("UPDATE cells SET metrics = replace(metrics, ?, ?)", (digit, other))
    done = own.run("jobs=1")
    assert "does not match its checksum" in done.stderr
    assert "seed=2" in done.stderr or '"seed":2' in done.stderr
    times = [line.rsplit(",", 1)[0] for line in cells.read_text().splitlines()]
    assert times == [line.rsplit(",", 1)[0] for line in good.splitlines()]
    if place == "both":
        assert "(11 reused)" in done.stdout


def arrays_in(folder: Path) -> int:
    import numpy as np

    with np.load(folder / "arrays.npz") as archive:
        return len(archive.files)


def test_arrays_that_figures_ask_for_are_committed_and_drawn_from(own):
    folder = own.folder / "results/toy"
    own.run("jobs=1")
    assert arrays_in(folder) == 12  # nothing is drawn: nobody says which are needed
    own.env["TOY_DRAWS"] = "yes"
    own("render", "--force")
    assert arrays_in(folder) == 1
    (own.folder / "results/cells.sqlite").unlink()
    (folder / "figures/series.png").unlink()
    own.run("jobs=1")
    assert (folder / "figures/series.png").is_file()
    assert arrays_in(folder) == 1


def test_a_figure_that_asks_for_other_arrays_gets_them_from_the_store_or_says_that_they_are_not_at_hand(own):
    own.env["TOY_DRAWS"] = "yes"
    own.run("jobs=1")
    report, folder = own.plugin.with_name("fairpriv_toy_report.py"), own.folder / "results/toy"
    before = (folder / "figures/series.png").read_bytes()
    change(report, 'rows["x"].iloc[0]', 'rows["x"].iloc[-1]')
    assert "not at hand" not in own.run("jobs=1").stderr
    assert (folder / "figures/series.png").read_bytes() != before
    (own.folder / "results/cells.sqlite").unlink()
    change(report, 'rows["x"].iloc[-1]', 'rows["x"].iloc[5]')
    assert "could not be drawn" in own.run("jobs=1").stderr
    assert "not at hand: recompute=true computes them" in own("status").stdout
    own.run("jobs=1", "recompute=true")
    assert "not at hand" not in own("status").stdout


def test_dry_run_and_status_say_what_is_outdated_and_why_and_write_nothing(own):
    own.run("jobs=1")
    change(own.plugin, "draw * cell", "1.0 * draw * cell")
    (own.folder / "results/cells.sqlite").unlink()
    before = snapshot(own.folder / "results")
    done = own.run("seeds=5", "--dry-run")
    assert "0 of 15 cells reused, 3 missing, 12 outdated" in done.stdout
    assert "12 outdated: fairpriv_toy.py::Toy.run changed" in done.stdout
    said = json.loads(own.run("--dry-run", "--json").stdout)[0]
    assert (said["done"], said["outdated"]) == (0, 12)
    assert "12 cells outdated" in own("status").stdout
    assert snapshot(own.folder / "results") == before


def test_words_and_presentation_do_not_outdate(own):
    own.run("jobs=1")
    change(own.plugin, '"""Draws a number;', '"""Draws one number;')
    change(own.plugin.with_name("fairpriv_toy_report.py"), '"mean": rows', '"means": rows')
    done = own.run("jobs=1")
    assert "(12 reused)" in done.stdout
    assert (own.folder / "results/toy/tables/means.csv").exists()  # drawn again, without computing
    assert not (own.folder / "results/toy/tables/mean.csv").exists()


def test_a_refactor_that_keeps_results_is_adopted_and_logged(own):
    own.run("jobs=1")
    change(own.plugin, "draw * cell", "cell")
    change(own.plugin, '"draw": cell["x"]', '"draw": cell["x"] * draw')
    done = own("adopt", "--reason", "factors in another order")
    assert "12 cells adopted, 2 of them computed again and equal" in done.stdout  # the quickest and the slowest
    (entry,) = map(json.loads, (own.folder / "results/toy/adopted.jsonl").read_text().splitlines())
    assert entry["reason"] == "factors in another order"
    assert entry["changed"] == {"fairpriv_toy.py::Toy.run changed": 12}
    assert "(12 reused)" in own.run("jobs=1").stdout
    (own.folder / "results/cells.sqlite").unlink()  # and in the committed stamps
    assert "(12 reused)" in own.run("jobs=1").stdout


def test_what_was_computed_again_and_never_written_is_adopted_with_the_rest(own):
    """The store may be ahead of cells.csv, as after a run that was stopped: rows keep their checksums."""
    own.run("jobs=1")
    shutil.copytree(own.folder / "results/toy", own.folder / "before")
    change(own.plugin, "draw * cell", "1.0 * draw * cell")
    own.run("jobs=1", "seeds=1")
    shutil.rmtree(own.folder / "results/toy")
    shutil.copytree(own.folder / "before", own.folder / "results/toy")
    assert "9 cells adopted" in own("adopt", "--reason", "times one").stdout
    (own.folder / "results/cells.sqlite").unlink()
    done = own.run("jobs=1")
    assert "(12 reused)" in done.stdout
    assert "checksum" not in done.stdout + done.stderr


def test_the_slowest_cells_are_checked_too_as_far_as_time_allows():
    """A large problem may take a path of its own, which the quickest cell of its kind does not see."""
    origin = Origin({}, "", "", "")

    def one(attack, seed, seconds):
        cell = Cell("attribute_conceal", {}, {"attack": {"name": attack}}, seed)
        return Kept(Stamp(cell.identity, "", "code"), {}, seconds, origin, {})

    kept = [
        one("a", 0, 5.0),
        one("a", 1, 1.0),
        one("a", 2, 50.0),
        one("b", 0, 200.0),
        one("b", 1, 2.0),
        one("c", 0, 9.0),
    ]
    assert _to_check(kept, kept, 1) == [1, 4, 5, 2]  # b's slowest takes longer than is given to all


def test_a_change_of_the_last_bit_is_refused_and_the_cell_named(own):
    own.run("jobs=1")
    change(own.plugin, '"draw": draw * cell["x"]', '"draw": float(__import__("numpy").nextafter(draw * cell["x"], 9))')
    done = own("adopt", "--reason", "no change, I swear", code=1)
    assert "not adopted" in done.stderr
    assert "behaviour=quick" in done.stderr
    assert "seed=" in done.stderr
    assert "(0 reused)" in own.run("jobs=1").stdout


def test_an_open_row_with_an_axis_of_its_own_hides_no_finished_one(own):
    from fairpriv.runner.folder import read_folder

    own.run("jobs=1")
    path = own.folder / "results/toy/cells.csv"
    rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    unfinished = rows.assign(status="open", seconds="", **{"defense.algorithm": "another"})
    pd.concat([rows, unfinished]).fillna("").to_csv(path, index=False)
    held = read_folder(path.parent)
    assert (len(held.kept), held.notices) == (12, [])


def test_verify_counts_equal_rounded_and_different_cells(own):
    own.run("jobs=1")
    assert own("verify", "--sample", "5").stdout.startswith("5 equal in bytes, 0 equal within rounding, 0 different")
    with sqlite3.connect(own.folder / "results/cells.sqlite") as db:
        db.execute("DELETE FROM cells")
    # as if another processor, and then another method, had computed them: stamps and sums of their own
    for shift, says in ((1e-13, "0 equal in bytes, 4 equal within rounding, 0 different"), (1e-3, "4 different")):
        rewrite(own.folder / "results/toy", shift)
        done = own("verify", "--sample", "4", code=0 if shift < 1e-9 else 1)
        assert says in done.stdout
    assert "draw: " in done.stdout


def test_verify_leaves_out_cells_that_need_a_package_which_is_not_here(own):
    own.run("jobs=1")
    change(own.plugin, 'cell["behaviour"] == "lacks" and cell["x"] == 2', 'cell["x"] == 2')
    done = own("verify", "--sample", "12")
    assert "4 not computed here: needs abacus" in done.stdout
    assert done.stdout.startswith("8 equal in bytes, 0 equal within rounding, 0 different")
    assert "failed" not in done.stdout


def rewrite(folder, shift):
    """Shift a metric in cells.csv and give the rows valid checksums."""
    from dataclasses import replace

    from fairpriv.runner.folder import read_folder, write_stamps

    held = read_folder(folder)
    shifted = [replace(k, metrics=dict(k.metrics) | {"draw": k.metrics["draw"] * (1 + shift)}) for k in held.kept]
    rows = pd.read_csv(folder / "cells.csv", dtype=str, keep_default_na=False)
    rows["draw"] = [repr(k.metrics["draw"]) for k in shifted]
    rows.to_csv(folder / "cells.csv", index=False)
    write_stamps(folder, shifted, held.codes)


def test_other_package_versions_are_told_and_strict_recomputes(own):
    own.run("jobs=1")
    (own.folder / "results/cells.sqlite").unlink()
    stamps = own.folder / "results/toy/stamps.json.gz"
    said = json.loads(gzip.decompress(stamps.read_bytes()))
    said["origins"][0]["versions"]["python"] = "3.5"
    stamps.write_bytes(gzip.compress(json.dumps(said).encode()))
    done = own.run("jobs=1")
    assert "12 cells made with other packages (python 3.5 -> " in done.stderr
    assert "(12 reused)" in done.stdout
    assert "(0 reused)" in own.run("jobs=1", "reuse=strict").stdout


def test_recompute_ignores_finished_cells(own):
    own.run("jobs=1")
    assert "(0 reused)" in own.run("jobs=1", "recompute=true").stdout


def test_workers_are_pinned_and_say_so(own):
    own.run("jobs=1")
    said = json.loads(gzip.decompress((own.folder / "results/toy/stamps.json.gz").read_bytes()))
    from fairpriv.runner import pin

    (origin,) = said["origins"]
    assert origin["pin"] == ("none" if pin.why_not() else pin.NAME)
    assert origin["processor"] == pin.processor()


def test_a_figure_that_fails_is_a_warning_with_its_traceback_in_status(own):
    done = own.run("jobs=1", "behaviour=undrawable")
    assert "figures could not be drawn: ValueError: no picture of this" in done.stderr
    status = own("status").stdout
    assert "ValueError: no picture of this" in status
    assert "Traceback" in status


def test_status_reads_a_broken_store_without_moving_it(own):
    own.run("jobs=1")
    path = own.folder / "results/cells.sqlite"
    path.write_text("somebody's notes\n" * 100)
    assert "cannot be read" in own("status").stdout
    assert path.read_text().startswith("somebody's notes")
    assert not list((own.folder / "results").glob("cells.broken*"))


def test_a_parameter_or_axis_added_later_changes_no_stamp_and_no_stream(own):
    own.run("jobs=1", "attack=toy_attack")
    before = pd.read_csv(next((own.folder / "results/toy").rglob("cells.csv")))
    added = '    later: ClassVar = ("zeal",)\n    zeal: float = 0.5\n'
    change(own.plugin, "    strength: float = 1.0\n", "    strength: float = 1.0\n" + added)
    change(
        own.plugin,
        '    shared: ClassVar[tuple[str, ...]] = ("x",)\n',
        '    shared: ClassVar[tuple[str, ...]] = ("x",)\n    later: ClassVar[dict] = {"mood": "calm"}\n',
    )
    own("adopt", "--reason", "a parameter and an axis at their defaults")
    done = own.run("jobs=1", "attack=toy_attack")
    assert "(12 reused)" in done.stdout
    after = own.run("jobs=1", "attack=toy_attack", "attack.zeal=0.7")
    assert "(0 reused)" in after.stdout
    assert len(before) == 12


def test_render_of_the_committed_results_changes_nothing(tmp_path):
    """What is committed is what the code draws: git stays clean."""
    copy = tmp_path / "results"
    shutil.copytree(ROOT / "results", copy, ignore=shutil.ignore_patterns("*.sqlite*"))
    before = snapshot(copy)
    done = subprocess.run(
        [__import__("sys").executable, "-m", "fairpriv", "render", "--results-dir", str(copy)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "0 folders drawn" in done.stdout
    after = snapshot(copy)
    assert {p for p in before | after if before.get(p) != after.get(p)} == set()


def test_every_committed_cell_is_of_the_present_code():
    from fairpriv.runner.status import status_rows

    rows = status_rows(ROOT / "results")
    for row in rows:
        assert row["outdated"] == 0, (row["experiment"], row["why_outdated"])
        assert not row["notices"]
    assert sum(row["done"] for row in rows) > 4_000


def test_what_stands_beside_is_drawn_with_it_and_again_when_it_changes(own):
    report = own.plugin.with_name("fairpriv_toy_report.py")
    change(report, "import Presenter\n", "import Beside, Presenter\n")
    frame = "pd.DataFrame({'ours': [len(rows)], 'theirs': [len(other)]})"
    count = f"def both(rows, other):\n    return {{'beside': {frame}}}\n\n\n"
    none = "def no_figures(rows, other):\n    return {}\n\n\n"
    change(report, "PRESENTERS = ", count + none + "PRESENTERS = ")
    change(report, "Presenter(tables, figures)", "Presenter(tables, figures, beside=Beside('other', both, no_figures))")
    own.run("jobs=1")
    tables = own.folder / "results/toy/tables"
    assert not (tables / "beside.csv").exists()  # nothing there: it costs nothing
    other = own.folder / "results/other/cells.csv"
    other.parent.mkdir()
    for n in (2, 3):
        pd.DataFrame({"y": range(n), "seed": range(n), "status": ["done"] * (n - 1) + ["failed"]}).to_csv(
            other, index=False
        )
        assert "1 folders drawn" in own("render", "toy").stdout
        assert pd.read_csv(tables / "beside.csv").to_dict("list") == {"ours": [12], "theirs": [n - 1]}
    assert "0 folders drawn" in own("render", "toy").stdout
