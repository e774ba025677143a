"""Figures of the matrix: a heat map and a Pareto figure a dataset."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.report.attack_defense_matrix.rows import CHANNELS, measured, shown, title
from fairpriv.report.attack_defense_matrix.tables import defenses_table, utility_of
from fairpriv.report.figures import COLOURS, heading, plt
from fairpriv.report.page import names
from fairpriv.report.summary import how_many

ROW, COLUMN = 0.2, 0.46  # inches of a row and a column of the heat map
NAMES, HEAD, FOOT, GAP = 2.9, 1.1, 1.7, 0.25  # inches for names of defenses, titles, names of attacks, between panels
NAMED = 10  # of the ringed points of a panel
GROUPS = {"group 0": "▼", "group 1": "▲"}  # who is exposed


def _grid(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return mean leakage by defense (rows) and attack (columns), in the order in which they come."""
    named = pairs.assign(shown=[title(shown(d), b) for d, b in zip(pairs["defended"], pairs["budget"])])
    table = named.pivot_table(index="shown", columns="attacked", values="leakage", sort=False)
    return table.reindex(columns=sorted(table.columns, key=lambda name: (name.split(" ")[0], len(name))))


def _panel(axis: Any, table: pd.DataFrame, words: str) -> Any:
    """Draw one channel; white is what a coin would get, grey a pair that was not tried."""
    axis.set_facecolor("0.85")
    image = axis.imshow(table.to_numpy(), cmap="Reds", vmin=50, vmax=100, aspect="auto")
    axis.set_xticks(range(table.shape[1]), map(shown, table.columns), rotation=60, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(table.shape[0]), table.index)
    axis.tick_params(labelsize=9, length=2)
    axis.grid(False)
    for (i, j), value in np.ndenumerate(table.to_numpy()):
        if np.isfinite(value):
            colour = "white" if value > 80 else "black"
            axis.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=8, color=colour)
    axis.set_title(words, fontsize=11)
    return image


def heat_map(pairs: pd.DataFrame, dataset: str) -> Any:
    """Draw what every attack recovers against every defense, a panel a channel, all rows of one height."""
    channels = [c for c in CHANNELS if c in set(pairs["channel"])]
    grids = {c: _grid(pairs[pairs["channel"] == c]) for c in channels}
    shared = {"model", "records"} <= set(grids)  # side by side on the same rows, which are named once
    if shared:
        order = dict.fromkeys([*grids["model"].index, *grids["records"].index])
        grids |= {c: grids[c].reindex(list(order)) for c in ("model", "records")}
    gaps = [GAP if c == "records" and shared else NAMES for c in grids]
    height = max(len(grid) for grid in grids.values()) * ROW + HEAD + FOOT
    width = sum(grid.shape[1] * COLUMN + gap for grid, gap in zip(grids.values(), gaps)) + 0.3
    figure = plt.figure(figsize=(width, height))
    figure.set_layout_engine("none")
    left = 0.0
    for (channel, grid), gap in zip(grids.items(), gaps):
        left += gap
        size = (grid.shape[1] * COLUMN, len(grid) * ROW)
        place = (left / width, (height - HEAD - size[1]) / height, size[0] / width, size[1] / height)
        alone = pairs.loc[pairs["channel"] == channel, "x_leakage"].mean()
        axis = figure.add_axes(place)
        image = _panel(axis, grid, f"{CHANNELS[channel]}\n(X alone: {alone:.0f} %)")
        axis.tick_params(labelleft=gap != GAP)
        left += size[0]
    bar = figure.add_axes((NAMES / width, 0.6 / height, 3.4 / width, 0.2 / height))
    figure.colorbar(image, cax=bar, orientation="horizontal", label="leakage, % (white: a coin; grey: not tried)")
    seeds = how_many(pairs["seeds"])
    said = f"Every attack on every defense, {names.value(dataset)}: what it recovers (balanced accuracy, %; {seeds})"
    figure.suptitle(said, fontsize=14, y=1 - 0.15 / height, va="top")
    return figure


def not_dominated(points: np.ndarray) -> np.ndarray:
    """Tell which rows no other row equals or beats in every column while beating it in one (small is good)."""
    better = (points[:, None] <= points[None]).all(axis=2) & (points[:, None] < points[None]).any(axis=2)
    return ~better.any(axis=0)


def _best(axis: Any, below: Any, front: pd.DataFrame) -> None:
    """Put numbers at the ringed points, at most NAMED, and list their names below: on the points they would pile up."""
    lines = []
    every = max(1, -(-len(front) // NAMED))
    for number, (_, row) in enumerate(front.iloc[::every].iterrows(), start=1):
        aside = {"xytext": (0, 7), "textcoords": "offset points", "fontsize": 9, "ha": "center"}
        axis.annotate(str(number), (row["utility"], row["leakage"]), **aside)
        lines.append(f"{number}  {title(shown(row['defended']), row['budget'])} {GROUPS.get(row['exposed'], '')}")
    most = f"one in {every} of {len(front)} ringed, by leakage" if every > 1 else "ringed, by leakage"
    below.text(0, 1, "\n".join([f"{most}:", *lines]), transform=below.transAxes, fontsize=9.5, va="top")
    below.axis("off")


def _front(axis: Any, below: Any, some: pd.DataFrame, channel: str, most: float) -> Any:
    """Draw utility against the strongest leakage; ringed points are not dominated, and numbered."""
    gap = some["gap_sp"] if channel != "answers" else pd.Series(0.0, index=some.index)
    front = some[not_dominated(np.column_stack([-some["utility"], some["leakage"], gap]))]
    bars = {"fmt": "none", "ecolor": "0.8", "elinewidth": 0.8, "zorder": 1}
    axis.errorbar(some["utility"], some["leakage"], np.nan_to_num(some["leakage_ci"]), **bars)
    look = {"cmap": "viridis", "vmin": 0, "vmax": most, "s": 22, "zorder": 2}
    dots = axis.scatter(some["utility"], some["leakage"], c=some["gap_sp"], **look)
    ring = {"facecolors": "none", "edgecolors": COLOURS[1], "s": 80, "linewidths": 1.2, "zorder": 3}
    axis.scatter(front["utility"], front["leakage"], **ring)
    _best(axis, below, front.sort_values("leakage"))
    axis.axhline(some["x_leakage"].mean(), color="black", linestyle="--", linewidth=1)
    axis.axhline(50, color="0.6", linewidth=0.8)
    axis.set_title(CHANNELS[channel])
    axis.set_xlabel("1 - mean error of answers" if channel == "answers" else "balanced accuracy of the model")
    return dots


def pareto(defenses: pd.DataFrame, dataset: str) -> Any:
    """Draw utility against leakage at the strongest attack, a panel a channel, coloured by unfairness."""
    channels = [c for c in CHANNELS if c in set(defenses["channel"])]
    size = (5.2 * len(channels), 6.9)
    figure, axes = plt.subplots(2, len(channels), figsize=size, squeeze=False, height_ratios=(3, 2.1))
    for axis, below, channel in zip(*axes, channels):
        dots = _front(axis, below, defenses[defenses["channel"] == channel], channel, defenses["gap_sp"].max())
    axes[0][0].set_ylabel("leakage, strongest attack (%)")
    figure.colorbar(dots, ax=axes[0][-1], label="gap of statistical parity")
    seeds = how_many(defenses["seeds"])
    heading(
        figure,
        f"Every attack on every defense, {names.value(dataset)}: ringed defenses are not dominated (utility, leakage, "
        f"fairness); bars: 95 %, {seeds}; dashed: what X alone tells; ▼ group 0, ▲ group 1 is more exposed",
    )
    return figure


def figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return both figures of every dataset."""
    pairs = measured(rows)
    defenses = defenses_table(pairs)
    defenses = defenses.assign(utility=utility_of(defenses))
    made = {}
    for dataset in dict.fromkeys(pairs["dataset"]):
        made[f"heat_map_{dataset}"] = heat_map(pairs[pairs["dataset"] == dataset], dataset)
        made[f"pareto_{dataset}"] = pareto(defenses[defenses["dataset"] == dataset], dataset)
    return made
