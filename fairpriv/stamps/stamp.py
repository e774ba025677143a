"""A cell's stamp: what it is, the data and code it was computed from, and with which packages."""

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, packages_distributions, version

from fairpriv.cells import GROUPS, Cell
from fairpriv.registry import find
from fairpriv.stamps.closure import Code, code_of, places_of

_DISTRIBUTIONS = {"sklearn": "scikit-learn", "dp_accounting": "dp-accounting", "yaml": "pyyaml"}

_text = json.JSONEncoder(separators=(",", ":")).encode  # of a list of texts: what `seeds.canonical` writes, sooner


@dataclass(frozen=True)
class Stamp:
    """What decides whether a finished cell still holds. `env` does not: other packages are told, not refused."""

    cell: str  # canonical text
    data: str  # sum of the data's files
    code: str  # digest of the definitions reached

    @cached_property
    def key(self) -> str:
        """Return the address of the finished cell."""
        return hashlib.sha256(_text([self.cell, self.data, self.code]).encode()).hexdigest()


@cache
def _classes(protocol: str, plugins: tuple[tuple[str, str], ...]) -> tuple[type, ...]:
    return (find("protocols", protocol), *(find(GROUPS[group], name) for group, name in plugins))


@cache
def _code(protocol: str, plugins: tuple[tuple[str, str], ...]) -> Code:
    return code_of(tuple(places_of(_classes(protocol, plugins))))


def classes_of(cell: Cell) -> tuple[type, ...]:
    """Return the classes a cell is computed by: its protocol and its plug-ins."""
    return _classes(cell.protocol, combination(cell))


def code_behind(cell: Cell) -> Code:
    """Return the code that a cell is computed by, as it stands now."""
    return _code(cell.protocol, combination(cell))


def combination(cell: Cell) -> tuple[tuple[str, str], ...]:
    """Return which plug-ins a cell combines: (group, name) pairs."""
    return tuple(sorted((group, params["name"]) for group, params in cell.plugins.items()))


@cache
def _version(package: str) -> str | None:
    try:
        return version(_DISTRIBUTIONS.get(package, package))
    except PackageNotFoundError:
        names = packages_distributions().get(package, ())  # slow: looks through every installed one
        return version(names[0]) if names else None


@cache
def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return name and version of packages, and of Python."""
    found = {_DISTRIBUTIONS.get(p, p): v for p in packages if (v := _version(p)) is not None}
    return {"python": ".".join(map(str, sys.version_info[:2]))} | found


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """Say which packages have another version now than then: name -> "1.0 -> 2.0"."""
    return {n: f"{v} -> {now[n]}" for n, v in then.items() if n in now and now[n] != v}


def changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Name the definitions in which two codes differ; a definition that only moved is not named."""
    old, new = set(then.values()), set(now.values())
    gone = [name for name, value in then.items() if value not in new]
    come = [name for name, value in now.items() if value not in old]
    both = [f"{n} changed" for n in come if n in gone]
    added = [f"{n} added" for n in come if n not in gone]
    removed = [f"{n} removed" for n in gone if n not in come]
    return both + added + removed
