"""What a protocol is: cells in, rows out; then tables, figures and checks from the rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.registry import Plugin


@dataclass(frozen=True)
class Result:
    """What one cell gives: scalar metrics (a row of cells.csv) and arrays for the figures."""

    metrics: Mapping[str, float | int | str]
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """A claim made in words or by a figure, and whether our rows bear it out."""

    claim: str
    holds: bool | None  # None: not run
    detail: str
    sure: bool | None = None  # of a claim that fails: whether it is more than chance; None: not asked


@dataclass(frozen=True)
class Protocol(Plugin):
    """One experiment: a pure function of (cell, seed), and what is made of its rows.

    `shared` names the axes along which cells are computed together: `run` gets all cells of the plan that are equal but
    for these axes, and returns one Result a cell. A cell's result must not depend on its companions.

    `later` gives the defaults of axes that were added after results were made: at these they change no stream or stamp.
    """

    kind: ClassVar[str] = "protocols"
    name: ClassVar[str]
    paper: ClassVar[str] = ""
    shared: ClassVar[tuple[str, ...]] = ()
    later: ClassVar[Mapping[str, Any]] = {}

    def validate(self, cell: Cell) -> None:
        """Refuse a cell whose parameters are out of range, before anything runs."""
        for group in cell.plugins:
            if group != "dataset":
                cell.plugin(group)

    def run(self, cells: Sequence[Cell], load: Callable[[Cell], Dataset]) -> list[Result]:
        """Compute these cells; `load(cell)` gives a cell's dataset."""
        raise NotImplementedError

    def tables(self, rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
        """Return the tables, by file name, from the finished rows."""
        return {}

    def figures(self, rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
        """Return the figures, by file name; `arrays(**axes)` gives the arrays of the first cell that matches."""
        return {}

    def checks(self, rows: pd.DataFrame) -> dict[str, Check]:
        """Return the checks of the paper's claims, by the id they have in experiments/<paper>/paper.yaml."""
        return {}
