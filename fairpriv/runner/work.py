"""The work of one task, as it runs in a worker: some cells that share their computation."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from threadpoolctl import threadpool_limits

from fairpriv import datasets
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.registry import build
from fairpriv.runner.store import pack


@dataclass(frozen=True)
class Finished:
    """One cell's outcome: metrics and packed arrays, or an error with its traceback."""

    index: int
    metrics: dict | None
    arrays: bytes | None
    seconds: float
    error: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Task:
    """Cells to be computed together, by their index in the plan. `wanted` says which results are still missing."""

    indices: tuple[int, ...]
    cells: tuple[Cell, ...]
    wanted: frozenset[int]


def load(cell: Cell) -> Dataset:
    """Return a cell's dataset (read once a process)."""
    params = dict(cell.plugins["dataset"])
    return datasets.load(params.pop("name"), params)


def _compute(indices: Sequence[int], cells: Sequence[Cell]) -> list[Finished]:
    start = time.perf_counter()
    results = build("protocols", cells[0].protocol).run(cells, load)
    if len(results) != len(cells):
        raise RuntimeError(f"protocol {cells[0].protocol} gave {len(results)} results for {len(cells)} cells")
    each = (time.perf_counter() - start) / len(cells)
    return [Finished(i, dict(r.metrics), pack(r.arrays), each) for i, r in zip(indices, results)]


def perform(task: Task) -> list[Finished]:
    """Run a task: together, or one by one where that fails, so that a bad cell fails alone."""
    with threadpool_limits(1):  # the same bytes whatever the number of workers
        try:
            finished = _compute(task.indices, task.cells)
        except Exception:
            finished = []
            for index, cell in zip(task.indices, task.cells):
                try:
                    finished += _compute([index], [cell])
                except Exception as error:  # kept with its traceback, shown by `fairpriv status`
                    said = f"{type(error).__name__}: {error}".splitlines()[0]
                    finished.append(Finished(index, None, None, 0.0, said, traceback.format_exc()))
    return [f for f in finished if f.index in task.wanted]
