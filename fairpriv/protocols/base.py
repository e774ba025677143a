"""What a protocol is: cells in, rows out; then tables, figures and checks from the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from fairpriv.cells import GROUPS, Cell
from fairpriv.datasets.base import Dataset
from fairpriv.errors import BadRequest, DoesNotFit
from fairpriv.registry import Plugin, find, names


@dataclass(frozen=True)
class Result:
    """What one cell gives: scalar metrics (a row of cells.csv) and arrays for the figures."""

    metrics: Mapping[str, float | int | str]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


def _members(group: str, family: type) -> list[str]:
    """Return the plug-ins of a family."""
    return [name for name in names(GROUPS[group])[0] if issubclass(find(GROUPS[group], name), family)]


@dataclass(frozen=True)
class Protocol(Plugin):
    """One experiment: a pure function of (cell, seed), and what is made of its rows.

    `shared` names the axes along which cells are computed together: `run` gets all cells of the plan that are equal but
    for these axes, and returns one Result per cell. A cell's result must not depend on its companions. A protocol whose
    cells do not all share the same axes has a class method `shared_by(cell)` that says which.

    `later` gives the defaults of axes that were added after results were made: at these they change no stream or stamp.

    `presented_by` names the module that makes tables and figures of its rows.

    `accepts` names, for each group of plug-ins that a cell needs, the base class of those it takes. A protocol that
    names none takes any.

    Examples
    --------
    >>> from fairpriv import Protocol, Result
    >>> class Count(Protocol):
    ...     def run(self, cells, load):
    ...         return [Result({"rows": len(load(cell))}) for cell in cells]
    >>> Count().run(["a cell"], lambda cell: [1, 2, 3])
    [Result(metrics={'rows': 3}, arrays={})]
    """

    kind: ClassVar[str] = "protocols"
    name: ClassVar[str]
    paper: ClassVar[str] = ""
    presented_by: ClassVar[str] = ""
    shared: ClassVar[tuple[str, ...]] = ()
    later: ClassVar[Mapping[str, Any]] = {}
    accepts: ClassVar[Mapping[str, type]] = {}
    least_rows: ClassVar[int] = 10  # what any split into parts needs

    def validate(self, cell: Cell) -> None:
        """Refuse a cell with plug-ins of another family or parameters out of range, before anything runs.

        Called once for the cells that differ in their seed alone.
        """
        self._check_families(cell)
        for group in cell.plugins:
            if group != "dataset":
                self.build(cell, group)

    def build(self, cell: Cell, group: str) -> Any:
        """Build the cell's plug-in of a group, with what the axes add to its parameters."""
        return cell.plugin(group)

    def _check_families(self, cell: Cell) -> None:
        if not self.accepts:
            return
        for group in (g for g in cell.plugins if g != "dataset" and g not in self.accepts):
            raise BadRequest(f"{self.name} takes no {group}: leave out {group}={cell.plugins[group]['name']}")
        for group, family in self.accepts.items():
            if group not in cell.plugins:
                raise BadRequest(f"{self.name} needs a {group}: one of {', '.join(_members(group, family))}")
            name = cell.plugins[group]["name"]
            if not issubclass(find(GROUPS[group], name), family):
                valid = ", ".join(_members(group, family))
                raise BadRequest(f"{self.name} cannot use {group}={name}: valid ({family.__name__}): {valid}")

    def fits(self, cell: Cell, dataset: Dataset) -> None:
        """Refuse a cell that asks more of its dataset than it has, before anything runs.

        Called once for each distinct (dataset, axes other than the seed).
        """
        counts = [int((values == v).sum()) for values in (dataset.label, dataset.group) for v in (0, 1)]
        if len(dataset) < self.least_rows or min(counts) < 2:
            raise DoesNotFit(
                f"dataset {dataset.name} is too small for {self.name}: it needs at least {self.least_rows} rows, two "
                f"of each label and of each group, and has {len(dataset)} rows, {min(counts)} of the rarest"
            )

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Compute these cells; `load(cell)` gives a cell's dataset."""
        raise NotImplementedError
