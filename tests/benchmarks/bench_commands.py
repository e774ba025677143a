"""The commands a user waits for: --help, and the main job with its data cached."""

import subprocess
import sys
import tempfile
import time


def _seconds(*args: str, folder: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "fairpriv", *args], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


def bench() -> list[tuple[str, float, float, float, str]]:
    """Measure against the time each is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        help_ = min(_seconds("--help", folder=folder) for _ in range(3))
        main = _seconds("run", "experiment=attribute_conceal", folder=folder)
    return [
        ("fairpriv --help", help_, 0.5, 0.5 / help_, "reference: the half second it may take"),
        (
            "fairpriv run experiment=attribute_conceal",
            main,
            120.0,
            120.0 / main,
            "reference: the two minutes it may take",
        ),
    ]
