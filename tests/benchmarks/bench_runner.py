"""Runner overhead: milliseconds a cell beyond the cell's own work, beside Hydra's own multirun of the same cells."""

import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.conftest import ROOT, TOY

HYDRA_APP = """
import hydra
from omegaconf import OmegaConf


@hydra.main(version_base="1.3", config_path=None, config_name=None)
def main(cfg):
    import numpy as np
    np.random.default_rng(int(cfg.seed)).standard_normal()


main()
"""


def _seconds(command: list[str], folder: str, **env: str) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=dict(os.environ) | env, check=True, capture_output=True)
    return time.perf_counter() - start


SIZES = (10, 100, 1000, 3000)
LARGEST_FOR_HYDRA = 100
ENGINES = ("local", "dask", "ray")


def _ours(folder: str, cells: int, engine: str = "local") -> float:
    """Return the seconds of a run of so many cells, from nothing."""
    toy = [sys.executable, "-m", "fairpriv", "run", "--conf-dir", str(TOY / "conf"), "experiment=toy", "x=1"]
    words = [f"seeds={cells}", f"results_dir={engine}{cells}", f"engine={engine}", "jobs=2"]
    return _seconds([*toy, *words], folder, PYTHONPATH=f"{TOY}{os.pathsep}{ROOT}")


def _hydra(folder: str, cells: int) -> float:
    """Return the seconds of Hydra's own multirun of so many jobs."""
    app = Path(folder) / "app.py"
    app.write_text(HYDRA_APP)
    return _seconds([sys.executable, str(app), "-m", f"+seed=range(0,{cells})", "hydra.job.chdir=False"], folder)


def bench() -> list[tuple[str, float, float, float, str]]:
    """Time 10 and 1010 seeds with each engine: the difference is 1000 cells without start-up (Hydra: 10 and 30)."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        theirs = (_hydra(folder, 30) - _hydra(folder, 10)) / 20
        for engine in ENGINES:
            if engine != "local" and importlib.util.find_spec({"dask": "distributed"}.get(engine, engine)) is None:
                rows.append((f"runner overhead per cell, {engine}", *(math.nan,) * 3, f"skipped: no {engine} here"))
                continue
            few = _ours(folder, 10, engine)
            ours = (_ours(folder, 1010, engine) - few) / 1000
            note = f"{1000 * ours:.2f} ms per cell, start and end {few:.1f} s; Hydra {1000 * theirs:.0f} ms a job"
            rows.append((f"runner overhead per cell, {engine}", ours, theirs, theirs / ours, note))
    return rows


def growth(sizes: Sequence[int] = SIZES) -> Iterator[tuple[str, int, float]]:
    """Yield (method, cells, seconds) of a whole run of cells that cost nothing, start-up included."""
    with tempfile.TemporaryDirectory() as folder:
        for cells in sizes:
            yield "fairpriv, engine=local", cells, _ours(folder, cells)
            if cells <= LARGEST_FOR_HYDRA:
                yield "Hydra's multirun", cells, _hydra(folder, cells)
