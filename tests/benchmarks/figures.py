"""Time against size, log-log, one figure a part, with the slope of each line."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from fairpriv.report.figures import COLOURS, canvas, figure_bytes

TITLES = {
    "recovery": ("Reveal: five answers decoded, m = n/2", "people n"),
    "correction": ("Correction of a reconstruction, tolerance 0", "examples N"),
    "ldp": ("Perturbation of a column of 74 values, ε = 1", "users"),
    "desk": ("Desk: one answer about 10 models, durable", "people n"),
    "runner": ("Runner: a run of cells that cost nothing", "cells"),
}


def slope(sizes: np.ndarray, seconds: np.ndarray) -> float:
    """Return the exponent of growth over the larger half of the sizes: small ones measure the start."""
    half = sizes >= np.median(sizes)
    return float(np.polyfit(np.log(sizes[half]), np.log(seconds[half]), 1)[0]) if half.sum() > 1 else float("nan")


def _kind(method: str) -> str:
    return method.split(" (")[0].split(",")[0]


def draw(table: pd.DataFrame, folder: Path) -> Iterator[Path]:
    """Write NAME.png for every part that grew; yield the paths."""
    grown = table[table["size"].notna()]
    for name, own in grown.groupby("bench"):
        title, what = TITLES[str(name)]
        figure, axes = canvas(width=6.4, height=4.4)
        axis = axes[0, 0]
        methods = {m: rows.sort_values("size") for m, rows in own.groupby("what", sort=False)}
        kinds = list(dict.fromkeys(map(_kind, methods)))  # ours and its peer have one colour
        for method, rows in methods.items():
            sizes, seconds = rows["size"].to_numpy(float), rows["seconds"].to_numpy(float)
            power = slope(sizes, seconds)
            told = method if np.isnan(power) else f"{method}: size^{power:.1f}"
            peer = "ours" not in method and "fairpriv" not in method and name != "desk"
            style = {"linestyle": "--" if peer else "-", "marker": "o", "markersize": 4}
            axis.plot(sizes, seconds, color=COLOURS[kinds.index(_kind(method)) % len(COLOURS)], label=told, **style)
        axis.set(xscale="log", yscale="log", xlabel=what, ylabel="seconds", title=title)
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        path.write_bytes(figure_bytes(figure)["png"])
        yield path
