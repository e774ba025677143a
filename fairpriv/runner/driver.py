"""The driver: plans in, finished cells in the store, results written. Killing it loses at most the running cells."""

import contextlib
import time
from collections import Counter, defaultdict
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
    """A plan under way: the key of each cell, and by index why a cell cannot be run here, or cannot be run at all."""

    plan: Plan
    keys: list[str]
    sums: dict[str, str]
    unavailable: dict[int, DataUnavailable] = field(default_factory=dict)
    broken: dict[int, DataUnavailable] = field(default_factory=dict)
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
    not_run: int
    seconds: float
    interrupted: bool


@cache
def _modules(protocol: str, plugins: tuple[tuple[str, str], ...]) -> str:
    classes = [find("protocols", protocol), *(find(GROUPS[group], name) for group, name in plugins)]
    return source_sha256(*(cls.__module__ for cls in classes))


def _key(cell: Cell, data_sum: str) -> str:
    used = tuple(sorted((group, params["name"]) for group, params in cell.plugins.items()))
    return cell_key(cell, data_sum, _modules(cell.protocol, used))


def _look(cell: Cell) -> tuple[str, DataUnavailable | None, DataUnavailable | None]:
    """Return a dataset's sum, why it cannot be had, and what is wrong with its content (said once, not a cell)."""
    params = dict(cell.plugins["dataset"])
    try:
        found = datasets.sums(params.pop("name"), params)
    except DataUnavailable as error:
        return "", error, None
    try:
        load(cell)
    except DataUnavailable as error:
        return found, None, error
    return found, None, None


def prepare(plan: Plan) -> Job:
    """Check every cell and give it its key; data or packages that cannot be had keep only their own cells back."""
    protocol = build("protocols", plan.protocol)
    looked: dict[str, tuple[str, DataUnavailable | None, DataUnavailable | None]] = {}
    job = Job(plan, [], {})
    for index, cell in enumerate(plan.cells):
        try:
            protocol.validate(cell)
        except DataUnavailable as error:
            job.unavailable[index] = error
        name = canonical(cell.plugins.get("dataset"))
        if "dataset" in cell.plugins:
            job.sums[name], absent, wrong = looked[name] = looked.get(name) or _look(cell)
            if plan.own_data and (absent or wrong):
                raise absent or wrong
            job.unavailable |= {index: absent} if absent else {}
            job.broken |= {index: wrong} if wrong else {}
        job.keys.append(_key(cell, job.sums.get(name, "")))
    if plan.cells and len(job.unavailable | job.broken) == len(plan.cells):
        raise next(iter((job.unavailable | job.broken).values()))
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
        if index not in job.unavailable and index not in job.broken:
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
    for index, error in job.broken.items():
        store.fail(job.keys[index], job.plan.cells[index].identity, str(error), str(error))
    for index in [i for i in job.unavailable if job.keys[i] in done]:
        del job.unavailable[index]  # computed where it could be
    tasks = _tasks(job, done)
    reused = sum(key in done for key in job.keys)
    whys = Counter(error.brief for error in job.unavailable.values())
    progress.begin(job.plan.experiment, len(job.keys), reused, failed=len(job.broken), not_run=whys)
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
            Outcome(
                job.plan.experiment,
                job.plan.folder,
                len(job.keys),
                done,
                reused,
                failed,
                len(job.unavailable),
                job.seconds,
                interrupted,
            )
        )
        if interrupted:
            break
    return outcomes
