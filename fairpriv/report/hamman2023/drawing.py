"""What the figures of hamman2023 share: bands over seeds, printed values beside ours, and one colour a mechanism."""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.report.figures import COLOURS
from fairpriv.report.hamman2023.forensics import printed_numbers
from fairpriv.report.hamman2023.tables import DECODER_NAMES
from fairpriv.report.summary import half_width, how_many

STYLE = {
    "conceal": COLOURS[0],
    "conceal_tight": COLOURS[1],
    "conceal_exact": COLOURS[2],
    "conceal_aware": COLOURS[3],
    "laplace": COLOURS[4],
    "gaussian": COLOURS[5],
    "conceal_laplace": "0.45",
}
NOISELESS = COLOURS[6]
DECODER_STYLE = {name: COLOURS[i] for i, name in enumerate(DECODER_NAMES)}
PRINTED = {"marker": "D", "facecolors": "none", "s": 30, "linewidths": 1.3, "zorder": 5}  # the paper's own values


def line(axis: Any, rows: pd.DataFrame, x: str, y: str, most: float = np.inf, **look: Any) -> None:
    """Draw the mean over seeds with its 95 % interval, no further than the most there can be."""
    grouped = rows.groupby(x)[y]
    mean, half = grouped.mean(), grouped.agg(half_width).fillna(0)
    axis.plot(mean.index, mean, marker="o", markersize=3.5, **look)
    axis.fill_between(
        mean.index, mean - half, (mean + half).clip(upper=most), alpha=0.15, color=look.get("color"), linewidth=0
    )


def where(rows: pd.DataFrame, **axes: Any) -> pd.DataFrame:
    """Return the rows with these values."""
    for axis, value in axes.items():
        rows = rows[rows[axis.replace("__", ".")] == value]
    return rows


def finite(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with noise."""
    return rows[np.isfinite(rows["epsilon"].astype(float))]


def seeds(*parts: pd.DataFrame) -> str:
    """Say how many seeds stand behind the points of a figure, e.g. "20 seeds" or "3 to 20 seeds"."""
    axes = ["n", "n0", "m", "epsilon", "defense", "attack.decoder", "candidate", "attack"]
    counts = [
        rows.groupby([a for a in axes if a in rows], dropna=False)["seed"].nunique() for rows in parts if len(rows)
    ]
    return how_many(chain.from_iterable(counts))


def printed(metric: str, defense: str, **setting: float | str) -> list[Mapping[str, float]]:
    """Return printed values of a metric (error, or leakage and recovered attributes) with the axes they stand at."""
    found = []
    for name, numbers in printed_numbers(metric).items():
        for number in numbers if name.endswith(f" {defense}") and not name.startswith("tables") else ():
            at = number.printed.selectors
            if all(str(at[k]) == str(v) for k, v in setting.items()):
                axes = {k: float(at[k]) for k in ("n", "n0", "m", "epsilon")}
                found.append(axes | {"value": number.printed.ours})
    return found


def mark_printed(axis: Any, values: Iterable[Mapping[str, float]], x: str, colour: str, label: str | None) -> None:
    """Draw printed values as open diamonds."""
    values = list(values)
    if values:
        axis.scatter([v[x] for v in values], [v["value"] for v in values], edgecolors=colour, label=label, **PRINTED)
