"""Every experiment, generically: composes in every profile, every axis can be pinned, smoke runs end to end."""

import contextlib
import json

import pandas as pd
import pytest

from fairpriv import config
from fairpriv.errors import DataUnavailable
from fairpriv.registry import build
from fairpriv.runner import driver
from fairpriv.runner.library import open_library

config.start()
EXPERIMENTS = config.options("experiment")
PROFILES = ("smoke", "quick", "paper")


@pytest.fixture(autouse=True)
def conf():
    config.start()


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_profile_gives_valid_cells(experiment, profile):
    plan = config.plan([f"experiment={experiment}", f"profile={profile}"])
    protocol = build("protocols", plan.protocol)
    assert plan.cells
    for cell in plan.cells[:: max(1, len(plan.cells) // 200)]:
        with contextlib.suppress(DataUnavailable):  # a package that only some cells need
            protocol.validate(cell)
    assert set(protocol.shared) <= set(plan.config["axes"])


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_quick_has_every_axis_declared_and_paper_is_no_smaller(experiment):
    quick, paper = (config.plan([f"experiment={experiment}", f"profile={p}"]) for p in ("quick", "paper"))
    used = {axis for cell in quick.cells for axis in cell.axes}
    assert used <= set(quick.config["axes"])
    assert len(paper.cells) >= len(quick.cells)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_scalar_axis_can_be_pinned(experiment):
    smoke = config.plan([f"experiment={experiment}", "profile=smoke"])
    for axis in smoke.config["axes"]:
        values = {c.axes[axis] for c in smoke.cells if c.axes.get(axis) is not None}
        if values and "." not in axis and axis not in ("dataset", "attack", "defense", "model"):
            value = sorted(values, key=str)[0]
            pinned = config.plan([f"experiment={experiment}", "profile=smoke", f"{axis}={value}"])
            assert {c.axes[axis] for c in pinned.cells if axis in c.axes} == {value}


@pytest.mark.data
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_smoke_runs_end_to_end(experiment, shell):
    try:
        plan = config.plan([f"experiment={experiment}", "profile=smoke"])
        driver.supply(driver.prepare(plan, open_library(shell.folder, read_only=True)))
    except DataUnavailable as error:
        pytest.skip(str(error))
    shell("run", f"experiment={experiment}", "profile=smoke", "jobs=1")
    folder = shell.folder / "results" / experiment / "profile=smoke"
    cells = pd.read_csv(folder / "cells.csv")
    # a dataset or package that is not at hand leaves its cells not run, with the reason, and nothing else
    assert set(cells["status"]) <= {"done", "not run"}
    assert (cells["status"] == "done").any()
    for row in json.loads(shell("status", "--json").stdout):
        assert row["failed"] == row["open"] == 0
        assert row["not run"] == (cells["status"] == "not run").sum() == sum(row["why_not"].values())
    # the first one's smoke grid is too small for any of its figures, the other is a table
    if experiment not in ("information_obfuscation", "obfuscation_settings"):
        assert list(folder.glob("figures/*.png"))
    assert list(folder.glob("tables/*.csv"))
    assert "results/report.html" in shell("report").stdout
