"""What every test may use: a clean place to run in, and the command line as a user has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOY = ROOT / "tests" / "toy"


@pytest.fixture
def toy_env(monkeypatch):
    """An environment in which another package brings the plug-ins of tests/toy."""
    monkeypatch.syspath_prepend(str(TOY))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TOY), str(ROOT)]))  # the tree that is tested, here as there
    return dict(os.environ)


class Shell:
    """Runs `fairpriv ...` in a folder of its own, as a user would."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder, self.env = folder, env

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "fairpriv", *args]

    def __call__(self, *args: str, code: int | None = 0, **env: str) -> subprocess.CompletedProcess:
        done = subprocess.run(
            self.command(*args), cwd=self.folder, env=self.env | env, capture_output=True, text=True, timeout=300
        )
        if code is not None:
            assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def toy(self, *args: str, **more) -> subprocess.CompletedProcess:
        return self("run", "--conf-dir", str(TOY / "conf"), "experiment=toy", *args, **more)

    def start(self, *args: str) -> subprocess.Popen:
        # a job that a shell put into the background ignores SIGINT, and its children would: start from the default
        fresh = "import os, sys; from signal import *; signal(SIGINT, SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
        return subprocess.Popen(
            [sys.executable, "-c", fresh, *self.command(*args)],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def shell(tmp_path, toy_env):
    """The command line in an empty folder, with the toy plug-ins at hand."""
    return Shell(tmp_path, toy_env)


def timeless(path: Path) -> str:
    """Return cells.csv without its times."""
    import pandas as pd

    return pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns="seconds").to_csv(index=False)
