"""The work of one task, as it runs in a worker: some cells that share their computation."""

import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from fairpriv import cvxpy_quiet, datasets  # noqa: F401
from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.registry import build
from fairpriv.runner import pin
from fairpriv.runner.kept import array_sums, pack


@dataclass(frozen=True)
class Finished:
    """One cell's outcome: metrics and packed arrays, or an error with its traceback; and where it was computed."""

    index: int
    metrics: dict[str, Any] | None
    arrays: bytes | None
    seconds: float
    array_sums: dict[str, str] = field(default_factory=dict)
    processor: str = ""
    pin: str = ""
    error: str = ""
    traceback: str = ""


@dataclass(frozen=True)
class Task:
    """Cells to be computed together, by their index in the plan. `wanted` says which results are still missing."""

    indices: tuple[int, ...]
    cells: tuple[Cell, ...]
    wanted: frozenset[int]


def failed(task: Task, error: str, trace: str) -> list[Finished]:
    """Return the outcome of a task that gave none."""
    return [Finished(index, None, None, 0.0, error=error, traceback=trace) for index in sorted(task.wanted)]


def said(error: BaseException) -> str:
    """Return an error in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def load(cell: Cell) -> Dataset:
    """Return a cell's dataset (read once a process)."""
    params = dict(cell.plugins["dataset"])
    return datasets.load(params.pop("name"), params)


def _plain(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return metrics as they read back from the store: numpy's numbers as Python's."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in metrics.items()}


def _compute(indices: Sequence[int], cells: Sequence[Cell]) -> list[Finished]:
    start = time.process_time()  # tasks run one at a time in a worker; what else the machine does is no part of a cell
    results = build("protocols", cells[0].protocol).run(cells, load)
    if len(results) != len(cells):
        raise RuntimeError(f"protocol {cells[0].protocol} gave {len(results)} results for {len(cells)} cells")
    each = round((time.process_time() - start) / len(cells), 6)
    here = {"processor": pin.processor(), "pin": pin.state()}
    return [
        Finished(index, _plain(r.metrics), pack(r.arrays), each, array_sums(r.arrays), **here)
        for index, r in zip(indices, results)
    ]


def _one_thread() -> AbstractContextManager[Any]:
    """Hold libraries to one thread: the same bytes whatever the number of workers (which are held to it anyway)."""
    return nullcontext() if pin.worker() else threadpool_limits(1)  # it looks through all libraries, 2 ms a time


def perform(task: Task) -> list[Finished]:
    """Run a task: together, or one by one where that fails, so that a bad cell fails alone."""
    with _one_thread():
        try:
            finished = _compute(task.indices, task.cells)
        except Exception:
            finished = []
            for index, cell in zip(task.indices, task.cells):
                try:
                    finished += _compute([index], [cell])
                except Exception as error:  # kept with its traceback, shown by `fairpriv status`
                    trace = traceback.format_exc()
                    finished.append(Finished(index, None, None, 0.0, error=said(error), traceback=trace))
    return [f for f in finished if f.index in task.wanted]
