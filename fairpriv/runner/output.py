"""What a run leaves in results/NAME/: cells.csv with its stamps and arrays, manifest.json, then what is drawn."""

import json
import os
import platform
import time
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pandas as pd

from fairpriv import __version__
from fairpriv.errors import StoreError
from fairpriv.runner import pin
from fairpriv.runner.driver import Job
from fairpriv.runner.folder import CELLS, replace_file, tidy_frame, write_stamps
from fairpriv.runner.library import Library
from fairpriv.runner.present import present
from fairpriv.runner.revision import revision
from fairpriv.runner.survey import Seat
from fairpriv.seeds import canonical

_VERSIONS = [
    *("numpy", "scipy", "pandas", "scikit-learn", "lightgbm", "fairlearn", "folktables", "ortools", "cvxpy"),
    *("hydra-core", "omegaconf", "matplotlib", "joblib", "jax", "optax", "dp-accounting", "dask", "distributed", "ray"),
]

_KINDS = {"cells": int, "failures": list, "not_run": dict, "config": dict, "finished": str}  # of a manifest, as read


def _record(seat: Seat) -> dict[str, Any]:
    """Return one row of cells.csv."""
    # what the cell is: an axis that came later and stands at its default is left empty, as in cells from before it
    record: dict[str, Any] = dict(seat.cell.content["axes"]) | {"seed": seat.cell.seed}
    outdated = seat.state == "outdated" and seat.extra  # kept for its worth, counted by nothing
    if seat.kept is not None and (seat.state == "done" or outdated):
        return record | dict(seat.kept.metrics) | {"status": seat.state, "seconds": seat.kept.seconds}
    if seat.state == "not run":
        return record | {"status": "not run", "seconds": None, "why": seat.why}
    return record | {"status": "failed" if seat.state == "failed" else "open", "seconds": None}


def frame(seats: Iterable[Seat]) -> pd.DataFrame:
    """Return cells.csv as a frame: one row per cell, in the folder's order."""
    return tidy_frame([_record(seat) for seat in seats])


def manifest(job: Job, rows: pd.DataFrame) -> dict[str, Any]:
    """Return what is needed to run the same again."""
    installed = {d.metadata["Name"]: d.version for d in distributions() if d.metadata["Name"] in _VERSIONS}
    data = {canonical(s.cell.plugins["dataset"]): s.data for s in job.seats if s.data and "dataset" in s.cell.plugins}
    return {
        "experiment": job.plan.experiment,
        "command": ["fairpriv", "run", *job.plan.overrides],
        "config": job.plan.config,
        "own_data": job.plan.own_data,
        "reproduction": job.plan.reproduction,
        "seeds": sorted({seat.cell.seed for seat in job.seats}),
        "datasets": dict(sorted(data.items())),
        "fairpriv": __version__,
        "revision": revision() or None,
        "python": platform.python_version(),
        "packages": dict(sorted(installed.items())),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {pin.processor()}",
        "pin": pin.why_not() or pin.NAME,
        "wall_seconds": round(job.seconds, 3),  # of the last run that computed a cell
        "compute_seconds": round(float(pd.to_numeric(rows["seconds"]).sum()), 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "cells": len(rows),
        "done": int((rows["status"] == "done").sum()),
        "failed": int((rows["status"] == "failed").sum()),
        "failures": [seat.stamp.key for seat in job.seats if seat.state == "failed"],
        "not_run": dict(job.unavailable),
    }


def _write_manifest(job: Job, rows: pd.DataFrame) -> None:
    """Write the manifest, unless nothing was computed and it tells of these cells already."""
    path = job.plan.folder / "manifest.json"
    counts = {"cells": len(rows), "done": int((rows["status"] == "done").sum()), "not_run": dict(job.unavailable)}
    if not job.computed and (said := read_manifest(path)) and all(said.get(k) == v for k, v in counts.items()):
        return
    replace_file(path, json.dumps(manifest(job, rows), indent=1, default=str) + "\n")


def read_manifest(path: Path) -> dict[str, Any]:
    """Return a manifest; nothing where there is none that can be read, or what it holds is of another kind."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(said, dict) or not all(isinstance(said.get(k, kind()), kind) for k, kind in _KINDS.items()):
        return {}
    config = said.get("config", {})
    texts = [*said.get("failures", ()), *(config.get(key) or "" for key in ("name", "protocol", "paper"))]
    numbers = said.get("not_run", {}).values()
    return said if all(isinstance(t, str) for t in texts) and all(isinstance(n, int) for n in numbers) else {}


def write(job: Job, library: Library) -> dict[str, str]:
    """Write the cells of a job with their stamps, then draw; return what could not be drawn, with tracebacks."""
    folder = job.plan.folder
    rows = frame(job.seats)
    kept = [s.kept for s in job.seats if s.kept is not None and (s.state == "done" or s.extra)]
    try:
        replace_file(folder / CELLS, rows.to_csv(index=False))
        write_stamps(folder, kept, library.codes)
        _write_manifest(job, rows)
        drawing = present(folder, elsewhere=library.arrays)
        return drawing.faults if drawing is not None else {}
    except OSError as error:
        raise StoreError(
            f"cannot write results to {folder}: {error}; the finished cells are kept in the store"
        ) from error
