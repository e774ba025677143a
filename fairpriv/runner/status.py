"""What is done, failed and open in a results directory."""

import json
from pathlib import Path
from typing import Any

from fairpriv.errors import BadRequest, unknown
from fairpriv.runner.store import Store


def _manifests(results: Path) -> dict[str, dict[str, Any]]:
    return {
        path.parent.relative_to(results).as_posix(): json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(results.rglob("manifest.json"))
    }


def status_rows(results: Path, experiment: str | None = None) -> list[dict[str, Any]]:
    """Return one row an experiment (and multirun job): counts, failures with tracebacks, why cells are not run."""
    found = _manifests(results) if results.is_dir() else {}
    if not found:
        raise BadRequest(f"nothing in {results} yet: fairpriv run experiment=NAME writes there (or --results-dir PATH)")
    if experiment is not None:
        found = {
            name: m for name, m in found.items() if name == experiment or name.startswith(f"{experiment}/")
        } or None
        if found is None:
            raise unknown("experiment in results", experiment, _manifests(results))
    store = Store(results) if (results / "cells.sqlite").exists() else None
    rows = []
    for name, manifest in found.items():
        keys = manifest["keys"].split()
        done = len(store.done(keys)) if store else manifest["done"]
        failures = store.failures(keys) if store else {}
        failed = len(failures) if store else manifest["failed"]
        cells = store.cells(failures) if store else {}
        not_run = manifest.get("not_run", {})
        rows.append(
            {
                "experiment": name,
                "cells": len(keys),
                "done": done,
                "failed": failed,
                "not run": sum(not_run.values()),
                "open": len(keys) - done - failed - sum(not_run.values()),
                "finished": manifest["finished"],
                "failures": [
                    {"cell": cells[key], "error": error, "traceback": trace, "at": at}
                    for key, (error, trace, at) in failures.items()
                ],
                "why_not": not_run,
            }
        )
    if store:
        store.close()
    return rows
