"""Runner overhead: milliseconds a cell beyond the cell's own work, beside Hydra's own multirun of the same cells."""

import os
import subprocess
import sys
import tempfile
import time
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


def bench() -> list[tuple[str, float, float, float, str]]:
    """Time 10 and 1010 seeds with each runner: the difference is 1000 cells without start-up (Hydra: 10 and 30)."""
    with tempfile.TemporaryDirectory() as folder:
        toy = [sys.executable, "-m", "fairpriv", "run", "--conf-dir", str(TOY / "conf"), "experiment=toy", "x=1"]
        env = {"PYTHONPATH": f"{TOY}{os.pathsep}{ROOT}"}
        few = _seconds([*toy, "seeds=10", "results_dir=few"], folder, **env)
        many = _seconds([*toy, "seeds=1010", "results_dir=many"], folder, **env)
        ours = (many - few) / 1000
        app = Path(folder) / "app.py"
        app.write_text(HYDRA_APP)
        times = [
            _seconds([sys.executable, str(app), "-m", f"+seed=range(0,{n})", "hydra.job.chdir=False"], folder)
            for n in (10, 30)
        ]
        theirs = (times[1] - times[0]) / 20
    note = f"{1000 * ours:.2f} ms per cell (at most 1 wanted); Hydra's multirun {1000 * theirs:.0f} ms a job"
    return [("runner overhead per cell", ours, theirs, theirs / ours, note)]
