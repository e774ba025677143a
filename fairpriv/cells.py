"""Cells: one point of the grid with one seed, addressed by its content."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fairpriv.registry import build
from fairpriv.seeds import canonical, digest, stream

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
    """

    protocol: str
    axes: Mapping[str, Any]
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    seed: int = 0

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
        return {"protocol": self.protocol, "axes": self.axes, "plugins": self.plugins, "seed": self.seed}

    @cached_property
    def identity(self) -> str:
        """Return the canonical text of the cell."""
        return canonical(self.content)

    def rng(self, role: str, *axes: str) -> np.random.Generator:
        """Return the random stream for a role; name axes to share it among cells that differ in others only.

        A plug-in's axis stands for the plug-in with all its parameters.
        """
        chosen = {a: self.plugins.get(a, self.axes.get(a)) for a in axes} if axes else self.content
        return stream(self.protocol, chosen, self.seed, role)


def _product(axes: Mapping[str, Sequence[Any]]) -> Iterable[dict[str, Any]]:
    names = list(axes)
    for values in itertools.product(*(axes[name] for name in names)):
        yield dict(zip(names, values))


def expand(
    protocol: str,
    blocks: Iterable[tuple[Mapping[str, Sequence[Any]], Iterable[int]]],
    resolve: Any,
) -> list[Cell]:
    """Expand blocks of axes (each a full product, times its seeds) into cells, each once, in a stable order.

    `resolve(axes)` gives the plug-ins of one point.
    """
    cells: dict[str, Cell] = {}
    for axes, seeds in blocks:
        seeds = list(seeds)
        for point in _product(axes):
            plugins = resolve(point)
            for seed in seeds:
                cell = Cell(protocol, point, plugins, seed)
                cells.setdefault(cell.identity, cell)
    return list(cells.values())


def cell_key(cell: Cell, data_sha256: str, source_sha256: str) -> str:
    """Return the content address: canonical cell, dataset sum and the source of the plug-ins it uses."""
    return digest([cell.identity, data_sha256, source_sha256])
