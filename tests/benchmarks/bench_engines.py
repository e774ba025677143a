"""A smoke profile on each engine: wall time, start-up, and overhead per cell beyond the cells' own work."""

import importlib.util
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

EXPERIMENT, JOBS = "attribute_conceal", 2
ENGINES = {"local": "joblib", "dask": "distributed", "ray": "ray"}  # and the package each needs
FEW, MANY = 1, 5  # seeds: the difference between two runs has no start-up in it


def measured(engine: str, seeds: int, into: str) -> tuple[float, float, int]:
    """Return the wall seconds of a run from nothing, the processor seconds of its cells, and how many there were."""
    place = Path(into) / f"{engine}{seeds}"
    words = [f"experiment={EXPERIMENT}", "profile=smoke", f"seeds={seeds}", f"engine={engine}", f"jobs={JOBS}"]
    start = time.perf_counter()
    command = [sys.executable, "-m", "fairpriv", "run", *words, f"results_dir={place}"]
    subprocess.run(command, check=True, capture_output=True)
    wall = time.perf_counter() - start
    cells = pd.read_csv(next(place.rglob("cells.csv")))
    return wall, float(cells["seconds"].sum()), len(cells)


def overhead(few: tuple[float, float, int], many: tuple[float, float, int]) -> tuple[float, float]:
    """Return the seconds that a cell costs beyond its own work, and those of start and end, from two runs."""
    (wall, work, cells), (wall_more, work_more, cells_more) = few, many
    each = (wall_more - wall - (work_more - work) / JOBS) / (cells_more - cells)
    return each, wall - work / JOBS - each * cells


def bench() -> list[tuple[str, float, float, float, str]]:
    """Time both runs on every engine; the peer is engine=local."""
    rows, local = [], math.nan
    with tempfile.TemporaryDirectory() as folder:
        for engine, package in ENGINES.items():
            what = f"overhead per cell, {EXPERIMENT} smoke, {engine}"
            if importlib.util.find_spec(package) is None:
                rows.append((what, *(math.nan,) * 3, f"skipped: no {package} here"))
                continue
            few, many = (measured(engine, seeds, folder) for seeds in (FEW, MANY))
            each, start = overhead(few, many)
            local = each if engine == "local" else local
            runs = ", ".join(
                f"{cells} cells {wall:.1f} s (their work {work:.1f} s)" for wall, work, cells in (few, many)
            )
            note = f"{1000 * each:.1f} ms per cell, start and end {start:.1f} s; {runs}"
            rows.append((what, each, local, local / each, note))
    return rows
