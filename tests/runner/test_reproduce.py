"""`fairpriv reproduce`: from nothing into a folder of its own, resumed, and held against the committed results."""

import gzip
import json
import os
import signal
import subprocess

import pytest

from fairpriv.runner.overall import Overall, Part
from tests.conftest import ROOT, Shell
from tests.runner.test_lasting import change, own, rewrite  # noqa: F401  (a fixture)
from tests.runner.test_run import wait_for_cells


def reproduce(shell, *args, **more):
    return shell("reproduce", "toy", "--jobs", "1", *args, **more)


def test_a_reproduction_computes_everything_anew_and_says_that_it_is_equal(shell):
    shell.toy("jobs=1")
    done = reproduce(shell)
    assert "toy: 12 of 12 cells to compute, about " in done.stderr
    assert done.stdout.splitlines()[-1] == "against results: 12 of 12 cells equal, byte for byte"
    assert (shell.folder / "build/reproduce/report.html").is_file()
    said = json.loads((shell.folder / "build/reproduce/comparison.json").read_text())
    assert said["experiments"]["toy"]["equal"] == 12
    again = reproduce(shell, "--json")  # it goes on from its own cells, and from no others
    assert "0 cells to compute" not in again.stderr  # quiet
    assert json.loads(again.stdout) == said


def test_cells_that_are_not_committed_are_counted_apart(shell):
    shell.toy("jobs=1", "seeds=2")
    assert "6 of 6 cells equal, byte for byte; 6 more have no committed counterpart" in reproduce(shell).stdout
    nothing = reproduce(shell, "--against", "nowhere", "--into", "other")
    assert "no committed cells to compare its 12 with" in nothing.stdout


def test_rounding_and_differences_are_told_apart_with_the_reason(own):  # noqa: F811
    own.run("jobs=1")
    (own.folder / "results/cells.sqlite").unlink()
    folder = own.folder / "results/toy"
    rewrite(folder, 1e-13)
    stamps = folder / "stamps.json.gz"
    said = json.loads(gzip.decompress(stamps.read_bytes()))
    said["origins"][0]["versions"]["python"] = "3.5"
    stamps.write_bytes(gzip.compress(json.dumps(said).encode()))
    done = reproduce(own)
    assert "0 of 12 cells equal, byte for byte" in done.stdout
    assert "12 equal within rounding: python 3.5 -> 3." in done.stdout
    rewrite(folder, 1e-3)
    done = reproduce(own, code=1)
    assert "12 different: python 3.5 -> 3." in done.stdout
    assert "draw: " in done.stdout


def test_a_difference_that_nothing_explains_is_computed_once_more_and_called_by_its_name(own):  # noqa: F811
    own.run("jobs=1")
    (own.folder / "results/cells.sqlite").unlink()
    rewrite(own.folder / "results/toy", 1e-3)
    done = reproduce(own, code=1)
    assert "12 different: code, data, packages and processor are the same: it does not reproduce" in done.stdout


def test_changed_code_is_named_as_the_reason(own):  # noqa: F811
    own.run("jobs=1")
    change(own.plugin, '"draw": draw * cell["x"]', '"draw": draw * cell["x"] + 1')
    done = reproduce(own, code=1)
    assert "12 different: the committed cell is of other code (fairpriv_toy.py::Toy.run changed)" in done.stdout


def test_what_lacks_its_data_is_skipped_with_the_reason(shell, tmp_path):
    empty = {"FAIRPRIV_DATA": "", "FAIRPRIV_CACHE": str(tmp_path / "cache")}
    environment = {**empty, "PIP_INDEX_URL": "file:///nowhere", "PIP_NO_INDEX": "1"}
    done = shell("reproduce", "toy", "ldp_fairness", "--profile", "smoke", "--jobs", "1", code=None, **environment)
    if "ldp_fairness: skipped:" not in done.stdout:
        pytest.skip("its data can be had here all the same")
    assert done.returncode == 0
    assert "toy: 12 of 12 cells done" in done.stdout


def test_what_is_left_out_says_why_and_is_run_by_name(own):  # noqa: F811
    change(own.folder / "toy/conf/experiment/toy.yaml", "name: toy", "left_out: it makes no table\nname: toy")
    assert "toy: 12 of 12 cells done" in reproduce(own).stdout
    from fairpriv.listing import left_out, options

    reasons = {name: left_out(name) for name in options("experiment")}
    assert {name for name, why in reasons.items() if why} == {"obfuscation_settings"}


def test_requests_that_cannot_be_are_one_line(shell):
    shell.toy("jobs=1")
    for words, says in (
        (["tyo"], "did you mean toy"),
        (["toy", "--into", "results"], "choose another folder"),
        (["toy", "--profile", "quik"], "did you mean quick"),
        (["toy", "--jobs", "0"], "jobs must be"),
    ):
        done = shell("reproduce", *words, code=2)
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_interrupted_it_resumes_where_it_stopped(own):  # noqa: F811
    change(own.folder / "toy/conf/sweep/toy/quick.yaml", "[quick]", "[slow]")
    change(own.folder / "toy/conf/sweep/toy/quick.yaml", "seeds: 4", "seeds: 20")
    running = own.start("reproduce", "toy", "--jobs", "1", "--into", "results", "--against", "committed")
    # `--into results`: where wait_for_cells looks
    wait_for_cells(own.folder, 6)
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "resumes where it stopped: fairpriv reproduce toy" in said
    done = reproduce(own, "--into", "results", "--against", "committed")
    assert "toy: 60 of 60 cells to compute" not in done.stderr
    assert "toy: 60 of 60 cells done" in done.stdout


def test_the_time_left_is_the_forecast_corrected_by_its_past(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("fairpriv.runner.overall.time.monotonic", lambda: now[0])
    view = Overall({"short": Part(10, 100.0), "long": Part(2, 200.0)}, quiet=True)
    assert view.left == 300
    view.begin("short", 10, [10.0] * 10, failed=0, not_run={})
    for _ in range(10):
        now[0] += 20  # twice as slow as forecast
        view.cell(10.0, failed=False)
    assert view.left == pytest.approx(400)


def test_verify_leaves_out_what_does_not_fit_into_its_minutes(own):  # noqa: F811
    own.run("jobs=1")
    assert own("verify", "--sample", "9", "--minutes", "5").stdout.startswith("9 equal in bytes")
    assert "no cell of the sample takes less" in own("verify", "--minutes", "1e-12", code=2).stderr
    assert "--minutes must be > 0" in own("verify", "--minutes", "0", code=2).stderr


@pytest.mark.slow  # a minute and more
def test_everything_is_reproduced_at_smoke_size(tmp_path):
    shell = Shell(tmp_path, {**os.environ, "PYTHONPATH": str(ROOT)})
    command = shell.command("reproduce", "--profile", "smoke", "--against", str(ROOT / "results"), "--json")
    done = subprocess.run(command, cwd=tmp_path, env=shell.env, capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert done.returncode == 0, said
    for name, one in said["experiments"].items():
        assert one["failed"] == 0, name
        assert one["equal"] == one["compared"], name
    assert (tmp_path / "build/reproduce/report.html").is_file()


def test_a_cell_is_forecast_to_take_what_it_took():
    from types import SimpleNamespace

    from fairpriv.cells import Cell
    from fairpriv.runner.survey import Seat, forecast

    cells = [Cell("toy", {"x": x}, {}, 0) for x in (1, 2, 3)]
    kept = [SimpleNamespace(cell=cell, seconds=seconds) for cell, seconds in zip(cells, (1.0, 5.0))]
    library = SimpleNamespace(by_key=dict(enumerate(kept)), by_cell={k.cell.identity: [k] for k in kept})
    assert forecast([Seat(cells[1], "missing")], library, 1) == (5.0, 0)
    assert forecast([Seat(cells[2], "missing")], library, 2) == (1.5, 0)  # never seen: the mean, on two workers
    assert forecast([Seat(Cell("other", {}, {}, 0), "missing")], library, 1) == (0.0, 1)
