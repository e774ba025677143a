"""Means over seeds with their spread: one way to sum up cells."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtrit  # not scipy.stats, which takes a second to import


def half_width(values: np.ndarray, level: float = 0.95) -> float:
    """Return the half width of the t interval of a mean (NaN for fewer than two values)."""
    values = np.asarray(values, float)
    n = len(values)
    if n < 2:
        return float("nan")
    return float(stdtrit(n - 1, 0.5 + level / 2) * values.std(ddof=1) / np.sqrt(n))


def bar_half(values: Sequence[float] | np.ndarray | pd.Series) -> float:
    """Return half the length of an error bar: the 95 % interval; of two values half their range, of one none (NaN).

    The t interval of two values is 12.7 times as wide as they lie apart: a picture of it shows nothing else.
    """
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    return float(np.ptp(known)) / 2 if len(known) == 2 else half_width(known)


def how_many(counts: Iterable[int], what: str = "seed") -> str:
    """Say how many values stand behind points, the least and the most: "20 seeds", "3 to 20 seeds", "no seeds"."""
    found = {int(n) for n in counts}
    if not found:
        return f"no {what}s"
    least, most = min(found), max(found)
    return f"{most} {what}{'s' * (most != 1)}" if least == most else f"{least} to {most} {what}s"


def bars_say(counts: Iterable[int], what: str = "seed") -> str:
    """Say what the error bars of points with so many values are."""
    found = set(counts)
    few = [word for n, word in ((1, f"one {what}: none"), (2, f"two {what}s: range")) if n in found]
    return "bars: 95 % intervals" + (f" ({', '.join(few)})" if few else "")


def surely_below(values: np.ndarray, threshold: float, level: float = 0.95) -> bool:
    """Tell whether a mean's whole t interval lies below a threshold; of a single value nothing is sure."""
    return bool(np.mean(values) + half_width(values, level) < threshold)


def summarise(rows: pd.DataFrame, by: Sequence[str], metrics: Sequence[str], deviations: bool = True) -> pd.DataFrame:
    """Return one row per point of the grid: mean, 95 % half width (`_ci`) and deviation (`_sd`) of each metric; n.

    A long table does without deviations: half widths and the number of seeds say them.
    """
    grouped = rows.groupby(list(by), dropna=False, sort=False)
    parts = {"seeds": grouped["seed"].nunique()}
    for metric in metrics:
        parts[metric] = grouped[metric].mean()
        parts[f"{metric}_ci"] = grouped[metric].agg(half_width)
        if deviations:
            parts[f"{metric}_sd"] = grouped[metric].std()
    return pd.DataFrame(parts).reset_index()
