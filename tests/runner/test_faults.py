"""Killed at any moment, a run loses nothing that was done, leaves no worker, and resumes to the same bytes."""

import os
import random
import shutil
import signal
import time

import pandas as pd
import pytest

from tests.conftest import TOY, timeless
from tests.runner.test_run import children, finished, wait_for_cells

SLOW = ["experiment=toy", "behaviour=slow", "seeds=4", "jobs=2"]


def start(shell):
    return shell.start("run", "--conf-dir", str(TOY / "conf"), *SLOW)


def gone(pids, seconds=10) -> bool:
    deadline = time.time() + seconds
    while any(os.path.exists(f"/proc/{pid}") for pid in pids):
        if time.time() > deadline:
            return False
        time.sleep(0.05)
    return True


def killed_at_random(shell, tries: int, seed: int) -> dict[str, int]:
    draw = random.Random(seed)
    begin = time.monotonic()
    shell.toy(*SLOW[1:], "results_dir=whole")
    wall = time.monotonic() - begin
    (whole,) = (shell.folder / "whole").rglob("cells.csv")
    counts = {"killed": 0, "ended before": 0, "before the first cell": 0, "kept": 0}
    while counts["killed"] < tries:
        number, before = counts["killed"], finished(shell.folder)
        running = start(shell)
        # before the first cell in every third try: as soon as there is a worker, or earlier
        if number % 3 == 0:
            deadline = time.time() + draw.uniform(0, 4)
            while time.time() < deadline and not children(running.pid) and running.poll() is None:
                time.sleep(0.005)
        else:
            time.sleep(draw.uniform(0.1, 1) * wall)
        workers = children(running.pid)
        running.kill()  # nothing, where it has ended already
        running.communicate()
        assert gone(workers), "a worker outlived its driver by 10 s"
        kept = finished(shell.folder)
        assert kept >= before, "finished cells were lost"
        counts["killed" if running.returncode == -signal.SIGKILL else "ended before"] += 1
        counts["before the first cell"] += kept == before
        counts["kept"] += kept - before
        if kept == 12:
            shutil.rmtree(shell.folder / "results")  # from nothing again
    shell.toy(*SLOW[1:])
    (ours,) = (shell.folder / "results").rglob("cells.csv")
    assert timeless(ours) == timeless(whole)
    return counts


def test_kill_9_at_random_moments(shell, capsys):
    counts = killed_at_random(shell, tries=4, seed=1)
    with capsys.disabled():
        print(f"\nkill -9: {counts}")
    assert counts["ended before"] <= 20


@pytest.mark.slow
def test_kill_9_at_fifty_random_moments(shell, capsys):
    counts = killed_at_random(shell, tries=50, seed=2)
    with capsys.disabled():
        print(f"\nkill -9: {counts}")
    assert counts["before the first cell"] >= 10
    assert counts["kept"] >= 10


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 130)])
def test_other_signals_end_like_an_interrupt(shell, name, code):
    running = shell.start(
        "run", "--conf-dir", str(TOY / "conf"), "experiment=toy", "behaviour=slow", "seeds=30", "jobs=2"
    )
    wait_for_cells(shell.folder, 3)
    workers = children(running.pid)
    running.send_signal(getattr(signal, name))
    _, said = running.communicate(timeout=60)
    assert running.returncode == code, said
    assert "resume" in said
    assert gone(workers)
    (cells,) = (shell.folder / "results").rglob("cells.csv")
    assert set(pd.read_csv(cells)["status"]) == {"done", "open"}


@pytest.mark.parametrize("what", ["manifest", "key", "stamps", "csv"])
def test_broken_bytes_in_results_are_told_and_mended_not_a_traceback(shell, what):
    import sqlite3

    shell.toy("jobs=1")
    folder = shell.folder / "results/toy"
    good = timeless(folder / "cells.csv")
    if what == "manifest":
        (folder / "manifest.json").write_text("{")
    elif what == "key":
        with sqlite3.connect(shell.folder / "results/cells.sqlite") as db:
            db.execute("UPDATE cells SET key = CAST(x'ff00fe' AS TEXT) WHERE rowid = 1")
            db.execute("UPDATE cells SET cell = CAST(x'fffe' AS TEXT) WHERE rowid = 2")
    elif what == "stamps":
        (folder / "stamps.json.gz").write_bytes(b"\x1f\x8b garbage")
    else:
        (folder / "cells.csv").write_bytes(b"\xff\xfe\x00garbage")
    status = shell("status")
    assert "Traceback" not in status.stderr
    done = shell.toy("jobs=1")
    assert "Traceback" not in done.stderr
    assert timeless(folder / "cells.csv") == good
