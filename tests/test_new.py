"""`fairpriv new`: what it writes works as it stands."""

import os
import subprocess
import sys
import tomllib

import pytest

from fairpriv.cli import main
from fairpriv.skeletons import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_passes_its_own_test(kind, tmp_path, capsys):
    assert main(["new", kind, "of_mine", "--into", str(tmp_path)]) == 0
    home = tmp_path / "fairpriv_of_mine"
    assert f"cd {home}" in capsys.readouterr().out
    entries = tomllib.loads((home / "pyproject.toml").read_text())["project"]["entry-points"]
    assert entries == {f"fairpriv.{group}": {"of_mine": "fairpriv_of_mine"} for group in KINDS[kind]}
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=home, env=dict(os.environ), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["atack", "mine"], "did you mean attack"),
        (["attack", "Mine!"], "small letters"),
        (["attack", "class"], "small letters"),
        (["attack", "reveal_single"], "one of fairpriv's own attacks"),
        (["dataset", "adult_race"], "one of fairpriv's own datasets"),
        (["paper", "hamman2023"], "one of fairpriv's own papers"),
        (["paper", "ldp_fairness_appendix"], "one of fairpriv's own experiments"),
    ],
)
def test_a_name_that_cannot_be_is_refused(words, says, tmp_path, capsys):
    assert main(["new", *words, "--into", str(tmp_path)]) == 2
    assert says in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_nothing_is_written_over(tmp_path, capsys):
    (tmp_path / "fairpriv_mine").mkdir()
    assert main(["new", "attack", "mine", "--into", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
