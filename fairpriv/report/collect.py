"""Find what is in results/ and judge it: the facts the page is made of."""

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fairpriv.errors import FairprivError
from fairpriv.registry import find
from fairpriv.report.papers import Paper, papers
from fairpriv.report.presenter import Presenter, presenter_of
from fairpriv.report.verdicts import COLUMNS, judge, read_cells


@dataclass(frozen=True)
class Run:
    """One folder with a cells.csv, and its name below results/."""

    name: str
    folder: Path
    rows: pd.DataFrame
    manifest: dict[str, Any]

    @property
    def about(self) -> str:
        """Return what the experiment asks, in its own words; nothing where its manifest does not say."""
        config = self.manifest.get("config")
        return str(config.get("about") or "") if isinstance(config, dict) else ""

    @property
    def facts(self) -> dict[str, str]:
        """Return what an auditor asks first: what ran, when, how often, from which code."""
        said = self.manifest
        config = said.get("config") or {}
        profile = (config.get("profile") or {}) if isinstance(config, dict) else {}
        seeds = said.get("seeds") or []
        states = self.rows["status"].value_counts() if "status" in self.rows else {}
        facts = {
            "profile": profile.get("name") if isinstance(profile, dict) else profile,
            "seeds": len(seeds) or None,
            "cells": ", ".join(f"{n} {state}" for state, n in states.items()) or str(len(self.rows)),
            "compute time": duration(said.get("compute_seconds")),
            "finished": said.get("finished"),
            "revision": said.get("revision"),
            "fairpriv": said.get("fairpriv"),
            "machine": said.get("machine"),
            "command": shlex.join(map(str, said.get("command") or [])),
        }
        return {key: str(value) for key, value in facts.items() if value}


@dataclass
class Found:
    """All that the report speaks of."""

    runs: dict[str, Run] = field(default_factory=dict)  # results/NAME/
    others: dict[str, list[Run]] = field(default_factory=dict)  # results/NAME/<override,...>/ of a multirun
    papers: list[Paper] = field(default_factory=list)  # with at least one experiment run
    waiting: list[Paper] = field(default_factory=list)  # with none
    verdicts: dict[str, pd.DataFrame] = field(default_factory=dict)  # by experiment

    @property
    def judged(self) -> pd.DataFrame:
        """Return all verdicts, each with an anchor of its own on the page."""
        parts = [v.assign(experiment=name) for name, v in self.verdicts.items() if len(v)]
        whole = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*COLUMNS, "experiment"])
        return whole.assign(anchor=[f"n{number}" for number in range(len(whole))])


def duration(seconds: Any) -> str | None:
    """Write a time in words; nothing where none is known."""
    if not isinstance(seconds, int | float):
        return None
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


def _run(folder: Path, root: Path) -> Run:
    rows = read_cells(folder / "cells.csv")
    try:
        said = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = {}  # killed before the manifest was written
    return Run(folder.relative_to(root).as_posix(), folder, rows, said if isinstance(said, dict) else {})


def _presenter(run: Run) -> Presenter | None:
    config = run.manifest.get("config")
    name = config.get("protocol") if isinstance(config, dict) else None
    try:
        return presenter_of(find("protocols", name or run.name))
    except FairprivError:
        return None  # a plug-in that is not installed here


def collect(results_dir: Path) -> Found:
    """Read all results below a folder and judge those that a paper speaks of."""
    found = Found()
    for path in sorted(results_dir.glob("*/**/cells.csv")):
        run = _run(path.parent, results_dir)
        name, *deeper = run.name.split("/")
        if deeper:
            found.others.setdefault(name, []).append(run)
        else:
            found.runs[name] = run
    for paper in papers():
        if not set(paper.experiments) & set(found.runs):
            found.waiting.append(paper)
            continue
        found.papers.append(paper)
        for name in paper.experiments:
            run = found.runs.get(name)
            verdicts = judge(name, run.rows if run else pd.DataFrame(), _presenter(run) if run else None)
            if verdicts is not None:
                found.verdicts[name] = verdicts
    return found
