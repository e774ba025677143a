"""Cells: one point of the grid with one seed."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from fairpriv.registry import build, find
from fairpriv.seeds import canonical, stream

if TYPE_CHECKING:
    import numpy as np

_SEED = ',"seed":'
GROUPS = {"dataset": "datasets", "attack": "attacks", "defense": "defenses", "model": "models"}


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    protocol : str
        The protocol that runs it.
    axes : mapping
        The grid's columns: plug-ins by their config name, the rest by value.
    plugins : mapping
        For each of dataset, attack, defense, model in use: `name` and parameters, all resolved.
    seed : int
    quiet : frozenset of str
        Axes that came later and stand at their default here: no part of what the cell is.
    """

    protocol: str
    axes: Mapping[str, Any]
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seed: int = 0
    quiet: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, identity: str) -> "Cell":
        """Return the cell of a canonical text.

        An axis that came later and is not in it stands at its default: its streams are those of the cell that was run.
        What cells that differ in their seed alone have in common is read once.
        """
        point, seed = split(identity)
        return _first(point).with_seed(seed)

    def __getitem__(self, axis: str) -> Any:
        """Return the value of an axis."""
        return self.axes[axis]

    def get(self, axis: str, default: Any = None) -> Any:
        """Return the value of an axis, or the default where the cell has none (or null)."""
        value = self.axes.get(axis)
        return default if value is None else value

    def plugin(self, group: str, **extra: Any) -> Any:
        """Build the cell's plug-in of a group; `extra` sets or adds parameters."""
        params = dict(self.plugins[group]) | extra
        return build(GROUPS[group], params.pop("name"), params)

    @property
    def content(self) -> dict[str, Any]:
        """Return all that defines the cell, as plain data."""
        axes = {axis: value for axis, value in self.axes.items() if axis not in self.quiet}
        return {"protocol": self.protocol, "axes": axes, "plugins": self.plugins, "seed": self.seed}

    @cached_property
    def identity(self) -> str:
        """Return the canonical text of the cell."""
        return canonical(self.content)

    @cached_property
    def point(self) -> str:
        """Return what the cell is but for its seed: the canonical text up to there, its keys being sorted."""
        return self.identity[: self.identity.rindex(_SEED)]

    def with_seed(self, seed: int) -> "Cell":
        """Return the same point with another seed; its text is not made anew, which counts where seeds are many."""
        cell = replace(self, seed=seed)
        cell.__dict__["point"] = self.point
        cell.__dict__["identity"] = f"{self.point}{_SEED}{seed}}}"
        return cell

    def rng(self, role: str, *axes: str) -> "np.random.Generator":
        """Return the random stream for a role; name axes to share it among cells that differ in others only.

        A plug-in's axis stands for the plug-in with all its parameters.
        """
        told = [axis for axis in axes if axis not in self.quiet]
        chosen = {a: self.plugins.get(a, self.axes.get(a)) for a in told} if axes else self.content
        return stream(self.protocol, chosen, self.seed, role)


def split(identity: str) -> tuple[str, int]:
    """Return the point of a cell's canonical text, and its seed."""
    point, _, seed = identity.rpartition(_SEED)
    return point, int(seed.removesuffix("}"))


@lru_cache(maxsize=1 << 16)
def _first(point: str) -> Cell:
    """Return the cell of a point's text with seed 0."""
    said = json.loads(f"{point}{_SEED}0}}")
    later = find("protocols", said["protocol"]).later
    return Cell(**said, quiet=frozenset(axis for axis in later if axis not in said["axes"]))


def _product(axes: Mapping[str, Sequence[Any]]) -> Iterable[dict[str, Any]]:
    names = list(axes)
    for values in itertools.product(*(axes[name] for name in names)):
        yield dict(zip(names, values))


def expand(
    protocol: str,
    blocks: Iterable[tuple[Mapping[str, Sequence[Any]], Iterable[int]]],
    resolve: Any,
    later: Mapping[str, Any] | None = None,
) -> list[Cell]:
    """Expand blocks of axes (each a full product, times its seeds) into cells, each once, in a stable order.

    `resolve(axes)` gives the plug-ins of one point, `later` the defaults of axes that the protocol got later.
    """
    cells: dict[str, Cell] = {}
    for axes, seeds in blocks:
        seeds = list(seeds)
        for point in _product(axes):
            plugins = resolve(point)
            said = _said(point, plugins)
            first = Cell(protocol, said, plugins, 0, _quiet(said, later or {}))
            for cell in map(first.with_seed, seeds):
                cells.setdefault(cell.identity, cell)
    return list(cells.values())


def _said(point: Mapping[str, Any], plugins: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the axes of a point without those of a parameter that came later and stands at its default.

    `essential` left it out of the plug-in: with the axis or without, it is the same cell and draws the same streams.
    """
    pairs = ((axis, axis.partition(".")) for axis in point)
    left = {axis for axis, (group, _, name) in pairs if name and group in plugins and name not in plugins[group]}
    return {axis: value for axis, value in point.items() if axis not in left}


def _quiet(point: Mapping[str, Any], later: Mapping[str, Any]) -> frozenset[str]:
    """Return the axes that say nothing: those that the protocol got later, at their default."""
    return frozenset(axis for axis, default in later.items() if point.get(axis, default) == default)
