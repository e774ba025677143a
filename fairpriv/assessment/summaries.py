"""Published tables of selection rates by group, as New York City's Local Law 144 asks for, and what they give away."""

from typing import Any

import numpy as np
import pandas as pd

from fairpriv.assessment.groups import BETWEEN
from fairpriv.assessment.small import SMALL, Told, crossing
from fairpriv.metrics.leakage import leakage


def rates(decision: np.ndarray, attributes: pd.DataFrame, may: Told) -> list[dict[str, Any]]:
    """Return selection rate and impact ratio (to the highest rate) of each value, and of each combination of values.

    Numbers of categories that may not be told are left out: the page must not tell of few people.
    """
    names = list(attributes)
    tables = {(name,): attributes[name].astype(str) for name in names}
    if len(names) > 1:
        tables[tuple(names)] = crossing(attributes, names).astype(str)
    return [row for names, column in tables.items() for row in _table(names, decision, column, may)]


def _table(names: tuple[str, ...], decision: np.ndarray, column: pd.Series, may: Told) -> list[dict[str, Any]]:
    counts = pd.DataFrame({"value": column, "selected": decision}).groupby("value")["selected"].agg(["size", "sum"])
    large = counts[[may.tells(names, value) for value in counts.index]]
    best = float((large["sum"] / large["size"]).max()) if len(large) else float("nan")
    out = []
    for value, row in counts.iterrows():
        shown = may.tells(names, value)
        rate = float(row["sum"] / row["size"]) if shown else None
        out.append(
            {
                "table": BETWEEN.join(names),
                "category": str(value),
                "people": int(row["size"]) if shown else None,
                "selection_rate": rate,
                "impact_ratio": rate / best if shown and best > 0 else None,
                "left_out": not shown,
            }
        )
    return out


def given_away(decision: np.ndarray, group: np.ndarray) -> dict[str, Any]:
    """Return what one learns who sees the table and each person's decision, and nothing else.

    `leakage` is that of the better of the two guesses by decision; `certain` counts people whose group follows with
    certainty, as everybody with their decision is in one group.
    """
    guess = leakage(np.where(decision == 1, 1, 0), group)
    certain = sum(
        int((decision == d).sum())
        for d in (0, 1)
        if (decision == d).any() and len(np.unique(group[decision == d])) == 1
    )
    return {"leakage": max(guess, 100 - guess), "certain": certain, "people": len(group)}


def differencing(decision: np.ndarray, group: np.ndarray) -> dict[str, Any]:
    """Return what two exact tables give away, before and after one person leaves: that person's group, always.

    The sizes in the table are checked for everybody: whose leaving changes which row.
    """
    sizes = np.bincount(group, minlength=2)
    told = [int(np.argmax(sizes - np.bincount(np.delete(group, i), minlength=2))) for i in _some(len(group))]
    return {"leakage": leakage(np.array(told), group[_some(len(group))])}


def _some(n: int, most: int = 200) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(int))


def small_cells(attributes: pd.DataFrame, decision: np.ndarray) -> dict[str, int]:
    """Count the categories of the finest table that speak of few people, or of all of a category alike."""
    column = crossing(attributes, list(attributes)) if len(attributes.columns) > 1 else attributes.iloc[:, 0]
    counts = pd.DataFrame({"v": column.astype(str), "d": decision}).groupby("v")["d"].agg(["size", "sum"])
    return {
        "categories": len(counts),
        "small": int((counts["size"] < SMALL).sum()),
        "all_alike": int(((counts["sum"] == 0) | (counts["sum"] == counts["size"])).sum()),
    }
