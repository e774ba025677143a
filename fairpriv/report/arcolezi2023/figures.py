"""Figures of arcolezi2023, and ours beside them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.report.arcolezi2023.printed import authors
from fairpriv.report.arcolezi2023.rows import (
    FAIRNESS,
    PAPER,
    POINT,
    SPLITS,
    UTILITY,
    distances,
    in_order,
    k_based_minus_uniform,
    parts,
    tidy,
    title,
)
from fairpriv.report.arcolezi2023.tables import numbered
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.summary import half_width, how_many

MARKERS = dict(zip(PROTOCOLS, "sxDov^<P*"))
COLOUR = dict(zip(PROTOCOLS, (*COLOURS[:6], "#7F7F7F", "#8C564B", "#BCBD22")))
LABEL = {name: protocol.label for name, protocol in PROTOCOLS.items()}
SMALL = {"fontsize": 10, "columnspacing": 1.0}  # nine names in a row
LONG = {m: name for m, (name, _) in FAIRNESS.items()} | UTILITY


def _epsilons(rows: pd.DataFrame) -> list[float]:
    return sorted(e for e in rows["epsilon"].unique() if np.isfinite(e))


def _ticks(axis: Any, epsilons: list[float]) -> None:
    axis.set_xticks(range(len(epsilons)), [f"{e:g}" for e in epsilons])


def _line(axis: Any, seeds: Any, epsilons: list[float], name: str) -> None:
    """Draw a protocol's mean over seeds with its 95 % band (none of a single seed)."""
    mean, half = seeds.mean(), seeds.agg(half_width).fillna(0)
    at = [epsilons.index(e) for e in mean.index]
    look = {"marker": MARKERS[name], "markersize": 4.5, "linewidth": 1.2, "label": LABEL[name]}
    axis.plot(at, mean, color=COLOUR[name], **look)
    axis.fill_between(at, mean - half, mean + half, color=COLOUR[name], alpha=0.1, linewidth=0)


def _baseline(axis: Any, ours: pd.Series, theirs: pd.DataFrame) -> None:
    """Draw NonDP: our mean with its band, and the mean of the authors' 20 runs."""
    if len(ours):
        half = np.nan_to_num(half_width(ours.to_numpy()))
        axis.axhline(ours.mean(), color="black", linestyle="--", linewidth=1.4, label="NonDP")
        axis.axhspan(ours.mean() - half, ours.mean() + half, color="black", alpha=0.08, linewidth=0)
    for value in theirs["value"]:
        axis.axhline(value, color="#B00020", linestyle=":", linewidth=1.6, label="NonDP, authors' 20 runs")


def _theirs(axis: Any, theirs: pd.DataFrame, epsilons: list[float]) -> None:
    """Draw the authors' means as large hollow marks, and what Section 5.2 says of all protocols as a star."""
    for _, one in theirs[theirs["epsilon"].isin(epsilons)].iterrows():
        at, hollow = epsilons.index(one["epsilon"]), {"markerfacecolor": "none", "linestyle": "", "zorder": 6}
        if one["what"] == "text":
            axis.plot(at, one["value"], marker="*", color="#B00020", markersize=11, **hollow, label="the paper's text")
        else:
            name = one["defense.protocol"]
            axis.plot(at, one["value"], marker=MARKERS[name], color=COLOUR[name], markersize=11, **hollow)


def _of_panel(theirs: pd.DataFrame, metric: str, split: str) -> pd.DataFrame:
    """Return the authors' numbers under LDP that belong into a panel; one of no split belongs into each."""
    here = (theirs["what"] != "nondp") & (theirs["metric"] == metric)
    return theirs[here & (theirs["defense.split"].isna() | (theirs["defense.split"] == split))]


def by_epsilon(
    noisy: pd.DataFrame, bare: pd.DataFrame, theirs: pd.DataFrame, metrics: Mapping[str, str], words: str
) -> Any:
    """Draw a metric (with its name) a row, a split a column, a protocol a line with its band (Figures 2-13)."""
    splits = [s for s in SPLITS if s in set(noisy["defense.split"]) and s != "least_variance"]
    epsilons = _epsilons(noisy)
    figure, axes = canvas(len(splits), len(metrics), width=4.6, height=2.1, sharex=True, sharey="row")
    for row, metric in zip(axes, metrics):
        lone = theirs[(theirs["what"] == "nondp") & (theirs["metric"] == metric)]
        for axis, split in zip(row, splits):
            _baseline(axis, bare[metric], lone)
            for name in PAPER:
                some = noisy[(noisy["defense.protocol"] == name) & (noisy["defense.split"] == split)]
                if len(some):
                    _line(axis, some.groupby("epsilon")[metric], epsilons, name)
            _theirs(axis, _of_panel(theirs, metric, split), epsilons)
            _ticks(axis, epsilons)
        row[0].set_ylabel(metrics[metric])
    for axis, split in zip(axes[0], splits):
        axis.set_title(f"{SPLITS[split]} split")
    for axis in axes[-1]:
        axis.set_xlabel("ε, all attributes together")
    _name_lines(figure, axes, bool((theirs["what"] == "runs").any()))
    heading(figure, words)
    return figure


def _name_lines(figure: Any, axes: Any, hollow: bool) -> None:
    """Put each name that any panel has into one legend below."""
    seen = {n: line for axis in axes.flat for line, n in zip(*axis.get_legend_handles_labels())}
    if hollow:
        look = {"marker": "s", "linestyle": "", "markerfacecolor": "none", "color": "0.3", "markersize": 11}
        seen["authors' 20 runs (mark of their protocol)"] = axes[0][0].plot([], [], **look)[0]
    legend_below(figure, list(seen.values()), list(seen), **SMALL, columns=6)


def paired_splits(rows: pd.DataFrame) -> Any:
    """Draw k-based minus uniform, seed by seed: mean over protocols with its 95 % interval, each protocol thin."""
    both = k_based_minus_uniform(rows[rows["sensitive"] == "table2"])
    both = both[both["defense.protocol"].isin(PAPER)]
    if both.empty:
        return None
    shown = {"acc": "accuracy", "balanced_accuracy": "balanced accuracy", "di": "DI (up: fairer)"}
    datasets, epsilons = in_order(both["dataset"]), _epsilons(both)
    figure, axes = canvas(len(datasets), len(shown), width=4.0, height=2.3, sharex=True, sharey="row")
    for row, (metric, words) in zip(axes, shown.items()):
        for axis, dataset in zip(row, datasets):
            some = both[both["dataset"] == dataset]
            for name, one in some.groupby("defense.protocol"):
                mean = one.groupby("epsilon")[metric].mean()
                axis.plot([epsilons.index(e) for e in mean.index], mean, color=COLOUR[name], linewidth=1.1, alpha=0.8)
            seeds = some.groupby(["epsilon", "seed"])[metric].mean().groupby(level=0)
            mean, half = seeds.mean(), seeds.agg(half_width).fillna(0)
            at = [epsilons.index(e) for e in mean.index]
            axis.errorbar(at, mean, half, color="black", marker="o", markersize=4, linewidth=1.6, capsize=3)
            axis.axhline(0, color="0.5", linewidth=0.8)
            _ticks(axis, epsilons)
        row[0].set_ylabel(words)
    for axis, dataset in zip(axes[0], datasets):
        axis.set_title(title(dataset))
    for axis in axes[-1]:
        axis.set_xlabel("ε")
    lines = [axes[0][0].plot([], [], color=COLOUR[n], linewidth=2.5)[0] for n in PAPER]
    lines.append(axes[0][0].plot([], [], color="black", marker="o", markersize=4)[0])
    names = [*(LABEL[n] for n in PAPER), "mean of all, 95 %"]
    legend_below(figure, lines, names, **SMALL)
    heading(
        figure, f"Beyond arcolezi2023: k-based minus uniform split on the same seed ({both['seed'].nunique()} seeds)"
    )
    return figure


def not_dominated(points: np.ndarray) -> np.ndarray:
    """Tell which rows no other row equals or beats in every column while beating it in one (small is good)."""
    better = (points[:, None] <= points[None]).all(axis=2) & (points[:, None] < points[None]).any(axis=2)
    return ~better.any(axis=0)


def tradeoff(rows: pd.DataFrame) -> Any:
    """Draw utility against unfairness, coloured by ε; the ringed points are not dominated in (utility, fairness, ε)."""
    noisy, bare = parts(distances(rows[rows["sensitive"] == "table2"]))
    mean = noisy.groupby(POINT)[["balanced_accuracy", "spd"]].mean().reset_index()
    if mean.empty:
        return None
    datasets = in_order(mean["dataset"])
    figure, axes = canvas(len(datasets), 1, width=4.6, height=4.2)
    epsilons = _epsilons(mean)
    for axis, dataset in zip(axes[0], datasets):
        some = mean[mean["dataset"] == dataset]
        for name, one in some.groupby("defense.protocol"):
            look = {"marker": MARKERS[name], "s": 26, "linewidths": 1.0, "cmap": "viridis", "alpha": 0.9}
            colour = [epsilons.index(e) for e in one["epsilon"]]
            dots = axis.scatter(
                one["balanced_accuracy"], one["spd"], c=colour, vmin=0, vmax=max(1, len(epsilons) - 1), **look
            )
        values = np.column_stack([-some["balanced_accuracy"], some["spd"], some["epsilon"]])
        front = some[not_dominated(values)]
        ring = {"facecolors": "none", "edgecolors": COLOURS[1], "s": 95, "linewidths": 1.3}
        axis.scatter(front["balanced_accuracy"], front["spd"], **ring)
        base = bare[bare["dataset"] == dataset]
        if len(base):
            at = (base["balanced_accuracy"].mean(), base["spd"].mean())
            axis.scatter(*at, marker="*", s=170, color="black", zorder=5)
        axis.set(title=title(dataset), xlabel="balanced accuracy")
        axis.locator_params(axis="x", nbins=5)
    axes[0][0].set_ylabel("|SPD| (down: fairer)")
    bar = figure.colorbar(dots, ax=axes[0], ticks=range(len(epsilons)), label="ε", pad=0.01)
    bar.ax.set_yticklabels([f"{e:g}" for e in epsilons])
    seen = [n for n in PROTOCOLS if n in set(mean["defense.protocol"])]
    hidden = {"linestyle": "", "color": "0.3", "markersize": 5}
    lines = [axes[0][0].plot([], [], marker=MARKERS[n], **hidden)[0] for n in seen]
    lines.append(axes[0][0].plot([], [], marker="*", linestyle="", color="black", markersize=11)[0])
    ring = {"linestyle": "", "markerfacecolor": "none", "markeredgecolor": COLOURS[1], "markersize": 10}
    lines.append(axes[0][0].plot([], [], marker="o", **ring)[0])
    names = [*(LABEL[n] for n in seen), "NonDP", "not dominated"]
    legend_below(figure, lines, names, **SMALL)
    said = how_many(noisy.groupby(POINT)["seed"].nunique())
    heading(
        figure,
        f"Beyond arcolezi2023: unfairness against utility, every protocol, split and ε (means of {said})",
    )
    return figure


def seeds_told(rows: pd.DataFrame) -> str:
    """Say how many seeds there are, and what the bands are."""
    each = rows[rows["defense.protocol"].isin(PAPER)].groupby(POINT)["seed"].nunique()
    return f"{how_many(each)}, {'bands: 95 % interval of the mean' if each.max() > 1 else 'no bands'}"


def figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return every figure these rows can give, by file name."""
    rows = tidy(rows)
    noisy, bare = parts(rows)
    made = {}
    said = authors()
    for name, dataset, sensitive, metrics in numbered(noisy[noisy["defense.protocol"].isin(PAPER)]):
        some = noisy[(noisy["dataset"] == dataset) & (noisy["sensitive"] == sensitive)]
        which = "random sensitive attributes" if sensitive == "random" else "four sensitive attributes"
        words = f"arcolezi2023, {name.replace('figure', 'Figure ')}: {title(dataset)}, {which}\n{seeds_told(some)}"
        theirs = said[(said["dataset"] == dataset) & ((sensitive == "table2") | (said["what"] == "nondp"))]
        made[name] = by_epsilon(some, bare[bare["dataset"] == dataset], theirs, {m: LONG[m] for m in metrics}, words)
    made |= {"paired_splits": paired_splits(rows), "tradeoff": tradeoff(rows)}
    return {name: figure for name, figure in made.items() if figure is not None}
