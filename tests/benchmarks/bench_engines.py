"""A smoke profile on each engine: what a cell costs beyond its own work, and what starting and ending cost.

Processor time of the command and of all processes below it is counted, so that a busy machine does not change what is
found; wall time is said beside it.
"""

import contextlib
import importlib.util
import math
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

EXPERIMENT, JOBS = "attribute_conceal", 2
ENGINES = {"local": "joblib", "dask": "distributed", "ray": "ray"}  # and the package each needs
FEW, MANY = 1, 3  # seeds: the difference between two runs has no start-up in it


@dataclass(frozen=True)
class Taken:
    """What a run took: wall and processor seconds, those of its cells, and how many cells there were."""

    wall: float
    processor: float
    work: float
    cells: int


def _processor_seconds(command: list[str]) -> float:
    """Run a command; return the processor seconds of it and all processes below it, also those that outlive it."""
    import psutil  # comes with dask

    seen: dict[psutil.Process, float] = {}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        root = psutil.Process(running.pid)
        while running.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                for one in (root, *root.children(recursive=True)):
                    with contextlib.suppress(psutil.NoSuchProcess):
                        seen[one] = sum(one.cpu_times()[:2])
            time.sleep(0.1)
    if running.returncode:
        raise subprocess.CalledProcessError(running.returncode, command)
    return sum(seen.values())


def measured(engine: str, seeds: int, into: str) -> Taken:
    """Run the experiment from nothing and return what it took."""
    place = Path(into) / f"{engine}{seeds}"
    words = [f"experiment={EXPERIMENT}", "profile=smoke", f"seeds={seeds}", f"engine={engine}", f"jobs={JOBS}"]
    start = time.perf_counter()
    processor = _processor_seconds([sys.executable, "-m", "fairpriv", "run", *words, f"results_dir={place}"])
    wall = time.perf_counter() - start
    cells = pd.read_csv(next(place.rglob("cells.csv")))
    return Taken(wall, processor, float(cells["seconds"].sum()), len(cells))


def overhead(few: Taken, many: Taken) -> tuple[float, float]:
    """Return the processor seconds of a cell beyond its own work, and those of start and end, from two runs."""
    each = ((many.processor - many.work) - (few.processor - few.work)) / (many.cells - few.cells)
    return each, few.processor - few.work - each * few.cells


def bench() -> list[tuple[str, float, float, float, str]]:
    """Measure both runs on every engine; the peer is engine=local."""
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
            runs = ", ".join(f"{t.cells} cells in {t.wall:.0f} s (their work {t.work:.1f} s)" for t in (few, many))
            note = f"{1000 * each:.1f} ms of processor time per cell, start and end {start:.1f} s; {runs}"
            rows.append((what, each, local, local / each, note))
    return rows
