"""What a run leaves in results/NAME/: cells.csv, tables, figures, manifest.json."""

import json
import os
import platform
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fairpriv
from fairpriv.errors import StoreError
from fairpriv.registry import build
from fairpriv.runner.driver import Job
from fairpriv.runner.store import Store

_VERSIONS = [
    "numpy",
    "scipy",
    "pandas",
    "scikit-learn",
    "lightgbm",
    "fairlearn",
    "folktables",
    "ortools",
    "cvxpy",
    "hydra-core",
    "omegaconf",
    "matplotlib",
    "joblib",
    "jax",
    "optax",
    "dp-accounting",
    "dask",
    "distributed",
    "ray",
]


def frame(job: Job, store: Store) -> pd.DataFrame:
    """Return cells.csv as a frame: one row a cell in the plan's order."""
    rows, failures = store.rows(job.keys), store.failures(job.keys)
    records = []
    for index, (key, cell) in enumerate(zip(job.keys, job.plan.cells)):
        record: dict[str, Any] = dict(cell.axes) | {"seed": cell.seed}
        if key in rows:
            metrics, seconds = rows[key]
            record |= metrics | {"status": "done", "seconds": round(seconds, 6)}
        elif index in job.unavailable:
            record |= {"status": "not run", "seconds": None, "why": job.unavailable[index].brief}
        else:
            record |= {"status": "failed" if key in failures else "open", "seconds": None}
        records.append(record)
    table = pd.DataFrame.from_records(records)
    for column in table.select_dtypes("float"):  # a cell without the axis must not turn m = 40 into 40.0
        given = [r[column] for r in records if r.get(column) is not None]
        if given and all(isinstance(v, int) for v in given):
            table[column] = table[column].astype("Int64")
    last = [c for c in ("status", "seconds", "why") if c in table]
    return table[[c for c in table.columns if c not in last] + last]


def _revision() -> str | None:
    """Return the git revision of the checkout the code runs from, if it is one ('+' where it has local changes)."""
    where = Path(fairpriv.__file__).parents[1]
    if not (where / ".git").exists():
        return None
    try:
        call = ["git", "-C", str(where)]
        head = subprocess.run([*call, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        dirty = subprocess.run(
            [*call, "status", "--porcelain", "fairpriv", "conf"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return head + ("+" if dirty.stdout.strip() else "")


def manifest(job: Job, rows: pd.DataFrame) -> dict[str, Any]:
    """Return what is needed to run the same again."""
    installed = {d.metadata["Name"]: d.version for d in distributions() if d.metadata["Name"] in _VERSIONS}
    return {
        "experiment": job.plan.experiment,
        "command": ["fairpriv", "run", *job.plan.overrides],
        "config": job.plan.config,
        "seeds": sorted({c.seed for c in job.plan.cells}),
        "datasets": {name: sha for name, sha in sorted(job.sums.items()) if name != "null"},
        "fairpriv": fairpriv.__version__,
        "revision": _revision(),
        "python": platform.python_version(),
        "packages": dict(sorted(installed.items())),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "wall_seconds": round(job.seconds, 3),  # of the last run, which may have reused cells
        "compute_seconds": round(float(rows["seconds"].sum()), 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "done": int((rows["status"] == "done").sum()),
        "failed": int((rows["status"] == "failed").sum()),
        "not_run": dict(Counter(str(error) for error in job.unavailable.values())),
        "keys": " ".join(job.keys),
    }


def _arrays(job: Job, store: Store) -> Callable[..., dict[str, np.ndarray]]:
    def arrays(**axes: Any) -> dict[str, np.ndarray]:
        for key, cell in zip(job.keys, job.plan.cells):
            values = dict(cell.axes) | {"seed": cell.seed}
            if all(values.get(a.replace("__", ".")) == v for a, v in axes.items()) and (found := store.arrays(key)):
                return found
        return {}

    return arrays


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def _tidy(folder: Path, made: set[str]) -> None:
    """Remove tables and figures of an earlier run that this one does not make: a folder tells of one run."""
    for kind in ("tables", "figures"):
        for path in (folder / kind).glob("*.*"):
            if f"{kind}/{path.name}" not in made:
                path.unlink()


def write(job: Job, store: Store) -> None:
    """Write cells.csv and the manifest of a job, then its tables, verdicts and figures."""
    folder = job.plan.folder
    rows = frame(job, store)
    protocol = build("protocols", job.plan.protocol)
    finished = rows[rows["status"] == "done"]
    try:
        _replace(folder / "cells.csv", rows.to_csv(index=False))
        _replace(folder / "manifest.json", json.dumps(manifest(job, rows), indent=1, default=str) + "\n")
        if len(finished):
            from fairpriv.report.figures import save
            from fairpriv.report.verdicts import judge

            made = {f"tables/{name}.csv": table for name, table in protocol.tables(finished).items()}
            if (verdicts := judge(job.plan.experiment, rows, protocol)) is not None:
                made["tables/verdicts.csv"] = verdicts
            for name, table in made.items():
                _replace(folder / name, table.to_csv(index=False))
            figures = protocol.figures(finished, _arrays(job, store))
            for name, figure in figures.items():
                save(figure, folder / "figures" / name)
            _tidy(folder, {*made, *(f"figures/{name}.{kind}" for name in figures for kind in ("png", "pdf"))})
    except OSError as error:
        raise StoreError(
            f"cannot write results to {folder}: {error}; the finished cells are kept in the store"
        ) from error
