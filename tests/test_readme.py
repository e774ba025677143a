"""The README does what it says: its commands are run as they stand, its plug-in both ways it promises."""

import doctest
import importlib.util
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairpriv
from tests.conftest import ROOT, Shell

README = (ROOT / "README.md").read_text(encoding="utf-8")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def commands() -> list[list[str]]:
    """Return the README's commands, comments stripped, lines joined."""
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


FAIRPRIV = [words[1:] for words in commands() if words[0] == "fairpriv"]
MAKE = [words[1:] for words in commands() if words[0] == "make"]


def test_every_command_is_one_that_is_tried_here():
    assert FAIRPRIV
    assert MAKE
    assert {words[0] for words in commands()} == {"fairpriv", "make"}


@pytest.mark.parametrize("words", MAKE, ids=" ".join)
def test_make_targets_are_there(words):
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    done = subprocess.run([make, "-n", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def people(folder: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 70, 300), "job": rng.choice(list("abc"), 300)})
    table["sex"] = np.where(rng.random(300) < 0.3, "f", "m")
    table["hired"] = (rng.random(300) < 0.4).astype(int)
    table.to_csv(folder / "people.csv", index=False)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """One folder for all commands, as a reader would have: cells that one has computed serve the next."""
    folder = tmp_path_factory.mktemp("reader")
    people(folder)
    committed = ROOT / "results/attribute_conceal"  # as a clone has it
    shutil.copytree(committed, folder / "results/attribute_conceal")
    return folder


@pytest.mark.parametrize("words", FAIRPRIV, ids=" ".join)
def test_a_command_does_what_it_is_shown_for(workplace, toy_env, words):
    shell = Shell(workplace, toy_env)
    if "engine=dask" in words:
        pytest.importorskip("distributed")
    if words[0] == "run":
        words = [*words, "profile=smoke"] if "profile=smoke" not in words else words
    done = shell(*words, code=None)
    if "cannot be had" in done.stderr or "not run" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])  # data that is not at hand here
    assert done.returncode == 0, done.stderr
    if words[0] == "run":
        assert ("cells reused" if "--dry-run" in words else "cells done") in done.stdout


def run_guess(python: Path | str, folder: Path, env: dict[str, str]) -> None:
    """Run the README's own command with its plug-in, on data that is always at hand, and look at what comes out."""
    (line,) = re.findall(r"`fairpriv (run experiment=attribute_reveal attack=guess)`", README)
    command = [str(python), "-m", "fairpriv", *line.split(), "profile=smoke", "dataset=synthetic", "jobs=1"]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (path,) = (folder / "results/attribute_reveal").glob("*attack=guess*/cells.csv")
    cells = pd.read_csv(path)
    assert set(cells["attack"]) == {"guess"}
    assert (cells["status"] == "done").all()
    assert (cells["leakage"] == 50).all()  # it calls everyone a member of the same group


def test_the_plugin_works_as_a_file_dropped_into_the_folder(tmp_path, toy_env):
    (source,) = blocks("python")
    copy = tmp_path / "checkout"
    shutil.copytree(Path(fairpriv.__file__).parent, copy / "fairpriv", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("conf", "experiments"):
        shutil.copytree(ROOT / name, copy / name)
    (copy / "fairpriv/attacks/mine").mkdir()  # any subfolder will do
    (copy / "fairpriv/attacks/mine/guess.py").write_text(source, encoding="utf-8")
    run_guess(sys.executable, tmp_path, toy_env | {"PYTHONPATH": str(copy)})


def test_the_plugin_works_as_an_entry_point_of_another_package(tmp_path, toy_env):
    (source,), (toml,) = blocks("python"), blocks("toml")
    section, name, module = re.search(r'entry-points\."(.+?)"\]\n(\w+) = "(.+?)"', toml).groups()
    package, _, last = module.rpartition(".")
    folder = tmp_path / "site" / package
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / f"{last}.py").write_text(source, encoding="utf-8")
    info = tmp_path / "site" / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{section}]\n{name} = {module}\n")
    run_guess(sys.executable, tmp_path, toy_env | {"PYTHONPATH": str(tmp_path / "site")})


@pytest.mark.parametrize(
    "words",
    [
        ["experiment=attribute_conceal", "dataset=synthetic", "defense=toy_defense", "epsilon=[1,10]"],
        ["experiment=attribute_conceal", "dataset=toy_dataset", "model=toy_model"],
    ],
)
def test_other_plugins_from_outside_need_no_conf_file(shell: Shell, words):
    done = shell("run", *words, "profile=smoke", "jobs=1")
    assert "0 failed" in done.stdout
    (path,) = (shell.folder / "results").rglob("cells.csv")
    cells = pd.read_csv(path)
    if "epsilon=[1,10]" in words:
        assert set(cells["epsilon"]) == {1, 10}
        scales = cells.groupby("epsilon")["noise_scale"].first().to_dict()
        assert scales == pytest.approx({1: 40.0, 10: 4.0}, rel=1e-6)  # with room for rounding


def test_a_whole_paper_from_outside_runs_and_is_held_against_its_claims(shell: Shell):
    done = shell("run", "experiment=toy", "jobs=1")
    assert "12/12 cells done" in done.stdout
    assert "toy2026" in shell("list", "papers").stdout
    assert "numbers are drawn" in shell("show", "toy2026").stdout
    verdicts = pd.read_csv(shell.folder / "results/toy/tables/verdicts.csv")
    assert verdicts["paper"].tolist() == ["toy2026"]


def test_the_desk_answers_as_shown(tmp_path):
    """Its block is typed as it stands, at a free port; a desk must not outlive the reader."""
    pytest.importorskip("uvicorn")
    if shutil.which("curl") is None or shutil.which("bash") is None:
        pytest.skip("curl or bash is not installed")
    people(tmp_path)
    (block,) = blocks("bash")
    script = block.replace("8600", str(free_port()))
    done = subprocess.run(
        ["bash", "-ec", "trap 'kill $! 2>/dev/null || true' EXIT\n" + script],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answered = next(json.loads(line) for line in done.stdout.splitlines() if '"answers"' in line)
    low, high = answered["intervals"][0]
    assert low <= answered["answers"][0] <= high  # Cauchy noise: the answer itself may lie anywhere


def test_python_is_as_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("pycon")
    test = doctest.DocTestParser().get_doctest(block, {}, "README", "README.md", 0)
    assert doctest.DocTestRunner().run(test) == doctest.TestResults(0, 3)


def test_counts_and_times_are_those_of_the_committed_results():
    spec = importlib.util.spec_from_file_location("readme", ROOT / "docs/readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.written(README) == README, "results/ moved on: make readme"


def test_pictures_are_there_and_badges_are_true():
    pictures = re.findall(r"!\[.*?\]\((?!http)(.+?)\)", README)
    assert len(pictures) == 4
    assert all((ROOT / path).is_file() for path in pictures)
    said = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = [c.rsplit(" ", 1)[1] for c in said["classifiers"] if re.search(r"Python :: 3\.\d", c)]
    assert f"![Python {' | '.join(versions)}]" in README
    assert f"![license {said['license']}]" in README
    assert len(re.findall(r"img\.shields\.io", README)) == 2  # no badge that nobody checks


def test_the_source_says_in_two_sentences_what_it_is():
    about = README.split("\n\n")[2]
    assert len(re.findall(r"[.!?](?:\s|$)", about)) == 2
