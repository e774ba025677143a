"""CONTRIBUTING does what it says: its commands are run, its plug-ins are used."""

import re
import shlex
import sys
import types

import numpy as np
import pytest

import fairpriv
from fairpriv import registry
from fairpriv.cli import main
from tests.conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(c, comments=True) for b in re.findall(r"^```sh\n(.*?)^```", TEXT, re.S | re.M) for c in b.splitlines()
]
SOURCES = re.findall(r"^```python\n(.*?)^```", TEXT, re.S | re.M)


@pytest.fixture
def plugins(monkeypatch):
    """The text's plug-ins, registered for one test."""
    for kind in registry.KINDS:
        monkeypatch.setitem(registry._registered, kind, dict(registry._registered[kind]))
    for number, source in enumerate(SOURCES):
        module = types.ModuleType(f"contributed_{number}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(source, vars(module))


def test_every_command_is_one_that_is_tried():
    assert {command[0] for command in COMMANDS} == {"make", "fairpriv"}
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    assert {command[1] for command in COMMANDS if command[0] == "make"} <= set(targets)


@pytest.mark.parametrize("words", [c[1:] for c in COMMANDS if c[0] == "fairpriv"], ids=" ".join)
def test_new_writes_what_it_is_shown_for(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    assert (tmp_path / f"fairpriv_{words[-1]}" / "tests" / f"test_{words[-1]}.py").is_file()


def test_the_attack_attacks_through_a_desk(plugins):
    group, label = np.array([0, 1] * 20), np.array([0, 0, 1, 1] * 10)
    desk = fairpriv.ComplianceDesk(group, label, registry.build("defenses", "none"))
    found = registry.build("attacks", "flip").run(desk.view(label / 2), np.random.default_rng(0))
    assert set(found.group.tolist()) == {0, 1}


def test_the_defense_pays_no_more_than_it_claims(plugins):
    assert fairpriv.audit(defense="wide", epsilon=1, n=40, m=3, samples=500)["verdict"].tolist() == ["holds"]


def test_the_dataset_loads(plugins):
    four = registry.build("datasets", "four").load()
    assert four.group.tolist() == [0, 1, 0, 1]
    assert four.label.tolist() == [0, 1, 1, 0]
