"""The driver: plans in, finished cells in the store, results written. Killing it loses at most the running cells."""

import contextlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpriv.cells import Cell
from fairpriv.config import Plan
from fairpriv.errors import DataUnavailable, DoesNotFit
from fairpriv.protocols.base import Protocol
from fairpriv.registry import build, find
from fairpriv.runner import pin
from fairpriv.runner.engines import run_tasks
from fairpriv.runner.folder import check_writable
from fairpriv.runner.kept import Kept, Origin
from fairpriv.runner.library import Library, many_objects, open_library
from fairpriv.runner.progress import Progress
from fairpriv.runner.revision import revision
from fairpriv.runner.signals import exit_code_of
from fairpriv.runner.survey import UNKNOWN, Brought, Seat, Surveyor, bring, expected, forecast, reasons, told
from fairpriv.runner.work import Finished, Task, load
from fairpriv.seeds import canonical
from fairpriv.stamps.stamp import code_behind, versions


@dataclass
class Job:
    """A plan under way: how each of its cells stands (and each further one of its folder), in the folder's order."""

    plan: Plan
    seats: list[Seat]
    other_versions: Counter[str] = field(default_factory=Counter)
    unavailable: Counter[str] = field(default_factory=Counter)  # the whole message, by number of cells
    computed: int = 0
    seconds: float = 0.0

    def count(self, state: str) -> int:
        """Return how many cells of the request stand so."""
        return sum(seat.state == state for seat in self.seats if not seat.extra)


# Writes a job's results; gives back what could not be drawn of them, with tracebacks.
Writer = Callable[[Job, Library], Mapping[str, str]]


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
    interrupted: int  # the exit code it asks for; 0: was not


@many_objects()
def prepare(plan: Plan, library: Library) -> Job:
    """Check every cell and see how it stands; nothing is brought or computed yet."""
    protocol = build("protocols", plan.protocol)
    surveyor = Surveyor(library, plan.config.get("reuse") == "strict", bool(plan.config.get("recompute")))
    seats = []
    unavailable: Counter[str] = Counter()
    lacking: dict[str, DataUnavailable | None] = {}  # by point: a package that only some cells need
    for cell in plan.cells:
        seat = surveyor.look(cell)
        if cell.point not in lacking:
            lacking[cell.point] = _lacking(protocol, cell)
        if (error := lacking[cell.point]) and seat.state != "done":  # else it was computed where it could be
            unavailable[str(error)] += 1
            seat = Seat(cell, "not run", error.brief)
        seats.append(seat)
    return Job(plan, _in_folder(plan, seats, surveyor), surveyor.other_versions, unavailable)


def _lacking(protocol: Protocol, cell: Cell) -> DataUnavailable | None:
    """Check a cell's point, and return what it needs that is not installed here."""
    try:
        protocol.validate(cell)
    except DataUnavailable as error:
        return error
    return None


def _in_folder(plan: Plan, seats: list[Seat], surveyor: Surveyor) -> list[Seat]:
    """Add what the reproduction's folder holds beyond this request, and keep the order in which it has it.

    A folder is added to: its points come first, in its order, then the new ones; seeds ascend within a point.
    """
    folder = surveyor.library.folders.get(plan.folder) if plan.reproduction else None
    asked = {seat.cell.identity for seat in seats}
    held = [kept.cell for kept in folder.kept] if folder else []
    extra = [surveyor.look(cell, extra=True) for cell in held if cell.identity not in asked]
    order: dict[str, int] = {}
    for cell in [*held, *(seat.cell for seat in seats)]:
        order.setdefault(cell.point, len(order))
    return sorted([*seats, *extra], key=lambda seat: (order[seat.cell.point], seat.cell.seed))


def supply(job: Job) -> None:
    """Bring the data of unfinished cells; what cannot be had keeps only its own cells back."""
    looked: dict[str, Brought] = {}
    misfits: dict[str, DoesNotFit | None] = {}
    for seat in [s for s in job.seats if s.state in ("missing", "outdated") and not s.extra]:
        if "dataset" not in seat.cell.plugins:
            continue
        name = canonical(seat.cell.plugins["dataset"])
        seat.data, absent, wrong = looked[name] = looked.get(name) or bring(seat.cell)
        if job.plan.own_data and (fault := absent or wrong):
            raise fault
        if wrong:
            seat.state, seat.why = "failed", str(wrong)
            continue
        point = seat.cell.point
        if not absent and point not in misfits:
            misfits[point] = _misfit(seat.cell, job.plan)
        if cannot := absent or misfits[point]:
            seat.state, seat.why = "not run", cannot.brief
            job.unavailable[str(cannot)] += 1
    asked = [seat for seat in job.seats if not seat.extra]
    if asked and all(seat.state in ("not run", "failed") for seat in asked):
        wrong_ones = [str(error) for _, _, error in looked.values() if error]
        raise DataUnavailable([*job.unavailable, *wrong_ones][0])


def _misfit(cell: Cell, plan: Plan) -> DoesNotFit | None:
    """Return why a cell does not fit its dataset; raise it where that is what the user asked for."""
    try:
        build("protocols", cell.protocol).fits(cell, load(cell))
    except DoesNotFit as error:
        if not error.axis or error.axis in plan.pinned:
            raise
        return error
    return None


def _companions(cell: Cell, shared: tuple[str, ...]) -> str:
    """Return what a cell has in common with those it is computed with: everything but the shared axes."""
    axes = {a: v for a, v in cell.axes.items() if a not in shared}
    plugins = {}
    for group, params in cell.plugins.items():
        if group not in shared:
            hidden = {s.split(".", 1)[1] for s in shared if s.startswith(f"{group}.")}
            plugins[group] = {k: v for k, v in params.items() if k not in hidden}
    return canonical([cell.protocol, axes, plugins, cell.seed])


def _shared(cell: Cell) -> tuple[str, ...]:
    """Return the axes along which a cell is computed with others: its protocol's, or those it has for such a cell."""
    protocol = find("protocols", cell.protocol)
    return protocol.shared_by(cell) if hasattr(protocol, "shared_by") else protocol.shared


def tasks_of(cells: Sequence[Cell], wanted: set[int], skip: Collection[int] = ()) -> list[Task]:
    """Group cells that share work; a group with anything wanted is computed whole, so that its bytes do not change."""
    if not wanted:
        return []
    groups: dict[str, list[int]] = defaultdict(list)
    for index, cell in enumerate(cells):
        if index not in skip:
            groups[_companions(cell, _shared(cell))].append(index)
    return [
        Task(tuple(indices), tuple(cells[i] for i in indices), frozenset(wanted & set(indices)))
        for indices in groups.values()
        if wanted & set(indices)
    ]


def keep(finished: Finished, metrics: Mapping[str, Any], seat: Seat, library: Library) -> Kept:
    """Put a finished cell into the store."""
    code = code_behind(seat.cell)
    origin = Origin(versions(code.packages), finished.processor, finished.pin, revision())
    kept = Kept(seat.stamp, metrics, finished.seconds, origin, finished.array_sums)
    library.store.put(kept, finished.arrays)
    library.add(kept, library.store)
    return kept


def _settle(finished: Finished, seat: Seat, library: Library) -> None:
    """Take in one cell's outcome."""
    if finished.metrics is None:
        seat.state, seat.why = "failed", finished.error
        library.store.fail(seat.stamp.key, seat.cell.identity, finished.error, finished.traceback)
    else:
        seat.state, seat.why, seat.kept = "done", "", keep(finished, finished.metrics, seat, library)


def _times(job: Job, wanted: Sequence[int], library: Library) -> dict[int, float | None]:
    """Return by how many seconds each of these cells is expected to lengthen the run; None where nobody knows."""
    times = expected([job.seats[index] for index in wanted], library)
    return {i: None if time is None else time / job.plan.jobs for i, time in zip(wanted, times)}


def _run_job(job: Job, library: Library, progress: Progress) -> int:
    """Run what is missing; return the exit code of an interruption, 0 for none."""
    for seat in job.seats:
        if seat.state == "failed":  # its data has wrong content
            library.store.fail(seat.stamp.key, seat.cell.identity, seat.why, seat.why)
    wanted = {i for i, s in enumerate(job.seats) if s.state in ("missing", "outdated") and not s.extra}
    stuck = {i for i, s in enumerate(job.seats) if s.state in ("failed", "not run") or (s.extra and s.state != "done")}
    tasks = tasks_of([seat.cell for seat in job.seats], wanted, stuck)
    codes = {code.digest: code.definitions for code in (code_behind(job.seats[i].cell) for i in wanted)}
    library.store.put_codes(codes)
    library.codes |= codes
    whys = Counter(seat.why for seat in job.seats if seat.state == "not run")
    total = sum(not seat.extra for seat in job.seats)
    times = _times(job, sorted(wanted), library)
    progress.begin(job.plan.experiment, total, [*times.values()], failed=job.count("failed"), not_run=whys)
    finished = run_tasks(job.plan.engine, tasks, min(job.plan.jobs, max(len(tasks), 1)))
    try:
        with contextlib.closing(finished):
            for batch in finished:
                for cell in batch:
                    _settle(cell, job.seats[cell.index], library)
                    job.computed += 1
                    progress.cell(times[cell.index], failed=cell.metrics is None, error=cell.error)
    except KeyboardInterrupt as stop:
        return exit_code_of(stop)
    return 0


@dataclass(frozen=True)
class Survey:
    """What a run would do, for `--dry-run`."""

    folder: str
    cells: int
    done: int
    missing: int
    outdated: int
    not_run: int
    why_outdated: dict[str, int]
    seconds: float
    told: str
    jobs: int
    engine: str


def survey(plans: Sequence[Plan]) -> list[Survey]:
    """Say how the cells of each plan stand, without writing or computing anything."""
    library = open_library(Path(plans[0].config["results_dir"]), {plan.experiment for plan in plans}, read_only=True)
    found = []
    for job in [prepare(plan, library) for plan in plans]:
        if job.plan.own_data and all(seat.why != UNKNOWN for seat in job.seats):  # else it would have to be brought
            supply(job)
        asked = [seat for seat in job.seats if not seat.extra]
        done, missing, outdated, not_run = map(job.count, ("done", "missing", "outdated", "not run"))
        words = told(job.seats, library, job.plan.jobs)
        seconds, _ = forecast(job.seats, library, job.plan.jobs)
        folder, engine = str(job.plan.folder), job.plan.engine["name"]
        why, seconds = reasons(asked), round(seconds, 1)
        found.append(
            Survey(folder, len(asked), done, missing, outdated, not_run, why, seconds, words, job.plan.jobs, engine)
        )
    library.store.close()
    return found


def execute(plans: Sequence[Plan], progress: Progress, write: Writer) -> list[Outcome]:
    """Run the plans one after another and write each one's results with `write`."""
    results = Path(plans[0].config["results_dir"])
    library = open_library(results, {plan.experiment for plan in plans})
    outcomes = []
    try:
        for notice in library.notices:
            progress.say(notice)
        jobs = [prepare(plan, library) for plan in plans]  # every request is checked before the first cell runs
        for job in jobs:
            check_writable(job.plan.folder)
            supply(job)
        if not library.store.path.exists():
            library.store.open()
        for job in jobs:
            progress.say(f"{job.plan.experiment}: {told(job.seats, library, job.plan.jobs)}")
            outcomes.append(carry_out(job, library, progress, write))
            if outcomes[-1].interrupted:
                break
    finally:
        progress.end()
        library.store.close()
    return outcomes


def carry_out(job: Job, library: Library, progress: Progress, write: Writer) -> Outcome:
    """Run a job whose data is at hand, and write its results."""
    start = time.perf_counter()
    if pin.why_not() and any(seat.state in ("missing", "outdated") for seat in job.seats):
        progress.say(f"{job.plan.experiment}: {pin.told()}")
    for what, number in job.other_versions.items():
        progress.say(
            f"{job.plan.experiment}: {number} cells made with other packages ({what}): reuse=strict redoes them"
        )
    reused = job.count("done")
    interrupted = _run_job(job, library, progress)
    job.seconds = time.perf_counter() - start
    progress.end()
    for part, trace in write(job, library).items():
        progress.say(f"{job.plan.experiment}: {part} could not be drawn: {trace.strip().splitlines()[-1]} (see status)")
    return Outcome(
        job.plan.experiment,
        job.plan.folder,
        sum(not seat.extra for seat in job.seats),
        job.count("done"),
        reused,
        job.count("failed"),
        job.count("not run"),
        job.seconds,
        interrupted,
    )
