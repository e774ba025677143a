"""`fairpriv reproduce`: every experiment from nothing into a folder of its own, then held against what is committed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairpriv import config, strict_json
from fairpriv.errors import BadRequest, DataUnavailable
from fairpriv.runner import output
from fairpriv.runner.against import Comparison, against
from fairpriv.runner.driver import Job, Outcome, carry_out, prepare, supply
from fairpriv.runner.folder import replace_file
from fairpriv.runner.library import Library, open_library
from fairpriv.runner.overall import Overall, Part
from fairpriv.runner.survey import duration, forecast

COMPARISON = "comparison.json"
Say = Callable[[str], None]


@dataclass
class Reproduction:
    """What came of it: how each experiment ended, which were skipped and why, and how each compares."""

    into: Path
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    report: Path | None = None

    @property
    def interrupted(self) -> int:
        """Return the exit code that an interruption asks for; 0 for none."""
        return max((o.interrupted for o in self.outcomes.values()), default=0)

    @property
    def failed(self) -> bool:
        """Say whether a cell failed, or came out different from the committed one by more than rounding."""
        return any(o.failed for o in self.outcomes.values()) or any(c.different for c in self.comparisons.values())

    def summary(self) -> dict[str, Any]:
        """Return it as plain data."""
        experiments = {
            name: {
                "cells": outcome.cells,
                "done": outcome.done,
                "failed": outcome.failed,
                "not_run": outcome.not_run,
                **_counts(self.comparisons.get(name)),
            }
            for name, outcome in self.outcomes.items()
        }
        return {"into": str(self.into), "experiments": experiments, "skipped": self.skipped}


def _counts(comparison: Comparison | None) -> dict[str, Any]:
    if comparison is None:
        return {}
    told = {"compared": comparison.compared, "equal": comparison.equal, "new": comparison.new}
    return told | {"differences": [vars(d) for d in comparison.differences]}


def _jobs(names: Sequence[str], profile: str, into: Path, workers: int | None, library: Library) -> dict[str, Job]:
    """Return every experiment's job, checked; nothing is brought or computed."""
    more = [f"jobs={workers}"] if workers is not None else []
    words = [[f"experiment={name}", f"profile={profile}", f"results_dir='{into}'", *more] for name in names]
    return {name: prepare(config.plan(line), library) for name, line in zip(names, words)}


def _supply(jobs: dict[str, Job], say: Say) -> dict[str, str]:
    """Bring the data of each job; return the experiments that cannot be run at all, with the reason."""
    skipped = {}
    for name, job in jobs.items():
        try:
            supply(job)
        except DataUnavailable as error:
            skipped[name] = str(error)
            say(f"{name}: skipped: {error}")
    return skipped


def _forecast(jobs: dict[str, Job], precedents: Sequence[Library], say: Say) -> dict[str, Part]:
    """Say how long it will take, by what the same kinds of cells took before; return each one's share."""
    parts = {}
    unknown = 0
    for name, job in jobs.items():
        asked = sum(not seat.extra for seat in job.seats)
        waiting = asked - job.count("done") - job.count("not run") - job.count("failed")
        known = [forecast(job.seats, library, job.plan.jobs) for library in precedents]
        seconds, without = min(known, key=lambda pair: pair[1])
        unknown += without
        parts[name] = Part(waiting, seconds)
        if waiting:
            time = "time unknown" if without == waiting else f"about {duration(seconds)}"
            say(f"  {name}: {waiting} of {asked} cells to compute, {time}")
    total = sum(part.seconds for part in parts.values())
    more = f" and the {unknown} cells of which no time is known" if unknown else ""
    cells = sum(part.cells for part in parts.values())
    say(f"{len(parts)} experiments, {cells} cells to compute: about {duration(total)}{more}")
    return parts


def reproduce(
    names: Sequence[str],
    profile: str,
    into: Path,
    committed: Path,
    workers: int | None = None,
    quiet: bool = False,
    left_out: Mapping[str, str] | None = None,
) -> Reproduction:
    """Compute the experiments into a folder of their own and compare each with the committed results.

    What the folder holds already is gone on from; committed cells are never reused. `left_out` says of experiments that
    are not among `names` why.
    """
    if into.resolve() == committed.resolve():
        raise BadRequest(f"--into {into} holds the results to compare with: choose another folder")
    own, theirs = open_library(into, names), open_library(committed, names, read_only=True)
    view = Overall({}, quiet)
    made = Reproduction(into)
    try:
        jobs = _jobs(names, profile, into, workers, own)
        made.skipped = {**(left_out or {}), **_supply(jobs, view.say)}
        jobs = {name: job for name, job in jobs.items() if name not in made.skipped}
        view = Overall(_forecast(jobs, [theirs, own], view.say), quiet)
        if not own.store.path.exists():
            own.store.open()
        view.open()
        for name, job in jobs.items():
            made.outcomes[name] = carry_out(job, own, view, output.write)
            if made.interrupted:
                return made
        view.close()
        _compare(made, jobs, own, theirs)
    finally:
        view.close()
        own.store.close()
        theirs.store.close()
    _write(made)
    return made


def _compare(made: Reproduction, jobs: dict[str, Job], own: Library, theirs: Library) -> None:
    """Hold each experiment's cells against the committed ones."""
    for name, job in jobs.items():
        kept = [seat.held for seat in job.seats if seat.state == "done" and not seat.extra]
        made.comparisons[name] = against(kept, own, theirs, job.plan.jobs)


def _write(made: Reproduction) -> None:
    """Write the report of the new results, and how they compare."""
    from fairpriv.report import make_report

    if any(outcome.done for outcome in made.outcomes.values()):
        made.report = make_report(made.into).path
    replace_file(made.into / COMPARISON, strict_json.dumps(made.summary()) + "\n")
