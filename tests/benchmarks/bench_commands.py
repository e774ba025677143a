"""The commands a user waits for: --help, list, show, and the main job from nothing and from committed results."""

import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.conftest import ROOT

MAIN = ("run", "experiment=attribute_conceal")
QUICK = {"--help": ("--help",), "list": ("list",), "show conceal": ("show", "conceal"), "show lsac": ("show", "lsac")}


def _run(*args: str, folder: str) -> None:
    subprocess.run([sys.executable, "-m", "fairpriv", *args], cwd=folder, check=True, capture_output=True)


def _seconds(*args: str, folder: str) -> float:
    start = time.perf_counter()
    _run(*args, folder=folder)
    return time.perf_counter() - start


def _cpu_seconds(*args: str, folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run(*args, folder=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bench() -> list[tuple[str, float, float, float, str]]:
    """Measure against the time that each is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [_allowed(f"fairpriv {MAIN[0]} {MAIN[1]}, from nothing", _seconds(*MAIN, folder=folder), 120.0)]
        for name, args in QUICK.items():
            _run(*args, folder=folder)  # so that bytecode is there
            cpu = min(_cpu_seconds(*args, folder=folder) for _ in range(5))
            rows.append(_allowed(f"fairpriv {name}, CPU", cpu, 0.5 if name == "--help" else 1.0))
        shutil.rmtree(Path(folder) / "results")
        shutil.copytree(ROOT / "results" / "attribute_conceal", Path(folder) / "results" / "attribute_conceal")
        rows.append(
            _allowed(f"fairpriv {MAIN[0]} {MAIN[1]}, reused by a fresh clone", _seconds(*MAIN, folder=folder), 5.0)
        )
        again = min(_seconds(*MAIN, folder=folder) for _ in range(3))
        rows.append(_allowed(f"fairpriv {MAIN[0]} {MAIN[1]}, reused again", again, 5.0))
    return rows


def _allowed(what: str, took: float, may: float) -> tuple[str, float, float, float, str]:
    return what, took, may, may / took, f"reference: the {may:g} s it may take"
