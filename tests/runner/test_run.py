"""The run command end to end: results, resume, failures, interruptions, engines."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairpriv.cells import Cell
from fairpriv.protocols.base import Result
from fairpriv.runner import work
from tests.conftest import TOY, timeless


def finished(folder) -> int:
    """Count the cells in a store (0 while there is none)."""
    path = folder / "results" / "cells.sqlite"
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(path) as db:
            return db.execute("SELECT count(*) FROM cells").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def children(pid) -> list[int]:
    """Return the worker processes of a driver (Linux; none elsewhere)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
            command = (stat.parent / "cmdline").read_text()
        except OSError:  # gone in between
            continue
        if int(text.rsplit(")", 1)[1].split()[1]) == pid and "popen_loky" in command:
            found.append(int(stat.parent.name))
    return found


def wait_for_cells(folder, n, seconds=60):
    deadline = time.time() + seconds
    while finished(folder) < n:
        assert time.time() < deadline, "the run did not start in time"
        time.sleep(0.02)


def test_results_folder_holds_what_the_contract_says(shell):
    shell.env["TOY_DRAWS"] = "yes"
    done = shell.toy("jobs=1")
    folder = shell.folder / "results" / "toy"
    cells = pd.read_csv(folder / "cells.csv")
    assert len(cells) == 12
    assert list(cells.columns[:4]) == ["dataset", "behaviour", "x", "seed"]
    assert list(cells.columns[-2:]) == ["status", "seconds"]
    assert (cells["status"] == "done").all()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["config"]["profile"]["name"] == "quick"
    assert manifest["seeds"] == [0, 1, 2, 3]
    assert manifest["packages"]["numpy"]
    assert (manifest["cells"], manifest["done"], manifest["failed"]) == (12, 12, 0)
    assert (folder / "tables" / "mean.csv").exists()
    for suffix in ("png", "pdf"):
        assert (folder / "figures" / f"series.{suffix}").stat().st_size > 1000
    assert "12/12 cells done (0 reused), 0 failed" in done.stdout


def test_second_run_computes_nothing_and_gives_the_same_bytes(shell):
    shell.toy("jobs=1")
    first = (shell.folder / "results/toy/cells.csv").read_bytes()
    assert "(12 reused)" in shell.toy("jobs=1").stdout
    assert (shell.folder / "results/toy/cells.csv").read_bytes() == first


def test_a_wider_grid_reuses_what_is_there_and_streams_do_not_move(shell):
    shell.toy("jobs=1")
    before = pd.read_csv(shell.folder / "results/toy/cells.csv").set_index(["x", "seed"])["draw"]
    done = shell.toy("jobs=1", "x=[1,2,3,4]", "seeds=5")
    assert "(12 reused)" in done.stdout
    after = pd.read_csv(shell.folder / "results/toy/x=[1,2,3,4]/cells.csv").set_index(["x", "seed"])["draw"]
    pd.testing.assert_series_equal(after.loc[before.index], before, check_exact=True)


def test_one_and_two_jobs_and_other_order_give_the_same_cells(shell):
    shell.toy("jobs=1", "results_dir=one")
    shell.toy("jobs=2", "results_dir=two")
    shell.toy("jobs=2", "results_dir=three", "x=[2]")
    shell.toy("jobs=1", "results_dir=three")
    texts = {timeless(shell.folder / name / "toy/cells.csv") for name in ("one", "two", "three")}
    assert len(texts) == 1


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_other_engines_give_the_same_cells(shell, engine):
    pytest.importorskip("distributed" if engine == "dask" else "ray")
    shell.toy("jobs=1", "results_dir=local")
    shell.toy(f"engine={engine}", "jobs=2", f"results_dir={engine}")
    assert timeless(shell.folder / engine / "toy/cells.csv") == timeless(shell.folder / "local/toy/cells.csv")


def test_kill_9_in_mid_sweep_then_resume_is_byte_identical(shell):
    slow = ["behaviour=slow", "seeds=12"]
    shell.toy(*slow, "jobs=2", "results_dir=whole")
    running = shell.start("run", "--conf-dir", str(TOY / "conf"), "experiment=toy", *slow, "jobs=2")
    wait_for_cells(shell.folder, 6)
    workers = children(running.pid)
    assert workers
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()
    kept = finished(shell.folder)
    assert 6 <= kept < 36
    assert not (shell.folder / "results/toy/behaviour=slow/cells.csv").exists()
    deadline = time.time() + 30  # the workers follow their driver
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):
        assert time.time() < deadline, "a worker outlived its driver"
        time.sleep(0.1)
    done = shell.toy(*slow, "jobs=2")
    assert f"({kept} reused)" in done.stdout
    ours, whole = (shell.folder / name / "toy/behaviour=slow/cells.csv" for name in ("results", "whole"))
    assert timeless(ours) == timeless(whole)


@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupt_exits_130_keeps_cells_and_says_how_to_resume(shell, jobs):
    running = shell.start(
        "run", "--conf-dir", str(TOY / "conf"), "experiment=toy", "behaviour=slow", "seeds=20", f"jobs={jobs}"
    )
    wait_for_cells(shell.folder, 3)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "the same command resumes" in said
    cells = pd.read_csv(shell.folder / "results/toy/behaviour=slow/cells.csv")
    assert set(cells["status"]) == {"done", "open"}
    assert "0 failed" in shell.toy("behaviour=slow", "seeds=20", "jobs=2").stdout


def test_a_failing_cell_fails_alone_is_shown_and_tried_again(shell):
    done = shell.toy("behaviour=fails", "seeds=2", code=1)
    cells = pd.read_csv(shell.folder / "results/toy/behaviour=fails/cells.csv")
    assert cells.groupby("x")["status"].unique().map(list).to_dict() == {1: ["done"], 2: ["failed"], 3: ["done"]}
    assert "two is not to my liking" in done.stderr
    status = shell("status").stdout
    assert "ValueError: two is not to my liking" in status
    assert "fairpriv_toy.py" in status  # the traceback
    (row,) = json.loads(shell("status", "--json").stdout)
    assert (row["done"], row["failed"], row["open"]) == (4, 2, 0)
    again = shell.toy("behaviour=fails", "seeds=2", code=1)
    assert "(4 reused), 2 failed" in again.stdout


def test_a_cell_that_cannot_run_here_is_not_run_with_its_reason_and_no_failure(shell):
    done = shell.toy("behaviour=lacks", "seeds=2")
    cells = pd.read_csv(shell.folder / "results/toy/behaviour=lacks/cells.csv")
    assert cells.groupby("x")["status"].unique().map(list).to_dict() == {1: ["done"], 2: ["not run"], 3: ["done"]}
    assert set(cells.loc[cells["x"] == 2, "why"]) == {"needs abacus"}
    assert "2 cells not run: needs abacus" in done.stderr
    assert "4/6 cells done (0 reused), 0 failed, 2 not run" in done.stdout
    (row,) = json.loads(shell("status", "--json").stdout)
    assert (row["done"], row["failed"], row["not run"], row["open"]) == (4, 0, 2, 0)
    assert "pip install abacus" in shell("status").stdout
    alone = shell.toy("behaviour=lacks", "x=2", code=2)
    assert alone.stderr.splitlines()[-1].startswith("fairpriv: x=2 needs a package")


def test_a_worker_that_dies_fails_its_task_and_the_rest_goes_on(shell):
    shell.toy("behaviour=dies", "seeds=4", "jobs=2", code=1)
    cells = pd.read_csv(shell.folder / "results/toy/behaviour=dies/cells.csv")
    assert set(cells.loc[cells["seed"] == 1, "status"]) == {"failed"}
    assert set(cells.loc[cells["seed"] != 1, "status"]) == {"done"}
    assert "the worker process died" in shell("status").stdout


def test_multirun_writes_a_folder_a_combination_with_flags_anywhere(shell):
    shell.toy("-m", "x=1,2", "jobs=1")
    shell.toy("x=range(2,4)", "--multirun", "jobs=1")
    folders = sorted(p.parent.name for p in (shell.folder / "results/toy").glob("*/cells.csv"))
    assert folders == ["x=1", "x=2", "x=3"]
    assert len(pd.read_csv(shell.folder / "results/toy/x=2/cells.csv")) == 4


def test_json_prints_json_only(shell):
    done = shell.toy("jobs=1", "--json")
    (row,) = json.loads(done.stdout)
    assert row["done"] == 12
    assert done.stderr == ""


def test_truncated_store_is_kept_aside_and_its_readable_cells_survive(shell):
    shell.toy("jobs=1", "seeds=200")
    path = shell.folder / "results" / "cells.sqlite"
    os.truncate(path, path.stat().st_size * 2 // 3)
    shutil.rmtree(shell.folder / "results/toy")  # what is committed there would make up for the loss
    done = shell.toy("jobs=1", "seeds=200")
    assert "the store was damaged" in done.stderr
    (aside,) = (shell.folder / "results").glob("cells.broken-*.sqlite")
    assert aside.stat().st_size > 0
    carried = int(done.stderr.split(" finished cells carried over")[0].rsplit(" ", 1)[1])
    assert carried > 100
    assert f"({carried} reused), 0 failed" in done.stdout


def test_store_that_is_no_database_is_kept_aside(shell):
    (shell.folder / "results").mkdir()
    (shell.folder / "results/cells.sqlite").write_text("this is not a database, but somebody's notes\n" * 100)
    done = shell.toy("jobs=1")
    assert "the store was damaged" in done.stderr
    (aside,) = (shell.folder / "results").glob("cells.broken-*.sqlite")
    assert "somebody's notes" in aside.read_text()


def test_results_dir_that_cannot_be_written_is_one_line_and_exit_2(shell):
    (shell.folder / "taken").write_text("a file")
    done = shell.toy("results_dir=taken", code=2)
    assert done.stderr.splitlines()[-1].startswith("fairpriv: cannot write results to taken")
    assert "Traceback" not in done.stderr


def test_full_disk_is_one_line_and_finished_cells_are_safe(shell):
    tiny_disk = (
        "import os, resource, signal, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)); "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = shell.command("run", "--conf-dir", str(TOY / "conf"), "experiment=toy", "seeds=2000", "jobs=1")
    done = subprocess.run(
        [sys.executable, "-c", tiny_disk, *command],
        cwd=shell.folder,
        env=shell.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "cannot write" in done.stderr.splitlines()[-1]
    kept = finished(shell.folder)
    assert kept > 0
    assert f"({kept} reused), 0 failed" in shell.toy("seeds=2000", "jobs=1").stdout


@pytest.mark.parametrize(
    ("overrides", "says"),
    [
        (["experiment=tyo"], "did you mean toy?"),
        (["experiment=toy", "y=1"], "unknown key 'y'"),
        (["experiment=toy", "x=-1"], "x must be > 0, got -1"),
        (["experiment=toy", "x=nan"], "x must be a number, got nan"),
        (["experiment=toy", "profile=quik"], "did you mean quick?"),
        (["experiment=toy", "dataset=adlut"], "did you mean adult"),
        (["experiment=toy", "engine=slurm"], "valid: dask, local, ray"),
        (["experiment=toy", "x=1,2"], "add -m"),
        (["experiment=toy", "seeds=0"], "seeds must be >= 1"),
        (["experiment=toy", "jobs=0"], "jobs must be a whole number >= 1"),
        (["experiment=toy", "attack=toy_attack", "attack.strength=0"], "strength must be > 0, got 0"),
        ([], "which experiment?"),
    ],
)
def test_bad_requests_are_one_line_with_the_choices_and_exit_2(shell, overrides, says):
    done = shell("run", "--conf-dir", str(TOY / "conf"), *overrides, code=2)
    assert len(done.stderr.strip().splitlines()) == 1
    assert says in done.stderr
    assert not (shell.folder / "results").exists()


def test_metrics_are_what_reads_back_from_the_store(monkeypatch):
    class Numpy:
        def run(self, cells, load):
            return [Result({"a": np.float64(0.5), "n": np.int64(3), "why": "x"})]

    monkeypatch.setattr(work, "build", lambda kind, name: Numpy())
    (done,) = work.perform(work.Task((0,), (Cell("numpy", {}),), frozenset([0])))
    assert [type(value) for value in done.metrics.values()] == [float, int, str]


def test_a_file_where_the_folder_should_be_is_said_before_anything_runs(shell):
    (shell.folder / "results").mkdir()
    (shell.folder / "results/toy").write_text("")
    done = shell.toy("jobs=1", code=2)
    (said,) = done.stderr.splitlines()
    assert said.endswith("results/toy is not a folder; choose another with results_dir=PATH")


@pytest.mark.parametrize("words", [["results_dir=" + "x" * 300], ["dataset=csv", f"dataset.path={'x' * 300}"]])
def test_a_name_that_no_disk_takes_is_one_line(shell, words):
    own = ["run", "experiment=attribute_conceal", "profile=smoke", "dataset.label=a", "dataset.protected=b"]
    more = [] if "dataset=csv" in words else ["dataset=csv", "dataset.path=x.csv"]
    (said,) = shell(*own, *words, *more, code=2).stderr.splitlines()
    assert "File name too long" in said


def test_a_store_in_a_folder_that_cannot_be_written_is_read(tmp_path, monkeypatch):
    import os

    from fairpriv.runner.store import Store

    store = Store(tmp_path)
    store.open()
    store.put_codes({"code": {"a": "b"}})
    store.close()
    if os.geteuid() != 0:
        tmp_path.chmod(0o555)
    else:  # whom nothing stops
        monkeypatch.setattr("fairpriv.runner.store.os.access", lambda *_: False)
    found = Store(tmp_path, read_only=True)
    assert (found.codes(), found.notices) == ({"code": {"a": "b"}}, [])
    assert [path.name for path in tmp_path.iterdir()] == ["cells.sqlite"]
    tmp_path.chmod(0o755)
