"""Finished cells computed again, to see whether they come out the same."""

import contextlib
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairpriv.cells import Cell
from fairpriv.runner.driver import tasks_of
from fairpriv.runner.engines import run_tasks
from fairpriv.runner.kept import Kept
from fairpriv.runner.work import Finished, Task
from fairpriv.seeds import digest
from fairpriv.stamps.stamp import combination

ROUNDING = 1e-9  # relative: what another processor's order of additions can do to a sum


@dataclass(frozen=True)
class Again:
    """A finished cell beside the same computed again: equal in bytes, within rounding, or different."""

    kept: Kept
    verdict: str  # equal, rounding, different, failed, not run
    detail: str = ""


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool) or not (isinstance(a, int | float) and isinstance(b, int | float)):
        return bool(a == b)
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=ROUNDING, abs_tol=ROUNDING)


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and repr(a) == repr(b)


def compare(kept: Kept, metrics: Mapping[str, Any], array_sums: Mapping[str, str]) -> Again:
    """Hold new metrics and arrays against kept ones."""
    names = list(dict.fromkeys([*kept.metrics, *metrics]))
    unequal = [n for n in names if n not in metrics or n not in kept.metrics or not _same(kept.metrics[n], metrics[n])]
    arrays = sorted(n for n in {*kept.arrays, *array_sums} if kept.arrays.get(n) != array_sums.get(n))
    if not unequal and not arrays:
        return Again(kept, "equal")
    told = [f"{n}: {kept.metrics.get(n)!r} -> {metrics.get(n)!r}" for n in unequal[:3]]
    told += [f"array {n}" for n in arrays[: 3 - len(told)]]
    near = all(n in metrics and n in kept.metrics and _close(kept.metrics[n], metrics[n]) for n in unequal)
    return Again(kept, "rounding" if near else "different", "; ".join(told))


def strata(kept: Sequence[Kept]) -> dict[Any, list[int]]:
    """Return the cells of each combination of plug-ins, by their place in the list."""
    found = defaultdict(list)
    for place, one in enumerate(kept):
        found[one.cell.protocol, combination(one.cell), str(one.cell.axes.get("dataset"))].append(place)
    return dict(found)


def sample(kept: Sequence[Kept], size: int, seed: int = 0) -> list[int]:
    """Draw cells stratum by stratum in turns, so that every combination of plug-ins has its share."""
    draw = random.Random(digest(["verify", seed]))
    rows = [draw.sample(places, len(places)) for places in strata(kept).values()]
    draw.shuffle(rows)
    turns = [row[turn] for turn in range(max(map(len, rows), default=0)) for row in rows if turn < len(row)]
    return turns[:size]


def within(kept: Sequence[Kept], places: Sequence[int], seconds: float) -> list[int]:
    """Keep of these cells, in their order, what takes so many seconds in all; one that does not fit is passed over."""
    chosen = []
    for place in places:
        if kept[place].seconds <= seconds:
            seconds -= kept[place].seconds
            chosen.append(place)
    return chosen


def tasks_for(cells: Sequence[Cell], wanted: set[int]) -> list[Task]:
    """Return the tasks that compute these cells with the companions they were computed with."""
    by_protocol: dict[str, list[int]] = defaultdict(list)
    for place, cell in enumerate(cells):
        by_protocol[cell.protocol].append(place)
    tasks = []
    for places in by_protocol.values():
        inner = tasks_of([cells[p] for p in places], {i for i, p in enumerate(places) if p in wanted})
        for task in inner:
            at = tuple(places[i] for i in task.indices)
            tasks.append(Task(at, task.cells, frozenset(places[i] for i in task.wanted)))
    return tasks


def again(
    kept: Sequence[Kept], wanted: Sequence[int], engine: Mapping[str, Any], jobs: int
) -> Iterator[tuple[Again, Finished]]:
    """Compute the wanted ones of these cells again and compare each with what was kept.

    Alone first, which is quicker; what does not come out equal then with the companions that it was computed with.
    """
    alone = [Task((place,), (kept[place].cell,), frozenset([place])) for place in wanted]
    unequal = set()
    for one, finished in _compared(kept, alone, engine, jobs):
        if one.verdict == "equal":
            yield one, finished
        else:
            unequal.add(finished.index)
    yield from _compared(kept, tasks_for([one.cell for one in kept], unequal), engine, jobs)


def _compared(
    kept: Sequence[Kept], tasks: Sequence[Task], engine: Mapping[str, Any], jobs: int
) -> Iterator[tuple[Again, Finished]]:
    if not tasks:
        return
    finished = run_tasks(engine, tasks, min(jobs, len(tasks)))
    with contextlib.closing(finished):
        for one in (one for batch in finished for one in batch):
            if one.metrics is None:
                yield Again(kept[one.index], "failed", one.error), one
            else:
                yield compare(kept[one.index], one.metrics, one.array_sums), one
