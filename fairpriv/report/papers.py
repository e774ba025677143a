"""What the papers say: experiments/<paper>/paper.yaml and tables/*.csv, read and checked."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from fairpriv import yaml_files
from fairpriv.errors import BadRequest
from fairpriv.paths import shares
from fairpriv.report.counts import CAUSES

# what a printed ± is: deviation of the runs, standard error of the mean, or half width of its 95 % interval
SPREADS = ("sd", "se", "ci")
# what is said of a paper in everyday words, in this order
PLAINLY = ("asks", "came_out", "did_not")
# the columns of a table that are not selectors on cells.csv
VALUE_COLUMNS = ("metric", "value", "scale", "decimals", "spread", "where")


def number(text: Any) -> float | None:
    """Read a number, infinity included; None where it is a word."""
    if isinstance(text, bool):
        return None
    try:
        return float(str(text).strip().replace("∞", "inf"))
    except ValueError:
        return None


@dataclass(frozen=True)
class Printed:
    """One printed number: `value` as printed, `value * scale` in our unit."""

    metric: str
    value: float
    scale: float
    decimals: int
    spread: float | None
    where: str
    selectors: Mapping[str, str]

    @property
    def ours(self) -> float:
        """Return the value in our unit."""
        return self.value * self.scale

    @property
    def rounding(self) -> float:
        """Return half a unit of the last printed decimal, in our unit."""
        return 0.5 * 10.0**-self.decimals * self.scale

    @property
    def text(self) -> str:
        """Return the value in our unit with the decimals it was printed with."""
        return f"{self.ours:.{max(0, self.decimals - round(math.log10(self.scale)))}f}"


@dataclass(frozen=True)
class Table:
    """One table of a paper: where its numbers come from, what its spreads are and how near is close.

    `spread` says what a printed ± is (empty where none is printed); `rates` names metrics that are shares of the runs.
    """

    name: str
    title: str
    experiment: str
    runs: int
    tolerance: Mapping[str, Any]
    numbers: tuple[Printed, ...]
    spread: str = ""
    rates: tuple[str, ...] = ()

    def close(self, printed: Printed) -> float:
        """Return how far from a printed number is still close: max(relative * |value|, absolute)."""
        rule = self.tolerance.get(printed.metric, self.tolerance)
        return max(rule.get("relative", 0.0) * abs(printed.ours), rule.get("absolute", 0.0))


@dataclass(frozen=True)
class Deviation:
    """What a number or a claim differs for: a reason, its cause and the file or test that shows it."""

    where: Mapping[str, Any]
    reason: str
    cause: str
    shown_by: str = ""


@dataclass(frozen=True)
class Paper:
    """One folder of experiments/; `by_construction` says of what cannot fail why it cannot.

    `plainly` says in everyday words what the paper asks, and what of it came out and what did not.
    """

    key: str
    citation: Mapping[str, Any]
    tables: tuple[Table, ...]
    claims: tuple[Mapping[str, str], ...] = ()
    deviations: tuple[Deviation, ...] = ()
    readings: Mapping[str, list[str]] = field(default_factory=dict)
    by_construction: tuple[Mapping[str, Any], ...] = ()
    plainly: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def experiments(self) -> list[str]:
        """Return the experiments the paper speaks of, in its order."""
        return list(dict.fromkeys([t.experiment for t in self.tables] + [c["experiment"] for c in self.claims]))


def _read_table(path: Path) -> tuple[Printed, ...]:
    def bad(line: int, what: str) -> BadRequest:
        return BadRequest(f"{path}, line {line}: {what}")

    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [c for c in ("metric", "value", "scale", "decimals") if c not in (reader.fieldnames or ())]
        if missing:
            raise bad(1, f"missing column {', '.join(missing)}")
        out = []
        for line, row in enumerate(reader, start=2):
            if None in row or None in row.values() or not row["metric"]:
                raise bad(line, "needs a metric and as many fields as there are columns")
            found = {c: number(row[c]) for c in ("value", "scale", "decimals")}
            wrong = [c for c, v in found.items() if v is None or not math.isfinite(v)]
            spread = number(row["spread"]) if row.get("spread") else None
            if wrong or (row.get("spread") and spread is None):
                raise bad(line, f"{', '.join(wrong) or 'spread'} must be a number")
            if found["scale"] <= 0 or found["decimals"] < 0 or found["decimals"] % 1:
                raise bad(line, "scale must be > 0 and decimals a whole number >= 0")
            selectors = {c: v.strip() for c, v in row.items() if c not in VALUE_COLUMNS and v.strip()}
            where = row.get("where") or ""
            out.append(
                Printed(row["metric"], found["value"], found["scale"], int(found["decimals"]), spread, where, selectors)
            )
    return tuple(out)


def _table(said: Mapping[str, Any], folder: Path) -> Table:
    path = folder / said["file"]
    runs, spread = int(said.get("runs", 1)), said.get("spread", "")
    numbers = _read_table(path)
    if spread and (spread not in SPREADS or runs < 2):
        raise BadRequest(
            f"{path}: spread must be one of {', '.join(SPREADS)}, of at least 2 runs; got {spread}, {runs}"
        )
    if not spread and any(p.spread is not None for p in numbers):
        raise BadRequest(f"{path}: a spread is printed: paper.yaml must say which (spread: {', '.join(SPREADS)})")
    return Table(
        path.stem,
        said["title"],
        said["experiment"],
        runs,
        said["tolerance"],
        numbers,
        spread,
        tuple(said.get("rates") or ()),
    )


def _exists(named: str, root: Path) -> bool:
    """Tell whether a file (or FILE::test) is in the source tree; an installed wheel has no results and no tests."""
    if root.name == "_share":
        return True
    file, _, test = named.partition("::")
    path = root / file
    return path.is_file() and (not test or f"def {test}(" in path.read_text(encoding="utf-8"))


def _deviation(said: Mapping[str, Any], path: Path) -> Deviation:
    """Read one deviation; what the paper or its silence is said to be guilty of must be shown somewhere."""
    if not (isinstance(said["where"], dict) and said["where"] and said["reason"].strip()):
        raise BadRequest(f"{path}: a deviation needs `where` (what it is about) and a reason")
    found = Deviation(said["where"], " ".join(said["reason"].split()), said["cause"], said.get("shown_by", ""))
    about = f"{path}: deviation {dict(found.where)}"
    if found.cause not in CAUSES:
        raise BadRequest(f"{about}: cause must be one of {', '.join(CAUSES)}, got {found.cause}")
    if found.cause in ("paper", "unprinted") and not found.shown_by:
        raise BadRequest(f"{about}: cause {found.cause} needs shown_by, the table or test that shows it")
    if found.shown_by and not _exists(found.shown_by, path.parents[2]):
        raise BadRequest(f"{about}: shown_by names {found.shown_by}, which does not exist")
    return found


def _constructed(said: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    if not (isinstance(said["where"], dict) and said["where"] and said["label"].strip()):
        raise BadRequest(f"{path}: by_construction needs `where` (what it is about) and a label")
    return said


def _plainly(said: Mapping[str, Any]) -> Mapping[str, str]:
    """Read what is said in plain words; a paper may leave it out, but not a part of it."""
    found = said.get("plainly") or {}
    if found and (set(found) != set(PLAINLY) or not all(isinstance(text, str) for text in found.values())):
        raise ValueError(f"plainly must say {', '.join(PLAINLY)}")
    return {name: " ".join(found[name].split()) for name in PLAINLY if found}


def _tables(said: Mapping[str, Any], folder: Path) -> tuple[Table, ...]:
    return tuple(_table(t, folder) for t in said.get("tables") or ())


def read_tables(folder: Path) -> tuple[Table, ...]:
    """Read the printed numbers of a paper alone: its deviations may name what is yet to be made of them."""
    return _tables(yaml_files.read(folder / "paper.yaml"), folder)


def read_paper(folder: Path) -> Paper:
    """Read one folder of experiments/; a mistake in it is refused in one line."""
    path = folder / "paper.yaml"
    try:
        said = yaml_files.read(path)
        tables = _tables(said, folder)
        claims = tuple(said.get("claims") or ())
        if not (claims or any(t.numbers for t in tables)):
            raise BadRequest(f"{path}: no numbers and no claims")
        for claim in claims:
            if not all(isinstance(claim[k], str) for k in ("id", "experiment", "text", "where")):
                raise BadRequest(f"{path}: claim {claim['id']!r}: id, experiment, text and where must be text")
        deviations = tuple(_deviation(d, path) for d in said.get("deviations") or ())
        constructed = tuple(_constructed(c, path) for c in said.get("by_construction") or ())
        readings, plainly = said.get("readings") or {}, _plainly(said)
        return Paper(said["key"], said["citation"], tables, claims, deviations, readings, constructed, plainly)
    except (KeyError, TypeError, AttributeError, ValueError, OSError, yaml.YAMLError) as error:
        raise BadRequest(f"cannot read {path}: {type(error).__name__}: {error}") from error


def papers() -> list[Paper]:
    """Return all papers of experiments/, by key, then those brought from outside."""
    return [read_paper(path.parent) for root in shares("experiments") for path in sorted(root.glob("*/paper.yaml"))]


def paper_of(key: str) -> Paper | None:
    """Return one paper by its key, whatever is said of the others; None where there is none."""
    folders = [root / key for root in shares("experiments")]
    return next((read_paper(folder) for folder in folders if (folder / "paper.yaml").is_file()), None)
