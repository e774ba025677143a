"""Figures of xie2024, and ours beside them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.summary import bar_half, bars_say, how_many
from fairpriv.report.xie2024.methods import (
    DATASETS,
    LEARNED_FROM,
    METHODS,
    OURS,
    image_rows,
    main_rows,
    table2_rows,
    tuned_rows,
)
from fairpriv.report.xie2024.printed import printed_table2

MARKERS = dict(zip(METHODS, "osD^vP*Xh"))
LOOK = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(METHODS)}
BARS = {"fmt": "none", "elinewidth": 0.8, "alpha": 0.5}
MOST_KNOWN = 100  # beyond it noise no longer hides which row is which, and the law counts that as knowledge of S
MARK = 8.0  # size of a mark, in typographic points
LOOK |= {"vfae": "#8C510A", "raw_data": "0.45"}  # the palette's yellow is too light for a marker


def _title(dataset: str) -> str:
    return DATASETS.get(dataset, dataset)


def _datasets(rows: pd.DataFrame) -> list[str]:
    found = list(dict.fromkeys(rows["dataset"]))
    return [d for d in DATASETS if d in found] + [d for d in found if d not in DATASETS]


def _epsilon(value: float) -> str:
    return "ε = ∞" if np.isinf(value) else f"ε = {value:g}"


def _epsilon_colours(rows: pd.DataFrame) -> dict[float, str]:
    """Return one colour an ε of our methods on tables, the same in Figures 5 and 6."""
    some = rows[rows["defense"].isin(OURS) & rows["epsilon"].notna()]
    return {e: COLOURS[i % len(COLOURS)] for i, e in enumerate(sorted(some["epsilon"].unique()))}


def _people(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["delta_dp"].notna()] if "delta_dp" in rows else rows.iloc[:0]


def _width(names: list[str]) -> float:
    """Return the width of a panel: one alone needs room for title and legend."""
    return 4.5 if len(names) > 1 else 8.0


def _bars_say(some: pd.DataFrame) -> str:
    """Say what the error bars are."""
    point = [c for c in ("dataset", "defense", "epsilon", "beta") if c in some]
    return bars_say(some.groupby(point, dropna=False)["seed"].nunique())


def _common_seeds(some: pd.DataFrame) -> pd.DataFrame:
    """Keep the seeds that every β was run with: a line compares the same splits."""
    seeds = some.groupby("seed")["beta"].nunique()
    return some[some["seed"].isin(seeds.index[seeds == some["beta"].nunique()])]


def _seeds_of_lines(some: pd.DataFrame) -> str:
    """Say how many seeds the lines of a panel are means of."""
    counts = {group["seed"].nunique() for _, one in some.groupby("epsilon") for group in [_common_seeds(one)]}
    return how_many(counts)


def figure5(rows: pd.DataFrame) -> Any:
    """Accuracy against Δ_DP along β, a line an ε: continuous above, discrete below."""
    some = _people(rows)
    some = some[some["defense"].isin(OURS) & some["beta"].notna()]
    points = some.groupby(["dataset", "defense"])[["epsilon", "beta"]].nunique()
    if not ((points["epsilon"] > 1) & (points["beta"] > 1)).any():
        return None
    names, kinds = _datasets(some), [k for k in OURS if k in set(some["defense"])]
    figure, axes = canvas(columns=len(names), rows=len(kinds), width=max(4.3, 7 / len(names)), height=3.3, sharex="col")
    epsilons = sorted(some["epsilon"].unique())
    colours = _epsilon_colours(rows)
    for row, kind in zip(axes, kinds):
        for axis, dataset in zip(row, names):
            mine = some[(some["dataset"] == dataset) & (some["defense"] == kind)]
            axis.axhline(mine["majority_u"].mean(), color="0.5", linewidth=0.9, linestyle=":")
            for epsilon in epsilons:
                by = _common_seeds(mine[mine["epsilon"] == epsilon]).groupby("beta")[["delta_dp", "accuracy"]]
                at, half = by.mean(), by.agg(bar_half).fillna(0)
                x, y = at["delta_dp"], at["accuracy"]
                axis.plot(x, y, "-", linewidth=1, alpha=0.6, color=colours[epsilon])
                axis.errorbar(x, y, half["accuracy"], half["delta_dp"], **BARS, ecolor=colours[epsilon])
                axis.scatter(x, y, s=18 + 9 * np.arange(len(at)), color=colours[epsilon])
            kind_said = {"Con": "continuous", "Dis": "discrete"}[METHODS[kind][6:-1]]
            axis.set_title(f"{_title(dataset)}, {kind_said}\n({_seeds_of_lines(mine)})")
    for axis in axes[-1]:
        axis.set_xlabel(r"$\Delta_{DP}$ (demographic parity gap)")
    for row in axes:
        row[0].set_ylabel("accuracy on U")
    handles = [Line2D([], [], marker="o", color=colours[e], label=_epsilon(e)) for e in epsilons]
    legend_below(figure, handles, columns=len(handles))
    heading(
        figure,
        r"xie2024, Figure 5: accuracy against $\Delta_{DP}$ (the paper prints no numbers); larger dots, larger β; "
        "dotted: the larger class alone; " + _bars_say(some),
    )
    return figure


def figure6(rows: pd.DataFrame) -> Any:
    """I(U;Z) and I(S;Z) against β, by MINE; for I(S;Z) also from the randomizer's law."""
    if "i_uz" not in rows or not rows["i_uz"].notna().any():
        return None
    some = rows[rows["i_uz"].notna() & (rows["defense"] == OURS[0]) & rows["beta"].notna()]
    if some["beta"].nunique() < 2:
        return None
    names = _datasets(some)
    figure, axes = canvas(columns=2, rows=len(names), width=5.4, height=2.9, sharex=True, sharey=True)
    colours = {e: c for e, c in _epsilon_colours(rows).items() if e in set(some["epsilon"])}
    lines = {}
    for row, dataset in zip(axes, names):
        for epsilon, group in some[some["dataset"] == dataset].groupby("epsilon"):
            group = _common_seeds(group)
            for axis, metric in zip(row, ("i_uz", "i_sz")):
                by = group.groupby("beta")[metric]
                means, half = by.mean(), by.agg(bar_half).fillna(0)
                look = {"marker": "o", "markersize": 4, "color": colours[epsilon], "capsize": 2}
                lines[epsilon] = axis.errorbar(means.index, means, half, **look)
            if epsilon <= MOST_KNOWN:
                known = group.groupby("beta")["i_sz_known"].mean()
                row[1].plot(known.index, known, "--", color=colours[epsilon], linewidth=1)
        row[0].set_ylabel(f"{_title(dataset)}, nats\n({_seeds_of_lines(some[some['dataset'] == dataset])})")
        for axis in row:
            axis.set_xscale("log")
            axis.set_yscale("symlog", linthresh=0.01, linscale=0.5)
            axis.set_yticks([0, 0.01, 0.03, 0.1, 0.3], ["0", "0.01", "0.03", "0.1", "0.3"])
            axis.minorticks_off()
            axis.set_ylim(-0.004, 0.4)
    axes[0, 0].set_title("utility I(U;Z)")
    axes[0, 1].set_title("leakage I(S;Z)")
    for axis in axes[-1]:
        axis.set_xlabel("β")
    legend_below(figure, [lines[e] for e in colours], [_epsilon(e) for e in colours])
    heading(
        figure,
        "xie2024, Figure 6: what the representation tells about U and about S (continuous), by MINE; dashed: I(S;Z) by "
        f"the randomizer's law (ε up to {MOST_KNOWN}); {_bars_say(some)}",
    )
    return figure


def _picture(rows: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return images given as rows (channel by channel) in one strip, scaled from [low, high]."""
    image = np.clip((rows - low) / (high - low), 0, 1).reshape(-1, 3, 10, 10).transpose(0, 2, 3, 1)
    framed = np.ones((len(image), 12, 12, 3))
    framed[:, 1:-1, 1:-1] = image
    return framed.transpose(1, 0, 2, 3).reshape(12, -1, 3)


def figure4(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """Colored-MNIST: some images and what is given away of them at several ε, for both roles."""
    roles = {"mnist": "U = digit, S = colour", "mnist_hide_digit": "U = colour, S = digit"}
    images = image_rows(rows)
    images = images[images["dataset"].isin(roles)]
    if images.empty:
        return None
    beta = images["beta"].max()
    epsilons = sorted(images["epsilon"].unique(), reverse=True)
    shown = [d for d in roles if d in set(images["dataset"])]
    lines = 1 + len(epsilons)
    figure, axes = canvas(columns=len(shown), rows=lines, width=6.4, height=1.0)
    for column, dataset in enumerate(shown):
        first = True
        for line, epsilon in enumerate(epsilons, start=1):
            at = images[(images["dataset"] == dataset) & (images["epsilon"] == epsilon) & (images["beta"] == beta)]
            amount = {axis.replace(".", "__"): at[axis].iloc[0] for axis in LEARNED_FROM if axis in at and len(at)}
            found = arrays(dataset=dataset, epsilon=epsilon, beta=beta, seed=0, **amount)
            axis = axes[line, column]
            axis.axis("off")
            if not found:
                continue
            pick = _pick(found)
            if first:
                axes[0, column].imshow(_picture(found["x"][pick], 0, 1), interpolation="nearest")
                axes[0, column].set_title(f"{roles[dataset]}\nimages X", fontsize=10.5)
                axes[0, column].axis("off")
                first = False
            low, high = np.quantile(found["z"][pick], [0.02, 0.98])
            axis.imshow(_picture(found["z"][pick], low, high), interpolation="nearest")
            said = f"Z, {_epsilon(epsilon)}: accuracy on U {at['accuracy'].mean():.2f}, {_learned_from(at)}"
            axis.set_title(said, fontsize=10.5)
    heading(figure, f"xie2024, Figure 4: Colored-MNIST, representations at several ε (β = {beta:g})")
    return figure


def _learned_from(some: pd.DataFrame) -> str:
    """Say from how many images, and with how many seeds."""
    seeds = some["seed"].nunique()
    return f"{some['n_train'].iloc[0]:,.0f} images, {seeds} seed{'s' * (seeds > 1)}"


def _pick(found: dict[str, np.ndarray]) -> np.ndarray:
    """Return twelve images: digits in order, colours taking turns."""
    digit, colour = (found["u"], found["s"]) if found["u"].max() > found["s"].max() else (found["s"], found["u"])
    wanted = [(d % 10, d % 3) for d in range(12)]
    rows = [np.flatnonzero((digit == d) & (colour == c)) for d, c in wanted]
    return np.array([r[0] for r in rows if len(r)], int)


def _points(axis: Any, some: pd.DataFrame, x: str, y: str) -> None:
    """Draw every method with its error bars; filled with LDP, hollow without; marks that meet, side by side."""
    by = some.groupby(["defense", "epsilon"], sort=False)[[x, y]]
    means, half = by.mean(), by.agg(bar_half).fillna(0)
    for (at, along, offset), (defense, epsilon) in zip(
        zip(means.to_numpy(), half.to_numpy(), _side_by_side(axis, means.to_numpy())), means.index
    ):
        colour = LOOK.get(defense, "0.2")
        axis.errorbar(*at, along[1], along[0], **BARS, ecolor=colour)
        fill = colour if np.isfinite(epsilon) else "white"
        look = {"markersize": MARK, "color": colour, "markerfacecolor": fill, "zorder": 3, "clip_on": False}
        moved = axis.transData + ScaledTranslation(offset / 72, 0, axis.figure.dpi_scale_trans)
        axis.plot(*at, MARKERS.get(defense, "o"), transform=moved, **look)


def _side_by_side(axis: Any, points: np.ndarray) -> np.ndarray:
    """Return by how many typographic points each mark moves to the right so that it hides no other."""
    box, limits = axis.get_position(), np.array([axis.get_xlim(), axis.get_ylim()])
    inches = np.array([box.width, box.height]) * axis.figure.get_size_inches()
    places = (points - limits[:, 0]) / (limits[:, 1] - limits[:, 0]) * inches * 72
    offsets = np.zeros(len(points))
    placed: list[np.ndarray] = []
    for i in np.argsort(places[:, 0], kind="stable"):
        while any(np.abs(places[i] + (offsets[i], 0) - other).max() < 0.8 * MARK for other in placed):
            offsets[i] += 0.2 * MARK
        placed.append(places[i] + (offsets[i], 0))
    return offsets


def _printed_points(axis: Any, dataset: str, some: pd.DataFrame) -> None:
    """Draw where the paper's Table 2 has each method, with a line to where ours is."""
    gaps, accuracies = printed_table2("delta_dp"), printed_table2("accuracy")
    for (defense, epsilon), ours in some.groupby(["defense", "epsilon"])[["delta_dp", "accuracy"]].mean().iterrows():
        key = (dataset, defense, epsilon)
        if key in gaps and key in accuracies:
            line = [gaps[key], ours["delta_dp"]], [accuracies[key], ours["accuracy"]]
            axis.plot(*line, color=LOOK[defense], linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)
            mark = MARKERS[defense]
            axis.plot(gaps[key], accuracies[key], mark, markersize=4.5, color=LOOK[defense], alpha=0.55, zorder=2)


def _limits(axis: Any, dataset: str, some: pd.DataFrame, x: str, y: str) -> None:
    """Show the points of both rows, and the paper's: intervals of few seeds may be wider than the picture."""
    means = some.groupby(["defense", "epsilon"])[[x, y]].mean()
    for limits, column in ((axis.set_xlim, x), (axis.set_ylim, y)):
        theirs = [value for (where, *_), value in printed_table2(column).items() if where == dataset]
        low, high = min(means[column].min(), *theirs, np.inf), max(means[column].max(), *theirs, -np.inf)
        margin = 0.12 * max(high - low, 0.02)
        limits(low - margin, high + margin)


def _seeds(some: pd.DataFrame) -> str:
    """Say how many seeds the points of a panel have."""
    return how_many(some.groupby(["defense", "epsilon"])["seed"].nunique())


def _panels(some: pd.DataFrame, x: str, say: str) -> tuple[Any, Any]:
    """Draw Table 2 as accuracy against x: a column a dataset; above what has LDP, below what has not."""
    names = _datasets(some)
    private = np.isfinite(some["epsilon"])
    figure, axes = canvas(columns=len(names), rows=2, width=_width(names), height=3.6, sharex="col", sharey="col")
    for axis, dataset in zip(axes[1], names):
        _limits(axis, dataset, some[some["dataset"] == dataset], x, "accuracy")
        axis.set_xlabel(say)
    for row, part, word in ((axes[0], some[private], "with LDP"), (axes[1], some[~private], "without noise")):
        for axis, dataset in zip(row, names):
            mine = part[part["dataset"] == dataset]
            if x == "delta_dp":
                _printed_points(axis, dataset, mine)
            _points(axis, mine, x, "accuracy")
            axis.set_title(f"{_title(dataset)}, {word} ({_seeds(mine)})")
        row[0].set_ylabel("accuracy on U")
    _legend(figure, some)
    return figure, axes


def _legend(figure: Any, some: pd.DataFrame) -> None:
    handles = [
        Line2D([], [], marker=MARKERS[m], color=LOOK[m], linestyle="", markersize=8, label=METHODS[m])
        for m in METHODS
        if m in set(some["defense"])
    ]
    handles.append(
        Line2D([], [], marker="o", color="0.3", markerfacecolor="white", linestyle="", label="hollow: no LDP")
    )
    columns = min(5, int(figure.get_figwidth() / 1.6))
    legend_below(figure, handles, columns=columns)


def pareto(rows: pd.DataFrame) -> Any:
    """Beyond the paper: Table 2 as a front, accuracy against Δ_DP with 95 % intervals."""
    some = tuned_rows(table2_rows(rows))
    if some["defense"].nunique() < 3:
        return None
    figure, axes = _panels(some, "delta_dp", r"$\Delta_{DP}$ (demographic parity gap)")
    for column, dataset in zip(axes.T, _datasets(some)):
        mine = some[some["dataset"] == dataset]
        for axis in column:
            axis.axhline(mine["majority_u"].mean(), color="0.5", linewidth=0.9, linestyle=":")
        column[0].plot(*_front(mine), color="0.3", linewidth=1, alpha=0.6, drawstyle="steps-post", zorder=0)
    heading(
        figure,
        "xie2024, Table 2 as a front: ours at ε = 5, others at ε = 8 and without noise; small marks: as printed; step: "
        "Pareto front with LDP; dotted: the larger class alone; marks that meet stand side by side; " + _bars_say(some),
    )
    return figure


def _front(some: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the points with LDP that no other beats in both accuracy and Δ_DP."""
    private = some[np.isfinite(some["epsilon"])]
    means = private.groupby(["defense", "epsilon"])[["delta_dp", "accuracy"]].mean().sort_values("delta_dp")
    best = means["accuracy"].cummax()
    kept = means[(means["accuracy"] >= best) & ~best.duplicated()]
    return kept["delta_dp"].to_numpy(), kept["accuracy"].to_numpy()


def attackers(rows: pd.DataFrame) -> Any:
    """Beyond the paper: balanced accuracy of the strongest attacker on S against accuracy on U."""
    some = tuned_rows(table2_rows(rows))
    if some["defense"].nunique() < 3:
        return None
    figure, axes = _panels(some, "attack_balanced", "balanced accuracy on S")
    for axis in axes.flat:
        axis.axvline(0.5, color="0.5", linewidth=0.9, linestyle=":")
    heading(
        figure,
        "Beyond xie2024: the strongest of three attackers against every representation; dotted: a coin; marks that "
        "meet stand side by side; " + _bars_say(some),
    )
    return figure


def figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return Figures 4, 5 and 6, and beyond: attackers, and the Pareto front with intervals."""
    if "scored_on" in rows:  # settings tried on validation data have a table and no picture
        rows = rows[rows["scored_on"] != "validation"]
    if rows.empty:
        return {}
    rows = main_rows(rows)
    made = {
        "figure4": figure4(rows, arrays),
        "figure5": figure5(rows),
        "figure6": figure6(rows),
        "pareto": pareto(rows),
        "attackers": attackers(rows),
    }
    return {name: figure for name, figure in made.items() if figure is not None}
