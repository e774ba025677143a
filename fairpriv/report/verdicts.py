"""Verdicts: every printed number and every claim of a paper beside what we got."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from fairpriv.protocols.base import Check, Protocol
from fairpriv.report.papers import Paper, Printed, Table, number, papers

VERDICTS = ("reproduced", "close", "differs", "not run")
COLUMNS = (
    *("paper", "kind", "table", "where", "selectors", "metric", "paper_value", "paper_spread"),
    *("ours", "low", "high", "seeds", "rule", "verdict", "reason", "detail"),
)


def _typed(column: pd.Series) -> pd.Series:
    """Make a column of text whole numbers or floats where all of it can be read so."""
    given = column.dropna()
    try:
        whole = given.map(int)  # Python's own reading: exact, where pandas' depends on its version
        if len(given) == len(column):
            return whole
        if len(given):
            return whole.astype("Int64").reindex(column.index)
    except (TypeError, ValueError):
        pass  # not whole numbers
    try:
        return column.map(float)
    except (TypeError, ValueError):
        return column


def read_cells(path: Path) -> pd.DataFrame:
    """Read cells.csv as it was in memory: floats to the last bit, and only empty fields missing."""
    text = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    return text.apply(_typed)


def matches(column: pd.Series, wanted: Any) -> np.ndarray:
    """Tell which values of a column are the wanted one; 100, 100.0 and "100" are the same, inf included."""
    value = number(wanted)
    if value is None:
        return (column.astype(str) == str(wanted)).to_numpy()
    return np.isclose(pd.to_numeric(column, errors="coerce").to_numpy(float), value, rtol=1e-9, atol=0.0)


def _fits(pattern: Any, value: Any) -> bool:
    """Tell whether a deviation's pattern (a value, a glob or a list of them) fits a value."""
    if isinstance(pattern, list):
        return any(_fits(p, value) for p in pattern)
    a, b = number(pattern), number(value)
    return a == b if a is not None and b is not None else fnmatchcase(str(value), str(pattern))


def explain(paper: Paper, facts: Mapping[str, Any]) -> str:
    """Return the reason of the first deviation whose every `where` fits, or nothing."""
    for deviation in paper.deviations:
        if all(key in facts and _fits(p, facts[key]) for key, p in deviation["where"].items()):
            return " ".join(deviation["reason"].split())
    return ""


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean and its 95 % t interval; of a single value no interval (nan)."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, np.nan, np.nan
    half = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return mean, mean - half, mean + half


def _per_seed(rows: pd.DataFrame, metric: str) -> tuple[np.ndarray, int]:
    """Return one value a seed (cells of one seed are averaged), and how many cells went into one."""
    values = pd.to_numeric(rows[metric], errors="coerce")
    seeds = rows["seed"] if "seed" in rows else pd.Series(range(len(rows)), index=rows.index)
    by_seed = values.dropna().groupby(seeds)
    return by_seed.mean().to_numpy(), int(by_seed.size().max()) if len(by_seed) else 0


def _missing(rows: pd.DataFrame, printed: Printed) -> tuple[pd.DataFrame, str]:
    """Return the finished cells a printed number speaks of, and why there are none."""
    if rows.empty:
        return rows, "the experiment has not been run"
    absent = [c for c in printed.selectors if c not in rows]
    if absent:
        return rows.iloc[:0], f"no such cells: no column {', '.join(absent)}"
    chosen = np.ones(len(rows), bool)
    unknown = rows["why"].notna().to_numpy() if "why" in rows else ~chosen  # not run: has axes, but no metrics to match
    for column, wanted in printed.selectors.items():
        fits = matches(rows[column], wanted)
        chosen &= fits
        unknown = unknown & (fits | rows[column].isna().to_numpy())
    found = rows[chosen]
    done = found[found["status"] == "done"] if "status" in found else found
    if done.empty and unknown.any():
        return done, "; ".join(rows.loc[unknown, "why"].unique())
    if found.empty:
        return found, "no such cells in this run"
    if done.empty:
        states = found["status"].value_counts()
        return done, ", ".join(f"{n} of {len(found)} cells {state}" for state, n in states.items())
    if printed.metric not in done or not pd.to_numeric(done[printed.metric], errors="coerce").notna().any():
        return done.iloc[:0], f"the cells have no {printed.metric}"
    return done, ""


def _compare(table: Table, printed: Printed, rows: pd.DataFrame) -> dict[str, Any]:
    """Apply the rule to one printed number."""
    done, why_not = _missing(rows, printed)
    if why_not:
        return {"seeds": 0, "rule": "", "verdict": "not run", "reason": why_not}
    values, cells = _per_seed(done, printed.metric)
    mean, low, high = interval(values)
    chance = 0.0
    if len(values) > 1:
        spread = np.std(values, ddof=1) * np.sqrt(1 / len(values) + 1 / table.runs)
        chance = float(stats.t.ppf(0.975, len(values) - 1) * spread)
    half = chance + printed.rounding + (printed.spread or 0.0) * printed.scale
    close = table.close(printed)
    gap = abs(mean - printed.ours)

    def within(limit: float) -> bool:
        return gap <= limit * (1 + 1e-9) + 1e-15  # a float's last bits decide nothing

    verdict = "reproduced" if within(min(half, close)) else "close" if within(close) else "differs"
    parts = [
        part for part, used in (("chance", chance), ("rounding", True), ("printed spread", printed.spread)) if used
    ]
    rule = f"reproduced within {min(half, close):.3g} ({' + '.join(parts)}, at most close), close within {close:.3g}"
    if cells > 1:
        rule += f"; {cells} cells a seed averaged"
    return {
        "ours": mean,
        "low": low,
        "high": high,
        "seeds": len(values),
        "rule": rule,
        "verdict": verdict,
        "reason": "",
    }


def _other_readings(paper: Paper, printed: Printed, rows: pd.DataFrame) -> str:
    done, why_not = _missing(rows, printed)
    names = [name for name in paper.readings.get(printed.metric, ()) if not why_not and name in done]
    means = {name: _per_seed(done, name)[0] for name in names}
    return ", ".join(f"{name} {np.mean(values):.3g}" for name, values in means.items() if len(values))


def _numbers(paper: Paper, experiment: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for table in paper.tables:
        for printed in table.numbers if table.experiment == experiment else ():
            judged = _compare(table, printed, rows)
            if judged["verdict"] == "differs":
                facts = {"table": table.name, "metric": printed.metric} | dict(printed.selectors)
                judged["reason"] = explain(paper, facts)
            yield {
                "paper": paper.key,
                "kind": "number",
                "table": table.name,
                "where": printed.where,
                "selectors": ", ".join(f"{k}={v}" for k, v in printed.selectors.items()),
                "metric": printed.metric,
                "paper_value": printed.ours,
                "paper_spread": printed.spread * printed.scale if printed.spread is not None else np.nan,
                "detail": _other_readings(paper, printed, rows),
            } | judged


def _checks(rows: pd.DataFrame, protocol: Protocol | None) -> tuple[dict[str, Check], str]:
    """Return the protocol's checks on the finished rows, and why a check is missing."""
    done = rows[rows["status"] == "done"] if "status" in rows else rows
    if done.empty:
        return {}, "no finished cells" if len(rows) else "the experiment has not been run"
    if protocol is None:
        return {}, "the protocol that checks it is not at hand"
    try:
        return protocol.checks(done), "the protocol has no check of this name"
    except Exception as error:  # a check must not cost the run its results
        return {}, f"the check failed: {type(error).__name__}: {error}"


def _claims(paper: Paper, experiment: str, rows: pd.DataFrame, protocol: Protocol | None) -> Iterator[dict[str, Any]]:
    checks, why_not = _checks(rows, protocol)
    for claim in (c for c in paper.claims if c["experiment"] == experiment):
        check = checks.get(claim["id"], Check(claim["text"], None, why_not))
        verdict = {True: "reproduced", False: "differs", None: "not run"}[
            None if check.holds is None else bool(check.holds)
        ]
        reason = check.detail if verdict == "not run" else ""
        yield {
            "paper": paper.key,
            "kind": "claim",
            "table": "claims",
            "where": claim["where"],
            "selectors": f"claim={claim['id']}",
            "metric": claim["id"],
            "rule": claim["text"],
            "verdict": verdict,
            "reason": explain(paper, {"claim": claim["id"]}) if verdict == "differs" else reason,
            "detail": "" if verdict == "not run" else check.detail,
        }


def judge(experiment: str, rows: pd.DataFrame, protocol: Protocol | None = None) -> pd.DataFrame | None:
    """Hold the rows of an experiment against what the papers print and claim.

    Parameters
    ----------
    experiment : str
    rows : DataFrame
        cells.csv, in memory or read back by `read_cells`; an empty frame gives `not run` throughout.
    protocol : Protocol, optional
        Its `checks` decide the claims.

    Returns
    -------
    DataFrame or None
        One row a printed number, then one a claim; None when no paper speaks of the experiment. A `differs` with an
        empty `reason` is unexplained.

    Notes
    -----
    With n seeds of standard deviation sd, and a paper that averaged r runs, chance allows a difference of
    t(.975, n-1) * sd * sqrt(1/n + 1/r); half a unit of the last printed decimal and the printed spread are added.
    Within this, and within the table's tolerance, a number is reproduced; within the tolerance alone it is close.
    """
    found = [
        row
        for paper in papers()
        if experiment in paper.experiments
        for row in [*_numbers(paper, experiment, rows), *_claims(paper, experiment, rows, protocol)]
    ]
    if not found:
        return None
    frame = pd.DataFrame(found, columns=COLUMNS)
    return frame.assign(seeds=frame["seeds"].fillna(0).astype(int))


def tally(verdicts: pd.DataFrame) -> dict[str, int]:
    """Count the verdicts."""
    return {v: int((verdicts["verdict"] == v).sum()) for v in VERDICTS}


def unexplained(verdicts: pd.DataFrame) -> list[str]:
    """Name, one line each, what differs without a reason."""
    out = []
    for row in verdicts[(verdicts["verdict"] == "differs") & (verdicts["reason"] == "")].itertuples():
        name = f"{row.paper} {row.table} {row.metric}"
        numbers = f" ({row.selectors}): paper {row.paper_value:.4g}, ours {row.ours:.4g}"
        out.append(name + (numbers if row.kind == "number" else f": {row.detail}"))
    return out
