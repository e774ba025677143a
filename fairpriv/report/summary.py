"""Means over seeds with their spread: one way to sum up cells."""

from collections.abc import Sequence

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


def surely_below(values: np.ndarray, threshold: float, level: float = 0.95) -> bool:
    """Tell whether a mean's whole t interval lies below a threshold; of a single value nothing is sure."""
    return bool(np.mean(values) + half_width(values, level) < threshold)


def summarise(rows: pd.DataFrame, by: Sequence[str], metrics: Sequence[str]) -> pd.DataFrame:
    """Return one row per point of the grid: mean, 95 % half width (`_ci`) and deviation (`_sd`) of each metric; n."""
    grouped = rows.groupby(list(by), dropna=False, sort=False)
    parts = {"seeds": grouped["seed"].nunique()}
    for metric in metrics:
        parts[metric] = grouped[metric].mean()
        parts[f"{metric}_ci"] = grouped[metric].agg(half_width)
        parts[f"{metric}_sd"] = grouped[metric].std()
    return pd.DataFrame(parts).reset_index()
