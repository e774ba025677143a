"""Tables, verdicts and figures of a results folder, drawn from what it holds; only what changed is drawn again."""

import hashlib
import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.errors import FairprivError
from fairpriv.paths import shares
from fairpriv.registry import find
from fairpriv.report.presenter import Beside, Presenter, presenter_of
from fairpriv.runner.folder import ARRAYS, STAMPS, Folder, read_folder, replace_file, write_arrays
from fairpriv.runner.kept import Kept
from fairpriv.stamps.closure import drawing_code

ArraysOf = Callable[[Kept], Mapping[str, np.ndarray]]

DRAWN = "drawn.json"  # what the tables and figures were drawn from, and what could not be drawn

_DIGITS, _SPREAD_DIGITS = 6, 3  # of a number in a table, and of its interval or deviation; whole numbers stay whole
_SPREADS = ("_ci", "_sd")


@dataclass
class Drawing:
    """What was made of a folder: files, and the parts that failed with their tracebacks."""

    made: set[str] = field(default_factory=set)
    faults: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Try a part; one that fails is kept with its traceback and costs nothing else."""
        try:
            yield
        except OSError:
            raise
        except Exception:
            self.faults[name] = traceback.format_exc()


def read_drawn(folder: Path) -> dict[str, Any]:
    """Return what a folder says of its drawing."""
    try:
        said = json.loads((folder / DRAWN).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    kinds: dict[str, type] = {"files": list, "faults": dict, "of": str}
    return said if isinstance(said, dict) and all(isinstance(said.get(k, t()), t) for k, t in kinds.items()) else {}


def _fingerprint(folder: Path, presenter: Presenter, paper: str, judged: bool) -> str:
    """Return what a drawing depends on: the cells, the code that draws, and what the paper says."""
    drawers: list[Callable[..., Any]] = [presenter.tables, presenter.figures, presenter.checks]
    files = [folder / "cells.csv", folder / ARRAYS]
    if presenter.beside is not None:
        drawers += [presenter.beside.tables, presenter.beside.figures]
        files.append(_beside(folder, presenter.beside))
    parts = [drawing_code(drawers).digest, str(judged)]
    parts += [hashlib.sha256(p.read_bytes()).hexdigest() for p in files if p.is_file()]
    told = sorted(path for place in shares("experiments") for path in (place / paper).rglob("*.*")) if paper else []
    parts += [hashlib.sha256(p.read_bytes()).hexdigest() for p in told if p.suffix in (".yaml", ".csv")]
    return hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16]


def _beside(folder: Path, beside: Beside) -> Path:
    """Return where the cells of the experiment beside a folder are, if they are: next to it, as the paper has it."""
    return folder.parent / beside.experiment / "cells.csv"


class _Arrays:
    """The arrays that figures ask for: those of the first cell with these values; it knows which were asked for."""

    def __init__(self, folder: Folder, elsewhere: ArraysOf | None) -> None:
        self._having = [(dict(k.cell.axes) | {"seed": k.cell.seed}, k) for k in folder.kept if k.arrays]
        self._folder, self._elsewhere = folder, elsewhere
        self.asked: dict[str, Kept] = {}
        self.missing: dict[str, Kept] = {}

    def of(self, kept: Kept) -> Mapping[str, np.ndarray]:
        """Return the arrays of a cell, from its folder or from where it was computed."""
        return self._folder.arrays(kept) or (self._elsewhere(kept) if self._elsewhere else {})

    def __call__(self, **axes: Any) -> dict[str, np.ndarray]:
        wanted = {axis.replace("__", "."): value for axis, value in axes.items()}
        for values, kept in self._having:
            if all(values.get(axis) == value for axis, value in wanted.items()):
                found = dict(self.of(kept))
                (self.asked if found else self.missing)[kept.stamp.key] = kept
                return found
        return {}


def _tidy(folder: Path, made: set[str]) -> None:
    """Remove tables and figures of an earlier run that this one does not make: a folder tells of one run."""
    for kind in ("tables", "figures"):
        for path in (folder / kind).glob("*.*"):
            if f"{kind}/{path.name}" not in made:
                path.unlink()


def _rows_beside(folder: Path, presenter: Presenter) -> pd.DataFrame | None:
    """Return the finished rows of the experiment beside a folder, where the presenter asks for them."""
    from fairpriv.report.verdicts import read_cells

    if presenter.beside is None or not (path := _beside(folder, presenter.beside)).is_file():
        return None
    rows = read_cells(path)
    return rows[rows["status"] == "done"]


def _rounded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a derived table with as many digits as anybody reads; all of them are in cells.csv."""
    out = table.copy()
    for column in table.select_dtypes("float"):
        digits = _SPREAD_DIGITS if column.endswith(_SPREADS) else _DIGITS
        out[column] = [x if pd.isna(x) or x == round(x, 0) else float(f"{x:.{digits}g}") for x in table[column]]
    return out


def _write_table(folder: Path, name: str, table: pd.DataFrame, drawing: Drawing) -> None:
    replace_file(folder / "tables" / f"{name}.csv", _rounded(table).to_csv(index=False))
    drawing.made.add(f"tables/{name}.csv")


def _draw(
    folder: Path, rows: pd.DataFrame, presenter: Presenter, experiment: str, judged: bool, elsewhere: ArraysOf | None
) -> Drawing:
    from fairpriv.report.figures import figure_bytes
    from fairpriv.report.verdicts import judge

    drawing = Drawing()
    finished = rows[rows["status"] == "done"]
    if finished.empty:
        return drawing
    tables: dict[str, pd.DataFrame] = {}
    with drawing.part("tables"):
        tables |= presenter.tables(finished)
    other = _rows_beside(folder, presenter)
    if presenter.beside is not None and other is not None:
        with drawing.part(f"tables with {presenter.beside.experiment}"):
            tables |= presenter.beside.tables(finished, other)
    for name, table in tables.items():
        _write_table(folder, name, table, drawing)
    if judged:  # last: a reason may name one of these tables
        with drawing.part("verdicts"):
            verdicts = judge(experiment, rows, presenter)
            if verdicts is not None:
                _write_table(folder, "verdicts", verdicts, drawing)
    figures: dict[str, Any] = {}
    with drawing.part("figures"):
        figures |= _figures(folder, finished, presenter, elsewhere, drawing)
    if presenter.beside is not None and other is not None:
        with drawing.part(f"figures with {presenter.beside.experiment}"):
            figures |= presenter.beside.figures(finished, other)
    for name, figure in figures.items():
        with drawing.part(f"figure {name}"):
            for kind, content in figure_bytes(figure).items():
                replace_file(folder / "figures" / f"{name}.{kind}", content)
                drawing.made.add(f"figures/{name}.{kind}")
    return drawing


def _figures(
    path: Path, rows: pd.DataFrame, presenter: Presenter, elsewhere: ArraysOf | None, drawing: Drawing
) -> dict[str, Any]:
    """Return the figures, and leave in arrays.npz what they asked for: enough to draw them again."""
    folder = read_folder(path)
    arrays = _Arrays(folder, elsewhere)
    try:
        figures = presenter.figures(rows, arrays)
    finally:  # what a figure fails on may be this
        for kept in arrays.missing.values():
            drawing.faults["arrays"] = f"arrays of {kept.describe()} are not at hand: recompute=true computes them"
    # without figures nobody says which are needed
    write_arrays(path, list(arrays.asked.values()) if figures else folder.kept, arrays.of)
    return figures


def present(folder: Path, force: bool = False, elsewhere: ArraysOf | None = None) -> Drawing | None:
    """Draw a results folder anew where its cells, the drawing code or the paper's numbers changed; None where not.

    `elsewhere` gives the arrays of a cell that the folder's arrays.npz does not hold (yet).
    """
    from fairpriv.report.verdicts import read_cells
    from fairpriv.runner.output import read_manifest

    if not (folder / STAMPS).is_file():
        return None  # written before stamps were: its arrays are not at hand
    said = read_manifest(folder / "manifest.json")
    config = said.get("config") or {}
    try:
        presenter = presenter_of(find("protocols", config.get("protocol") or folder.name))
    except FairprivError:
        return None  # a protocol that is not installed here
    judged = bool(said.get("reproduction", True))
    fingerprint = _fingerprint(folder, presenter, config.get("paper") or "", judged)
    before = read_drawn(folder)
    there = all((folder / name).is_file() for name in before.get("files", ()))
    if not force and there and before.get("of") == fingerprint:
        return None
    rows = read_cells(folder / "cells.csv")
    drawing = _draw(folder, rows, presenter, config.get("name") or folder.name, judged, elsewhere)
    _tidy(folder, drawing.made)
    fingerprint = _fingerprint(folder, presenter, config.get("paper") or "", judged)  # arrays.npz is of this drawing
    record = {"of": fingerprint, "files": sorted(drawing.made), "faults": drawing.faults}
    replace_file(folder / DRAWN, json.dumps(record, indent=1) + "\n")
    return drawing
