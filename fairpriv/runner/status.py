"""What is done, outdated, failed and open in a results directory. Only reads."""

import os
from pathlib import Path
from typing import Any

from fairpriv.errors import BadRequest, unknown
from fairpriv.runner.folder import Folder
from fairpriv.runner.library import Library, many_objects, open_library
from fairpriv.runner.output import read_manifest
from fairpriv.runner.present import read_drawn
from fairpriv.runner.survey import Seat, Surveyor, duration, forecast, reasons


def folders(results: Path, experiment: str | None = None) -> list[Path]:
    """Return the results folders of an experiment (or of all), by path."""
    found = sorted(path.parent for path in results.rglob("cells.csv")) if results.is_dir() else []
    names = {path: path.relative_to(results).as_posix() for path in found}
    if not names:
        raise BadRequest(f"nothing in {results} yet: fairpriv run experiment=NAME writes there (or --results-dir PATH)")
    if experiment is None:
        return found
    chosen = [path for path, name in names.items() if name == experiment or name.startswith(f"{experiment}/")]
    if not chosen:
        raise unknown("experiment in results", experiment, names.values())
    return chosen


@many_objects()
def seats_of(folder: Folder, library: Library) -> list[Seat]:
    """Return how the finished cells of a folder stand now."""
    surveyor = Surveyor(library)
    return [surveyor.look(kept.cell) for kept in folder.kept]


def _row(path: Path, name: str, library: Library) -> dict[str, Any]:
    manifest = read_manifest(path / "manifest.json")
    folder = library.folders.get(path) or Folder(path)
    seats = seats_of(folder, library)
    failures = library.store.failures(manifest.get("failures", ()))
    not_run = manifest.get("not_run", {})
    outdated = [seat for seat in seats if seat.state == "outdated"]
    seconds, _ = forecast(seats, library, os.cpu_count() or 1)
    return {
        "experiment": name,
        "cells": manifest.get("cells", len(seats)),
        "done": len(seats) - len(outdated),
        "outdated": len(outdated),
        "failed": len(failures),
        "not run": sum(not_run.values()),
        "open": max(0, manifest.get("cells", len(seats)) - len(seats) - len(failures) - sum(not_run.values())),
        "finished": manifest.get("finished", ""),
        "compute": duration(sum(kept.seconds for kept in folder.kept)),
        "to go": duration(seconds) if outdated else "",
        "why_outdated": reasons(outdated),
        "failures": [
            {"cell": cell, "error": error, "traceback": trace, "at": at} for cell, error, trace, at in failures.values()
        ],
        "faults": read_drawn(path).get("faults", {}),
        "why_not": not_run,
        "notices": folder.notices,
    }


def status_rows(results: Path, experiment: str | None = None) -> list[dict[str, Any]]:
    """Return one row a results folder: counts, why cells are outdated or not run, failures with tracebacks."""
    chosen = folders(results, experiment)
    library = open_library(results, read_only=True)
    rows = [_row(path, path.relative_to(results).as_posix(), library) for path in chosen]
    if library.store.notices:
        rows[0]["notices"] = [*library.store.notices, *rows[0]["notices"]]
    library.store.close()
    return rows
