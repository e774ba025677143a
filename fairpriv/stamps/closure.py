"""What a cell's code is: every definition that its plug-ins reach, and the packages those import.

A definition is reached when a reached one names it: a class with all its methods (a protocol's without those that
refuse cells), a function, a constant, and what a module does when it is imported. How cells are run, checked,
named, shown and fetched is not what they compute (`NEUTRAL`).

The code's digest does not depend on where a definition stands: a move to another file keeps it.
"""

import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fairpriv.stamps.definitions import REST, Definition, Import, Module, read_module

NEUTRAL = (
    *("fairpriv.runner", "fairpriv.report", "fairpriv.stamps", "fairpriv.cli", "fairpriv.config", "fairpriv.paths"),
    *("fairpriv.registry", "fairpriv.errors", "fairpriv.validate", "fairpriv.datasets.sources"),
    "fairpriv.cvxpy_quiet",
)
# What is drawn of finished rows depends on the code that draws too.
NEUTRAL_TO_DRAWING = tuple(name for name in NEUTRAL if name != "fairpriv.report")
_APART = ("validate", "fits", "build", "_check_families")  # methods of a protocol that refuse cells
_PROTOCOL = ("fairpriv.protocols.base", "Protocol")
# What every cell is computed through, though no plug-in names it: the cell itself and its dataset.
ALWAYS = (
    *(("fairpriv.cells", f"Cell.{method}") for method in ("__getitem__", "get", "plugin", "content", "rng")),
    ("fairpriv.datasets", "load"),
)
_ROUNDS = 8  # how far a definition's surroundings enter its refined hash; farther ones enter by the set of hashes

Place = tuple[str, str]  # (module, name in it)


@dataclass(frozen=True)
class Code:
    """The code behind a cell: its digest, the hash of each definition, and the packages they import."""

    digest: str
    definitions: dict[str, str]
    packages: tuple[str, ...]


@cache
def _root(name: str) -> tuple[str, ...]:
    """Return where a top-level package or module is looked for: the folders of a package."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        return ()
    return tuple(spec.submodule_search_locations or ())


@cache
def find_module(name: str) -> Path | None:
    """Return the source file of a module without importing anything; None where there is none."""
    top, *rest = name.split(".")
    if not rest:
        spec = importlib.util.find_spec(top)
        return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
    for folder in _root(top):
        place = Path(folder, *rest)
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                return path
    return None


@cache
def _module(name: str) -> Module | None:
    path = find_module(name)
    return None if path is None else read_module(name, path)


@dataclass(frozen=True)
class _Link:
    """Where a dotted name leads: definitions of ours, or a name in somebody else's package."""

    places: tuple[Place, ...] = ()
    outside: str = ""


class Graph:
    """The definitions of some packages and what leads where."""

    def __init__(self, own: Iterable[str], neutral: tuple[str, ...] = NEUTRAL) -> None:
        self.own = frozenset(own)  # top-level packages whose source counts
        self.neutral = neutral

    def _is_own(self, module: str) -> bool:
        return module.split(".")[0] in self.own

    def _in_module(self, module: str, rest: tuple[str, ...]) -> _Link:
        """Follow a.b.c from module a: into submodules as far as they go, then to a name."""
        if not self._is_own(module):
            return _Link(outside=".".join((module, *rest)))
        if not rest:
            found = _module(module)
            return _Link(tuple((module, name) for name in found.definitions if "." not in name)) if found else _Link()
        found = _module(module)
        itself = Import(module, rest[0])  # `from package import module` inside the package means its file
        if found is not None and found.imports.get(rest[0]) != itself:
            link = self._named(found, rest, found.imports)
            if link is not None:
                return link
        if find_module(f"{module}.{rest[0]}") is not None:
            return self._in_module(f"{module}.{rest[0]}", rest[1:])
        return _Link()

    def _named(self, module: Module, chain: tuple[str, ...], imports: dict[str, Import]) -> _Link | None:
        """Return where a name leads in a module; None where the module has no such name."""
        first, rest = chain[0], chain[1:]
        if first in imports:
            target = imports[first]
            return self._in_module(target.module, ((target.name,) if target.name else ()) + rest)
        if first in module.definitions:
            return _Link(((module.name, first),))
        for star in module.stars:
            if self._is_own(star) and (found := _module(star)) and (link := self._named(found, chain, found.imports)):
                return link
        return None

    @cache  # noqa: B019 - one graph a set of packages, kept for the process
    def links(self, place: Place) -> tuple[tuple[str, _Link], ...]:
        """Return what a definition refers to, by the name it uses."""
        module = _module(place[0])
        definition = module.definitions[place[1]]
        found = {}
        for chain in sorted(definition.names):
            link = self._named(module, chain, module.imports | definition.imports)
            if link is not None and (link.places or link.outside):
                found[".".join(chain)] = link
        hidden = _APART if self.is_protocol(place) else ()
        for method in definition.methods:
            if method not in hidden:
                found[f".{method}"] = _Link(((place[0], f"{place[1]}.{method}"),))
        return tuple(found.items())

    def is_protocol(self, place: Place) -> bool:
        """Say whether a class derives from Protocol."""
        if place == _PROTOCOL:
            return True
        module = _module(place[0])
        for chain in module.definitions[place[1]].bases:
            link = self._named(module, chain, module.imports)
            if link and any(p != place and self.is_protocol(p) for p in link.places):
                return True
        return False

    def reach(self, roots: Iterable[Place]) -> set[Place]:
        """Return every definition reached from these, neutral ones left out."""
        seen: set[Place] = set()
        todo = list(roots)
        while todo:
            place = todo.pop()
            if place in seen or place[0].startswith(self.neutral):
                continue
            seen.add(place)
            todo += [p for _, link in self.links(place) for p in link.places]
            todo += _on_import(place[0])
        return seen

    def hash(self, place: Place) -> str:
        """Return a definition's own hash: its text, and what its names from other packages stand for."""
        outside = "".join(f"{name}={link.outside};" for name, link in self.links(place) if link.outside)
        return hashlib.sha256((self._definition(place).hash + outside).encode()).hexdigest()[:16]

    @cache  # noqa: B019
    def refined(self, place: Place, rounds: int = _ROUNDS) -> str:
        """Return the hash of a definition together with what its names lead to, wherever that stands."""
        if rounds == 0:
            return self.hash(place)
        around = [
            (name, [self.refined(p, rounds - 1) for p in link.places if not p[0].startswith(self.neutral)])
            for name, link in self.links(place)
            if link.places
        ]
        return hashlib.sha256(f"{self.hash(place)}{around}".encode()).hexdigest()[:16]

    @staticmethod
    def _definition(place: Place) -> Definition:
        return _module(place[0]).definitions[place[1]]

    def packages(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Return the top-level modules of other packages that these definitions use, Python's own left out."""
        tops = {link.outside.split(".")[0] for p in places for _, link in self.links(p) if link.outside}
        return tuple(sorted(tops - set(sys.stdlib_module_names)))


@cache
def _on_import(module: str) -> tuple[Place, ...]:
    """Return what importing a module runs besides its definitions: its own statements and its packages'."""
    parts = module.split(".")
    names = [".".join(parts[:i]) for i in range(1, len(parts) + 1)]
    return tuple((n, REST) for n in names if (found := _module(n)) and REST in found.definitions)


def label(place: Place) -> str:
    """Return how a definition is called: "metrics/mine.py::estimate"."""
    module, name = place
    path = find_module(module)
    top, *rest = module.split(".")
    parts = rest if top == "fairpriv" else [top, *rest]
    if path.name == "__init__.py":
        return "/".join([*parts, "__init__.py"]) + f"::{name}"
    return "/".join(parts) + f".py::{name}"


@cache
def _graph(own: frozenset[str], neutral: tuple[str, ...]) -> Graph:
    return Graph(own, neutral)


@cache
def code_of(roots: tuple[Place, ...], neutral: tuple[str, ...] = NEUTRAL) -> Code:
    """Return the code reached from these places (a cell's plug-in classes)."""
    graph = _graph(frozenset({"fairpriv", *(module.split(".")[0] for module, _ in roots)}), neutral)
    reached = graph.reach(roots)
    hashes = {label(place): graph.hash(place) for place in sorted(reached)}
    whole = [sorted(set(hashes.values())), sorted(graph.refined(root) for root in set(roots))]
    digest = hashlib.sha256(str(whole).encode()).hexdigest()[:16]
    return Code(digest, hashes, graph.packages(reached))


def drawing_code(functions: Iterable[Callable[..., Any]]) -> Code:
    """Return the code that draws: what these functions reach, and the verdicts."""
    places = [(function.__module__, function.__qualname__) for function in functions]
    always = (("fairpriv.report.verdicts", "judge"), ("fairpriv.report.figures", "figure_bytes"))
    return code_of((*places, *always), NEUTRAL_TO_DRAWING)


def places_of(classes: Iterable[type]) -> Iterator[Place]:
    """Give the roots of plug-in classes, and what every cell is computed through."""
    for cls in classes:
        yield cls.__module__, cls.__qualname__
    yield from ALWAYS
