"""The driver: plans in, finished cells in the store, results written. Killing it loses at most the running cells."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from fairpriv import datasets
from fairpriv.cells import GROUPS, Cell, cell_key
from fairpriv.config import Plan
from fairpriv.errors import DataUnavailable
from fairpriv.registry import build, find
from fairpriv.runner.engines import run_tasks
from fairpriv.runner.progress import Progress
from fairpriv.runner.source import source_sha256
from fairpriv.runner.store import Store
from fairpriv.runner.work import Task, load
from fairpriv.seeds import canonical


@dataclass
class Job:
    """A plan under way: the key of each cell, and why a cell cannot be run."""

    plan: Plan
    keys: list[str]
    sums: dict[str, str]
    unavailable: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """How a job ended: counts, and where its results are."""

    experiment: str
    folder: Path
    cells: int
    done: int
    reused: int
    failed: int
    seconds: float
    interrupted: bool


@cache
def _modules(protocol: str, plugins: tuple[tuple[str, str], ...]) -> str:
    classes = [find("protocols", protocol), *(find(GROUPS[group], name) for group, name in plugins)]
    return source_sha256(*(cls.__module__ for cls in classes))


def _key(cell: Cell, data_sum: str) -> str:
    used = tuple(sorted((group, params["name"]) for group, params in cell.plugins.items()))
    return cell_key(cell, data_sum, _modules(cell.protocol, used))


def prepare(plan: Plan) -> Job:
    """Check every cell and give it its key; a dataset that cannot be had keeps only its own cells from running."""
    protocol = build("protocols", plan.protocol)
    sums: dict[str, str] = {}
    missing: dict[str, str] = {}
    job = Job(plan, [], sums)
    for index, cell in enumerate(plan.cells):
        protocol.validate(cell)
        data = cell.plugins.get("dataset")
        name = canonical(data)
        if data is not None and name not in sums:
            params = dict(data)
            try:
                sums[name] = datasets.sums(params.pop("name"), params)
                load(cell)  # bad data is refused now, in one line, not in every cell
            except DataUnavailable as error:
                if plan.own_data:
                    raise
                sums[name], missing[name] = "", str(error)
        if name in missing:
            job.unavailable[index] = missing[name]
        job.keys.append(_key(cell, sums.get(name, "")))
    if plan.cells and len(job.unavailable) == len(plan.cells):
        raise DataUnavailable(job.unavailable[0])
    return job


def _companions(cell: Cell, shared: tuple[str, ...]) -> str:
    """Return what a cell has in common with those it is computed with: everything but the shared axes."""
    axes = {a: v for a, v in cell.axes.items() if a not in shared}
    plugins = {}
    for group, params in cell.plugins.items():
        if group not in shared:
            hidden = {s.split(".", 1)[1] for s in shared if s.startswith(f"{group}.")}
            plugins[group] = {k: v for k, v in params.items() if k not in hidden}
    return canonical([cell.protocol, axes, plugins, cell.seed])


def _tasks(job: Job, done: set[str]) -> list[Task]:
    """Group cells that share work; a group with anything missing is computed whole, so that its bytes do not change."""
    shared = find("protocols", job.plan.protocol).shared
    groups: dict[str, list[int]] = defaultdict(list)
    for index, cell in enumerate(job.plan.cells):
        if index not in job.unavailable:
            groups[_companions(cell, shared)].append(index)
    tasks = []
    for indices in groups.values():
        wanted = frozenset(i for i in indices if job.keys[i] not in done)
        if wanted:
            tasks.append(Task(tuple(indices), tuple(job.plan.cells[i] for i in indices), wanted))
    return tasks


def _run_job(job: Job, store: Store, progress: Progress) -> tuple[int, bool]:
    """Run what is missing; return how many cells were reused and whether the user interrupted."""
    done = store.done(job.keys)
    for index, why in job.unavailable.items():
        store.fail(job.keys[index], job.plan.cells[index].identity, why, why)
    tasks = _tasks(job, done)
    todo = sum(len(task.wanted) for task in tasks)
    reused = len(job.plan.cells) - todo - len(job.unavailable)
    progress.begin(job.plan.experiment, total=len(job.plan.cells), reused=reused, unavailable=len(job.unavailable))
    finished = run_tasks(job.plan.engine, tasks, min(job.plan.jobs, max(len(tasks), 1)))
    try:
        with contextlib.closing(finished):
            for batch in finished:
                for cell in batch:
                    key, text = job.keys[cell.index], job.plan.cells[cell.index].identity
                    if cell.metrics is None:
                        store.fail(key, text, cell.error, cell.traceback)
                    else:
                        store.put(key, text, cell.metrics, cell.arrays, cell.seconds)
                    progress.cell(failed=cell.metrics is None, error=cell.error)
    except KeyboardInterrupt:
        return reused, True
    return reused, False


def execute(plans: Sequence[Plan], progress: Progress, write: Callable[[Job, Store], None]) -> list[Outcome]:
    """Run the plans one after another and write each one's results with `write`."""
    jobs = [prepare(plan) for plan in plans]  # every request is checked before the first cell runs
    outcomes = []
    for job in jobs:
        start = time.perf_counter()
        store = Store(Path(job.plan.config["results_dir"]))
        try:
            if store.notice:
                progress.say(store.notice)
            reused, interrupted = _run_job(job, store, progress)
            job.seconds = time.perf_counter() - start
            progress.end()
            write(job, store)
            done, failed = len(store.done(job.keys)), len(store.failures(job.keys))
        finally:
            progress.end()
            store.close()
        outcomes.append(
            Outcome(job.plan.experiment, job.plan.folder, len(job.keys), done, reused, failed, job.seconds, interrupted)
        )
        if interrupted:
            break
    return outcomes
