"""Hashes of definitions: what counts and what does not, and the same on every Python."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fairpriv.stamps.definitions import Import, read_module
from tests.conftest import ROOT

TEXT = '''"""A module."""

from typing import ClassVar

import numpy as np

from . import sibling
from .deep.er import thing as other
from fairpriv.validate import number
from fairpriv.registry import param

LIMIT = 3
WORDS = f"{LIMIT}" "and more"
__all__ = ["f"]


def f(x: int, *rest: float, key: str = "a") -> float:
    """Add."""
    number("x", x, above=0)  # refuse
    return np.sum([y + LIMIT for y in rest]) + x


class Plug(other):
    """A plug-in."""

    name: ClassVar[str] = "plug"
    width: float = 0.5

    @property
    def wide(self) -> float:
        """Twice."""
        return 2 * self.width if self.width > LIMIT else lambda: sibling.helper(f"{self.width:.2f} {LIMIT!r}")

    def run(self, cells, rng):
        """Run."""
        match cells:
            case [first, *_]:
                return {c: (yield c) for c in cells if (found := f(c))}
            case _ if found:
                return None
        try:
            raise ValueError
        except* ValueError as group:
            return group
'''
# Written down: a change of these voids every finished cell there is.
HASHES = {
    "LIMIT": "68ef6a44be1b418c",
    "WORDS": "29f346b9c112c6e2",
    "f": "d2dd912285fa2966",
    "Plug.wide": "603cd2a7e7ab76a3",
    "Plug.run": "a0f7d6ce1b82e1bf",
    "Plug": "05b2e441040b7c2a",
}


def read(tmp_path: Path, text: str):
    path = tmp_path / "plug.py"
    path.write_text(text)
    return read_module("package.plug", path)


def hashes(tmp_path: Path, text: str) -> dict[str, str]:
    return {name: definition.hash for name, definition in read(tmp_path, text).definitions.items()}


def test_hashes_are_as_written_down(tmp_path):
    assert hashes(tmp_path, TEXT) == HASHES


def interpreter(version: str) -> str | None:
    """Find a Python of this version that runs (a shim may be there and not)."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    pyenv = map(str, Path("~/.pyenv/versions").expanduser().glob(f"{version}.*/bin/python"))
    for path in (shutil.which(f"python{version}"), *pyenv):
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_every_python_gives_the_same_hashes(tmp_path, version):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    (tmp_path / "plug.py").write_text(TEXT)
    code = (
        "import pathlib; from fairpriv.stamps.definitions import read_module as r;"
        "print({n: d.hash for n, d in r('package.plug', pathlib.Path('plug.py')).definitions.items()})"
    )
    run = [python, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(HASHES)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""Add."""', '"""Add up."""'),
        ("# refuse", "# refuse what is negative"),
        ("x: int", "x: float"),
        ("-> float", "-> int"),
        ("above=0", "at_least=1"),
        ('    number("x", x, above=0)  # refuse\n', ""),
        ('"plug"', '"plugged"'),
        (
            "    @property\n",
            "    @abstractmethod\n    def verb(self):\n        raise NotImplementedError\n\n    @property\n",
        ),
        ("width: float = 0.5", 'width: float = param(0.5, "how wide", at_least=LIMIT)'),
        ("width: float = 0.5", "width: float = param(0.5, choices=(0.5, 1))"),
        ("return np.sum([y + LIMIT for y in rest]) + x", "return (np.sum([y + LIMIT for y in rest]) + x)"),
    ],
)
def test_words_checks_and_names_do_not_count(tmp_path, old, new):
    assert old in TEXT
    assert hashes(tmp_path, TEXT.replace(old, new)) == HASHES


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("LIMIT = 3", "LIMIT = 4", {"LIMIT"}),
        ("y + LIMIT", "LIMIT + y", {"f"}),
        ('key: str = "a"', 'key: str = "b"', {"f"}),
        ("width: float = 0.5", "width: float = 0.6", {"Plug"}),
        ("width: float = 0.5", "width: float = param(0.6)", {"Plug"}),
        ("width: float = 0.5", "width: float = other(0.5)", {"Plug"}),
        ("width: float = 0.5", "width: ClassVar[float] = 0.5", {"Plug"}),
        (":.2f", ":.3f", {"Plug.wide"}),
        ("    @property\n", "", {"Plug.wide"}),
    ],
)
def test_code_counts_where_it_stands(tmp_path, old, new, changed):
    assert old in TEXT
    found = hashes(tmp_path, TEXT.replace(old, new))
    assert {name for name in HASHES if found.get(name) != HASHES[name]} == changed


def test_what_is_said_of_a_field_does_not_count_nor_lead_anywhere(tmp_path):
    text = "from dataclasses import field\n" + TEXT
    plain, told = (
        read(tmp_path, text.replace("width: float = 0.5", f"width: float = {value}")).definitions["Plug"]
        for value in ("field(kw_only=True)", "field(kw_only=True, metadata=sibling.meaning(LIMIT))")
    )
    assert told == plain
    required = read(tmp_path, text.replace("width: float = 0.5", 'width: float = param(..., "how wide")'))
    assert required.definitions["Plug"] == read(tmp_path, text.replace(" = 0.5", "")).definitions["Plug"]


def test_an_abstract_method_that_computes_counts(tmp_path):
    verb = "    @abstractmethod\n    def verb(self):\n        return 1\n\n    @property\n"
    assert "Plug.verb" in hashes(tmp_path, TEXT.replace("    @property\n", verb))


def test_relative_imports_are_resolved_and_local_names_are_not_global(tmp_path):
    module = read(tmp_path, TEXT)
    assert module.imports["sibling"] == Import("package", "sibling")
    assert module.imports["other"] == Import("package.deep.er", "thing")
    assert {("np", "sum"), ("LIMIT",), ("number",)} <= module.definitions["f"].names
    assert not {("x",), ("y",), ("rest",)} & module.definitions["f"].names
    assert ("sibling", "helper") in module.definitions["Plug.wide"].names


def test_a_comprehension_hides_a_global_only_inside_itself(tmp_path):
    found = read(tmp_path, "a = 1\ndef f(b):\n    return [a for a in b] + a\n").definitions["f"].names
    assert ("a",) in found
