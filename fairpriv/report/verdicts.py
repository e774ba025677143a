"""Verdicts: every printed number and every claim of a paper beside what we got."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.errors import BadRequest
from fairpriv.report.chance import Chance, deviation, of_means, of_rates, within
from fairpriv.report.check import Check
from fairpriv.report.counts import CAUSED
from fairpriv.report.papers import Deviation, Paper, Printed, Table, number, papers
from fairpriv.report.presenter import Presenter
from fairpriv.report.summary import half_width

COLUMNS = (
    *("paper", "kind", "table", "where", "selectors", "metric", "paper_value", "paper_spread"),
    *("ours", "low", "high", "seeds", "rule", "verdict", "cause", "reason", "shown_by", "by_construction", "detail"),
)
# (within the tolerance, more than chance)
NUMBERS = {
    (True, False): "reproduced",
    (True, True): "close",
    (False, False): "consistent",
    (False, True): "differs",
}


def _typed(column: pd.Series) -> pd.Series:
    """Make a column of text whole numbers or floats where all of it can be read so."""
    given = column.dropna()
    try:
        whole = given.map(int)  # Python's own reading: exact, where pandas' depends on its version
        if len(given) == len(column):
            return whole
        if len(given):
            return whole.astype("Int64").reindex(column.index)
    except (TypeError, ValueError, OverflowError):
        pass  # not whole numbers
    try:
        return column.map(float)
    except (TypeError, ValueError):
        return column


def read_cells(path: Path) -> pd.DataFrame:
    """Read cells.csv as it was in memory: floats to the last bit, and only empty fields missing."""
    try:
        text = pd.read_csv(path, dtype=str, keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:  # pandas' parser errors are ValueErrors
        raise BadRequest(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    if not {"seed", "status"} <= set(text):
        raise BadRequest(f"cannot read {path}: it has no columns seed and status, which every cells.csv has")
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


def _speaks_of(where: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    return all(key in facts and _fits(pattern, facts[key]) for key, pattern in where.items())


def explain(paper: Paper, facts: Mapping[str, Any]) -> Deviation | None:
    """Return the first deviation whose every `where` fits."""
    return next((d for d in paper.deviations if _speaks_of(d.where, facts)), None)


def constructed(paper: Paper, facts: Mapping[str, Any]) -> str:
    """Return why a number or claim cannot fail, or nothing where it can."""
    return next((c["label"] for c in paper.by_construction if _speaks_of(c["where"], facts)), "")


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Return the mean and its 95 % t interval; of a single value no interval (nan)."""
    mean, half = float(np.mean(values)), half_width(values)
    return mean, mean - half, mean + half


def _per_seed(rows: pd.DataFrame, metric: str) -> tuple[np.ndarray, int]:
    """Return one value a seed (cells of one seed are averaged), and how many cells went into one."""
    values = pd.to_numeric(rows[metric], errors="coerce")
    seeds = rows["seed"] if "seed" in rows else pd.Series(range(len(rows)), index=rows.index)
    by_seed = values.dropna().groupby(seeds)
    return by_seed.mean().to_numpy(), int(by_seed.size().max()) if len(by_seed) else 0


def _missing(rows: pd.DataFrame, printed: Printed) -> tuple[pd.DataFrame, str, str]:
    """Return the finished cells a printed number speaks of, or why there are none, and the cause of that."""
    if rows.empty:
        return rows, "the experiment has not been run", "open"
    absent = [c for c in printed.selectors if c not in rows]
    if absent:
        return rows.iloc[:0], f"no such cells: no column {', '.join(absent)}", "open"
    chosen = np.ones(len(rows), bool)
    unknown = rows["why"].notna().to_numpy() if "why" in rows else ~chosen  # not run: has axes, but no metrics to match
    for column, wanted in printed.selectors.items():
        fits = matches(rows[column], wanted)
        chosen &= fits
        unknown = unknown & (fits | rows[column].isna().to_numpy())
    found = rows[chosen]
    done = found[found["status"] == "done"] if "status" in found else found
    if done.empty and unknown.any():
        return done, "; ".join(rows.loc[unknown, "why"].unique()), "data"  # cells lack data, or nothing
    if found.empty:
        return found, "no such cells in this run", "open"
    if done.empty:
        states = found["status"].value_counts()
        return done, ", ".join(f"{n} of {len(found)} cells {state}" for state, n in states.items()), "open"
    if printed.metric not in done or not pd.to_numeric(done[printed.metric], errors="coerce").notna().any():
        return done.iloc[:0], f"the cells have no {printed.metric}", "open"
    return done, "", ""


def _chance(table: Table, printed: Printed, values: np.ndarray) -> Chance:
    """Ask whether the difference is more than chance, by what the table says of its numbers."""
    if printed.metric in table.rates:
        return of_rates(values, printed.ours, table.runs)
    sd = None if printed.spread is None else deviation(printed.spread * printed.scale, table.runs, table.spread)
    return of_means(values, printed.ours, printed.rounding, table.runs, sd)


def compare(table: Table, printed: Printed, rows: pd.DataFrame) -> dict[str, Any]:
    """Apply the rule to one printed number."""
    done, why_not, cause = _missing(rows, printed)
    if why_not:
        return {"seeds": 0, "rule": "", "verdict": "not run", "cause": cause, "reason": why_not}
    values, cells = _per_seed(done, printed.metric)
    mean, low, high = interval(values)
    chance, tolerance = _chance(table, printed, values), table.close(printed)
    rule = f"tolerance {tolerance:.3g}, {chance.rule}"
    if cells > 1:
        rule += f"; {cells} cells a seed averaged"
    verdict = NUMBERS[within(abs(mean - printed.ours), tolerance), chance.more]
    return {"ours": mean, "low": low, "high": high, "seeds": len(values), "rule": rule, "verdict": verdict}


def _with_cause(paper: Paper, facts: Mapping[str, Any], judged: dict[str, Any]) -> dict[str, Any]:
    """Give what differs or was not run the cause and the reason of its deviation; without one the cause is open."""
    judged = {"cause": "", "reason": "", "shown_by": "", "by_construction": constructed(paper, facts)} | judged
    if judged["verdict"] not in CAUSED:
        return judged
    known = explain(paper, facts)
    if known is None:
        return judged | {"cause": judged["cause"] or "open"}
    if judged["verdict"] == "not run":  # what was missing stays said
        known = replace(known, reason=f"{judged['reason']}: {known.reason}")
    return judged | {"cause": known.cause, "reason": known.reason, "shown_by": known.shown_by}


def _other_readings(paper: Paper, printed: Printed, rows: pd.DataFrame) -> str:
    done, why_not, _ = _missing(rows, printed)
    names = [name for name in paper.readings.get(printed.metric, ()) if not why_not and name in done]
    means = {name: _per_seed(done, name)[0] for name in names}
    return ", ".join(f"{name} {np.mean(values):.3g}" for name, values in means.items() if len(values))


def _numbers(paper: Paper, experiment: str, rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for table in paper.tables:
        for printed in table.numbers if table.experiment == experiment else ():
            facts = {"table": table.name, "metric": printed.metric} | dict(printed.selectors)
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
            } | _with_cause(paper, facts, compare(table, printed, rows))


def _checks(rows: pd.DataFrame, presenter: Presenter | None) -> tuple[dict[str, Check], str]:
    """Return the presenter's checks on the finished rows, and why a check is missing."""
    done = rows[rows["status"] == "done"] if "status" in rows else rows
    if done.empty:
        return {}, "no finished cells" if len(rows) else "the experiment has not been run"
    if presenter is None:
        return {}, "the protocol that checks it is not at hand"
    try:
        return presenter.checks(done), "the protocol has no check of this name"
    except Exception as error:  # a check must not cost the run its results
        return {}, f"the check failed: {type(error).__name__}: {error}"


def _claim_verdict(check: Check) -> str:
    """Return a claim's verdict; one that fails within its uncertainty is consistent: too few runs to tell."""
    if check.holds is None:
        return "not run"
    if check.holds:
        return "reproduced"
    return "differs" if check.sure is None or check.sure else "consistent"


def _claims(paper: Paper, experiment: str, rows: pd.DataFrame, presenter: Presenter | None) -> Iterator[dict[str, Any]]:
    checks, why_not = _checks(rows, presenter)
    for claim in (c for c in paper.claims if c["experiment"] == experiment):
        check = checks.get(claim["id"], Check(claim["text"], None, why_not))
        verdict = _claim_verdict(check)
        judged = {"verdict": verdict, "reason": check.detail if verdict == "not run" else ""}
        yield {
            "paper": paper.key,
            "kind": "claim",
            "table": "claims",
            "where": claim["where"],
            "selectors": f"claim={claim['id']}",
            "metric": claim["id"],
            "rule": claim["text"],
            "detail": "" if verdict == "not run" else check.detail,
        } | _with_cause(paper, {"claim": claim["id"]}, judged)


def judge(experiment: str, rows: pd.DataFrame, presenter: Presenter | None = None) -> pd.DataFrame | None:
    """Hold the rows of an experiment against what the papers print and claim.

    Parameters
    ----------
    experiment : str
    rows : DataFrame
        cells.csv, in memory or read back by `read_cells`; an empty frame gives `not run` throughout.
    presenter : Presenter, optional
        Its `checks` decide the claims.

    Returns
    -------
    DataFrame or None
        One row a printed number, then one a claim; None when no paper speaks of the experiment. What `differs` or was
        `not run` has a cause: that of the deviation in paper.yaml, `data` where a file was missing, else `open`.

    Notes
    -----
    Two questions decide: is the difference within the table's tolerance, and is it more than chance
    (`fairpriv.report.chance`)? Within and chance is reproduced, within and more than chance is close, beyond but chance
    is consistent (too few runs, theirs or ours, to tell), beyond and more than chance differs.
    """
    found = [
        row
        for paper in papers()
        if experiment in paper.experiments
        for row in [*_numbers(paper, experiment, rows), *_claims(paper, experiment, rows, presenter)]
    ]
    if not found:
        return None
    frame = pd.DataFrame(found, columns=COLUMNS)
    return frame.assign(seeds=frame["seeds"].fillna(0).astype(int))
