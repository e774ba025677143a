"""What an assessment leaves: page.html, assess.json, CSVs and manifest.json, in a folder named after the file."""

import hashlib
import os
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from fairpriv import __version__, strict_json
from fairpriv.assessment import words
from fairpriv.assessment.page import page
from fairpriv.assessment.study import Study
from fairpriv.errors import StoreError
from fairpriv.runner.folder import replace_file
from fairpriv.runner.revision import revision

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "mpmath")


def record(found: Study) -> dict[str, Any]:
    """Return everything as plain data; leakages are in percent, under keys that say leakage."""
    exact, private, advice, people = found.exact(), found.at_advice(), found.advice, found.people
    return {
        "file": people.name,
        "rows": people.rows,
        "people": len(people),
        "settings": vars(found.settings) | {"queries": found.queries, "positive": people.positive},
        "model": "trained here" if people.trained else "given",
        "headline": words.headline(found),
        "exact_answers": {k: v for k, v in exact.items() if k not in ("defense", "epsilon", "answers")},
        "private_answers": private | {"points_above_guessing": max(private["leakage"] - 50, 0.0)},
        "recommended": vars(advice) | {"both_goals_met": advice.possible, "words": words.advice(found)},
        "absolute_gaps": found.absolute,
        "by_questions": found.by_questions,
        "by_epsilon": found.by_epsilon,
        "not_offered": found.refused,
        "by_comparison": found.by_comparison,
        "fairness": found.fairness,
        "decisions": found.inference,
        "published_table": {
            "rows": found.summary,
            "gives_away": found.summary_leaks,
            "words": words.summary_leaks(found),
        },
        "left_out": people.left_out,
        "notes": found.notes,
        "threat_model": words.threat_model(found),
        "assumptions": words.assumptions(found),
    }


def _flat(rows: list[dict[str, Any]]) -> str:
    """Return rows as CSV; what is nested gets a column each."""
    frame = pd.json_normalize([{k: v for k, v in row.items() if not isinstance(v, list)} for row in rows], sep="_")
    return frame.to_csv(index=False)


def _attacks(found: Study) -> list[dict[str, Any]]:
    return [
        {k: row[k] for k in ("defense", "epsilon", "questions", "error")} | attack
        for row in found.by_epsilon
        for attack in row["attacks"]
    ]


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def manifest(found: Study, source: dict[str, Any], command: list[str], seconds: float) -> dict[str, Any]:
    """Return what is needed to make the same again, and to show that it was."""
    return {
        "command": command,
        "source": source,
        "seed": found.settings.seed,
        "fairpriv": __version__,
        "revision": revision() or None,
        "python": platform.python_version(),
        "packages": _versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "finished": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "seconds": round(seconds, 1),
    }


def write(found: Study, folder: Path, about: dict[str, Any]) -> Path:
    """Write all files and return the folder; the manifest, with the sums of the others, comes last."""
    facts = {
        "command": " ".join(about["command"]),
        "file": f"{about['source']['name']}, sha256 {about['source']['sha256']}",
        "fairpriv": f"{about['fairpriv']} {about['revision'] or ''}".strip(),
        "versions": ", ".join(f"{k} {v}" for k, v in {"python": about["python"], **about["packages"]}.items()),
        "seed": str(about["seed"]),
        "files": "assess.json holds every number; the CSVs hold the tables; manifest.json their sums",
    }
    files = {
        "page.html": page(found, facts),
        "assess.json": strict_json.dumps(record(found)) + "\n",
        "by_questions.csv": _flat(found.by_questions),
        "by_epsilon.csv": _flat(_attacks(found)),
        "by_comparison.csv": _flat(found.by_comparison),
        "fairness.csv": _flat(found.fairness),
        "decisions.csv": _flat(found.inference),
        "published_table.csv": _flat(found.summary),
    }
    sums = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            replace_file(folder / name, text)
        replace_file(folder / "manifest.json", strict_json.dumps(about | {"files": sums}) + "\n")
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror or error}") from error
    return folder
