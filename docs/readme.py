"""Write the computed parts of README.md from results/: `python docs/readme.py` (`make readme`).

They stand between `<!-- NAME -->` and `<!-- /NAME -->`; a test says when they are out of date.
"""

import re
from pathlib import Path

import pandas as pd

from fairpriv import config, listing
from fairpriv.report.counts import count
from fairpriv.report.papers import papers
from fairpriv.runner.library import open_library
from fairpriv.runner.survey import Seat, duration, forecast

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
CORES = 2


def _verdicts(names: list[str]) -> pd.DataFrame:
    paths = [ROOT / "results" / name / "tables/verdicts.csv" for name in names]
    return pd.concat([pd.read_csv(path, keep_default_na=False) for path in paths if path.is_file()])


def counts() -> str:
    """Return the line of counts: every number and claim of the papers, by verdict and cause."""
    known = papers()
    found = _verdicts([name for paper in known for name in paper.experiments])
    return f"Of what {len(known)} papers print and claim: **{count(found)}**."


def times() -> str:
    """Return how long each experiment takes: committed cells and their compute time, and quick from nothing."""
    library = open_library(ROOT / "results", read_only=True)
    config.start()
    lines = [
        "| experiment | committed cells | their compute time | `quick` from nothing, two cores |",
        "|---|--:|--:|--:|",
    ]
    cells, time = 0, 0.0
    for name in config.options("experiment"):
        folder = library.folders.get(ROOT / "results" / name)
        kept = folder.kept if folder else []
        plan = config.plan([f"experiment={name}"])
        left_out = listing.left_out(name)
        seconds, unknown = forecast([Seat(cell, "missing") for cell in plan.cells], library, CORES)
        known = f"{len(plan.cells):,} cells, {duration(seconds)}" if not unknown else f"{len(plan.cells):,} cells"
        known += " (left out by `reproduce`)" if left_out else ""
        cells, time = (cells, time) if left_out else (cells + len(plan.cells), time + seconds)
        took = duration(sum(one.seconds for one in kept)) if kept else ""
        lines.append(f"| `{name}` | {len(kept):,} | {took} | {known} |")
    library.store.close()
    lines.append(f"| all that `reproduce` computes | | | {cells:,} cells, {duration(time)} |")
    return "\n".join(lines)


PARTS = {"counts": counts, "times": times}


def written(text: str) -> str:
    """Return README.md with its computed parts as they are now."""
    for name, made in PARTS.items():
        between = re.compile(rf"<!-- {name} -->\n.*?<!-- /{name} -->", re.DOTALL)
        part = f"<!-- {name} -->\n\n{made()}\n\n<!-- /{name} -->"
        text, number = between.subn(lambda _, part=part: part, text)
        if number != 1:
            raise ValueError(f"README.md has {number} places for {name}")
    return text


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
