"""`fairpriv adopt`: outdated cells stamped anew after a change that keeps them, once that has been seen to be so.

For each combination of plug-ins at least one outdated cell is computed again, and the slowest ones as time allows.
Equal in bytes: the change keeps the combination's cells. Equal within rounding only: another processor may be in the
way, so the old revision computes the same cell here, and old and new must agree in bytes. Anything else refuses it.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairpriv.errors import FairprivError
from fairpriv.runner import pin
from fairpriv.runner.folder import replace_file, write_stamps
from fairpriv.runner.kept import Kept, array_sums, unpack
from fairpriv.runner.library import Library, open_library
from fairpriv.runner.recompute import Again, again, compare, strata, tasks_for, within
from fairpriv.runner.revision import ROOT, revision
from fairpriv.runner.status import folders
from fairpriv.runner.survey import Seat, Surveyor, reasons
from fairpriv.runner.verify import LOCAL, computable
from fairpriv.runner.work import Finished, Task
from fairpriv.stamps.stamp import Stamp, classes_of, code_behind

LOG = "adopted.jsonl"
SLOW_SECONDS = 120.0  # of recorded time for the slowest cells of the combinations


class Refused(FairprivError):
    """A change that does not keep the results."""


@dataclass
class Adopted:
    """What was adopted in a folder: cells, how many were computed again, and the combinations left out."""

    folder: Path
    cells: int = 0
    checked: list[Again] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)


def adopt(
    results: Path,
    experiment: str | None,
    reason: str,
    say: Callable[[str], None],
    jobs: int | None = None,
    each: int = 1,
) -> list[Adopted]:
    """Stamp the outdated cells of these folders anew, or refuse, naming the cell that came out different."""
    library = open_library(results)
    try:
        for notice in library.notices:
            say(notice)
        return [
            _adopt(path, library, reason, say, jobs or os.cpu_count() or 1, each)
            for path in folders(results, experiment)
            if path in library.folders
        ]
    finally:
        library.store.close()


def _adopt(path: Path, library: Library, reason: str, say: Callable[[str], None], jobs: int, each: int) -> Adopted:
    surveyor = Surveyor(library)
    folder = library.folders[path]
    seats = [surveyor.look(kept.cell) for kept in folder.kept]
    outdated = [seat for seat in seats if seat.state == "outdated" and seat.kept is not None]
    done = Adopted(path)
    current = [_as_it_stands(seat, kept) for seat, kept in zip(seats, folder.kept)]
    if not outdated:
        write_stamps(path, current, library.codes)
        return done
    here, absent = computable([seat.held for seat in outdated])
    for why, number in absent.items():
        say(f"{path}: {number} outdated cells cannot be computed here ({why})")
        done.left[why] = number
    keys = {kept.stamp.key for kept in here}
    adoptable = [seat for seat in outdated if seat.held.stamp.key in keys and _same_data(seat)]
    every = [seat.kept for seat in seats if seat.kept is not None]
    wanted = _to_check([seat.held for seat in adoptable], every, each)
    say(f"{path}: {len(adoptable)} outdated cells, {len(wanted)} computed again ({'; '.join(reasons(outdated))})")
    for one, finished in again(every, wanted, LOCAL, jobs):
        done.checked.append(_judge(one, finished, every, jobs, say))
    adopted = {seat.held.stamp.key: _restamped(seat) for seat in adoptable}
    for key, kept in adopted.items():
        library.store.take_in([(kept, library.arrays(library.by_key[key]))])
    codes = {code_behind(seat.cell).digest: code_behind(seat.cell).definitions for seat in adoptable}
    library.store.put_codes(codes)
    write_stamps(path, [adopted.get(kept.stamp.key, kept) for kept in current], library.codes | codes)
    _log(path, done, reason, outdated)
    done.cells = len(adopted)
    return done


def _as_it_stands(seat: Seat, kept: Kept) -> Kept:
    """Return a row of the folder under the stamp that holds now, where the store has the same cell under it already.

    Another folder may have adopted it, or a run computed it again; its seconds stay those of the row.
    """
    if seat.state == "done" and compare(kept, seat.held.metrics, seat.held.arrays).verdict == "equal":
        return replace(kept, stamp=seat.held.stamp)
    return kept


def _same_data(seat: Seat) -> bool:
    """Say whether only the code of a cell changed: other data, or a plug-in that is gone, is nothing to adopt."""
    try:
        code_behind(seat.cell)
    except FairprivError:
        return False
    return seat.data in (None, seat.held.stamp.data)


def _to_check(adoptable: Sequence[Kept], every: Sequence[Kept], each: int) -> list[int]:
    """Choose outdated cells of every combination of plug-ins, by their place among all of the folder.

    The quickest, and as many of the slowest as `SLOW_SECONDS` hold: large problems may take a path of their own.
    """
    place = {one.stamp.key: number for number, one in enumerate(every)}
    quickest, slowest = [], []
    for places in strata(adoptable).values():
        in_order = sorted(places, key=lambda p: adoptable[p].seconds)
        quickest += in_order[:each]
        slowest += in_order[each:][-1:]
    slowest = within(adoptable, sorted(slowest, key=lambda p: -adoptable[p].seconds), SLOW_SECONDS)
    return [place[adoptable[p].stamp.key] for p in (*quickest, *slowest)]


def _judge(one: Again, finished: Finished, every: Sequence[Kept], jobs: int, say: Callable[[str], None]) -> Again:
    """Accept a cell that came out equal; where only rounding differs, ask the old revision."""
    if one.verdict == "equal":
        return one
    if one.verdict == "rounding" and all(c.__module__.startswith("fairpriv.") for c in classes_of(one.kept.cell)):
        # the revision of a plug-in from outside cannot be had: there rounding refuses
        say(f"within rounding only ({one.kept.describe()}): running the old revision here beside the new")
        (task,) = tasks_for([k.cell for k in every], {finished.index})
        old = run_old(one.kept.origin.revision, task)
        beside = compare(
            replace(one.kept, metrics=old.metrics or {}, arrays=old.array_sums),
            finished.metrics or {},
            finished.array_sums,
        )
        if beside.verdict == "equal":
            return replace(beside, detail="equal to the old revision, run here")
        one = beside
    raise Refused(f"not adopted: {one.kept.describe()} is {one.verdict}: {one.detail}")


# What the old revision runs: it knows Task, Cell and perform, and little else can be relied on.
_OLD = """
import json, pathlib, sys
from fairpriv.cells import Cell
from fairpriv.runner.work import Task, perform
said = json.loads(pathlib.Path("task.json").read_text())
cells = tuple(Cell(**cell) for cell in said["cells"])
(found,) = perform(Task(tuple(said["indices"]), cells, frozenset(said["wanted"])))
pathlib.Path("metrics.json").write_text(json.dumps([found.metrics, found.error]))
pathlib.Path("arrays.npz").write_bytes(found.arrays or b"")
"""


def run_old(old: str, task: Task) -> Finished:
    """Compute a task's cell by the code of an older revision, in a pinned process of its own."""
    why = "equal within rounding only, and"
    if not old or old.endswith("+"):
        raise Refused(f"not adopted: {why} the old revision is not known")
    try:
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", old], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise Refused(f"not adopted: {why} revision {old} cannot be had") from error
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(place / "code", filter="data")
        cells = [cell.content for cell in task.cells]
        said = {"indices": task.indices, "cells": cells, "wanted": sorted(task.wanted)}
        (place / "task.json").write_text(json.dumps(said))
        paths = os.pathsep.join([str(place / "code"), os.environ.get("PYTHONPATH", "")])
        env = os.environ | pin.variables() | {"PYTHONPATH": paths}
        done = subprocess.run([sys.executable, "-c", _OLD], env=env, cwd=place, capture_output=True, text=True)
        if done.returncode:
            raise Refused(
                f"not adopted: {why} revision {old} does not run here: {done.stderr.strip().splitlines()[-1]}"
            )
        metrics, fault = json.loads((place / "metrics.json").read_text())
        blob = (place / "arrays.npz").read_bytes() or None
    if metrics is None:
        raise Refused(f"not adopted: {why} revision {old} fails on the cell: {fault}")
    return Finished(0, metrics, blob, 0.0, array_sums(unpack(blob)))


def _restamped(seat: Seat) -> Kept:
    """Return the finished cell under the present code; where it came from stays as it was."""
    kept = seat.held
    return replace(kept, stamp=Stamp(kept.stamp.cell, kept.stamp.data, code_behind(seat.cell).digest))


def _log(path: Path, done: Adopted, reason: str, outdated: Sequence[Seat]) -> None:
    entry = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "revision": revision(),
        "reason": reason,
        "changed": reasons(outdated),
        "checked": [{"cell": one.kept.describe(), "verdict": one.detail or one.verdict} for one in done.checked],
    }
    before = (path / LOG).read_text(encoding="utf-8") if (path / LOG).is_file() else ""
    replace_file(path / LOG, before + json.dumps(entry) + "\n")
