"""Figures of maad_private: the tables at a glance, the ε spent, and the sweeps."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.paths import share
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below, plain_log_ticks
from fairpriv.report.maad2023.tables import (
    CONDITIONS,
    PUBLIC,
    at_defaults,
    attributes_of,
    complete,
    fronts_rows,
    printed_points,
    unprinted_rows,
)
from fairpriv.report.papers import read_paper
from fairpriv.report.summary import bar_half, bars_say, how_many

TITLES = {
    "adult_aif360": "Adult",
    "compas_aif360_default": "COMPAS",
    "compas_aif360": "COMPAS, coarse columns",
    "hate_speech": "Hate speech (a part)",
    "synthetic_corpus": "Synthetic corpus",
}
ORDER = [
    ("baseline", "none"),
    ("dp", "printed"),
    ("dp", "joint"),
    ("debias", "none"),
    ("dp_debias", "printed"),
    ("dp_debias", "joint"),
]

# one colour a condition in every figure
LOOK = {point: COLOURS[i] for i, point in enumerate(ORDER)} | {("dp_debias", "combined"): "#8C510A"}


def _label(condition: str, privacy: str) -> str:
    return CONDITIONS[condition] + ("" if privacy == "none" else f"\n({privacy})")


def _points(rows: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame]]:
    found = []
    for condition, privacy in ORDER:
        some = rows[(rows["condition"] == condition) & (rows["defense.privacy"] == privacy)]
        if len(some):
            found.append((condition, privacy, some))
    return found


@cache
def _printed() -> dict[tuple[str, ...], float]:
    """Return the paper's numbers by dataset, condition, privacy and metric."""
    paper = read_paper(share("experiments") / "maad2023")
    keys = ("dataset", "condition", "defense.privacy")
    return {(*(n.selectors[k] for k in keys), n.metric): n.ours for t in paper.tables for n in t.numbers}


def _bars(axis: Any, points: dict[str, pd.DataFrame], metrics: dict[str, str], printed: bool) -> None:
    """Draw a group of bars a point: a metric's mean with its spread, a diamond for what the paper prints."""
    width = 0.8 / len(metrics)
    for i, (metric, name) in enumerate(metrics.items()):
        at = np.arange(len(points)) + (i - (len(metrics) - 1) / 2) * width
        means = [some[metric].mean() for some in points.values()]
        halves = [bar_half(some[metric]) for some in points.values()]
        axis.bar(at, means, width, color=COLOURS[i], label=name)
        axis.errorbar(at, means, halves, fmt="none", ecolor="0.15", elinewidth=1.1, capsize=min(3, 12 * width))
        for x, some in zip(at, points.values()):
            said = _printed().get((*some.iloc[0][["dataset", "condition", "defense.privacy"]], metric))
            if printed and said is not None:
                axis.plot(x, said, "D", markersize=4.5, color="white", markeredgecolor="0.1", zorder=5)
    axis.set_xticks(range(len(points)), list(points), fontsize=8.5)
    axis.grid(axis="x", visible=False)


def _splits(points: Iterable[pd.DataFrame]) -> str:
    """Say how many splits the points have: "10 splits", "3 to 10 splits"."""
    return how_many((some["seed"].nunique() for some in points), "split")


def _bars_say(points: Iterable[pd.DataFrame]) -> str:
    """Say what the error bars of these points are."""
    return bars_say((some["seed"].nunique() for some in points), "split")


def _legend_above(axis: Any, columns: int) -> None:
    """Put a panel's legend above it, at the right, where no bar is."""
    axis.legend(ncols=columns, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1)


def _utility_and_bias(axes: Any, points: dict[str, pd.DataFrame], title: str, printed: bool = True) -> None:
    """Draw F1 in the upper axis and the average odds difference of each attribute in the lower, both from 0."""
    above, below = axes
    _bars(above, points, {"micro_f1": "micro F1", "macro_f1": "macro F1"}, printed)
    above.set(ylabel="F1", ylim=(0, 1.05))
    above.set_title(f"{title} ({_splits(points.values())})", loc="left")
    _legend_above(above, 2)
    names = attributes_of(pd.concat(points.values()))
    _bars(below, points, {f"aod_{a}": a for a in names}, printed)
    below.axhline(0, color="0.3", linewidth=0.8)
    below.set(ylabel="average odds difference")
    _legend_above(below, len(names))


def _panels(points: dict[str, dict[str, pd.DataFrame]], title: str) -> Any:
    """Draw utility and bias of each dataset, two datasets side by side."""
    if not points:
        return None
    figure, axes = canvas(columns=min(2, len(points)), rows=2 * -(-len(points) // 2), width=7.2, height=3.0)
    for place, (dataset, some) in enumerate(points.items()):
        row, column = 2 * (place // 2), place % 2
        _utility_and_bias(axes[row : row + 2, column], some, TITLES[dataset])
    for axis in axes.flat:
        axis.set_visible(axis.has_data())
    every = [point for some in points.values() for point in some.values()]
    heading(figure, f"{title}; {_bars_say(every)}; diamonds: the paper")
    return figure


def conditions(rows: pd.DataFrame) -> Any:
    """Tables 2 to 4 as bars: F1 above, average odds difference of each attribute below."""
    rows = printed_points(rows)
    points = {
        dataset: {_label(c, p): some for c, p, some in _points(rows[rows["dataset"] == dataset])}
        for dataset in TITLES
        if dataset in set(rows["dataset"])
    }
    return _panels(points, "maad2023, Tables 2 to 4: utility and bias in four conditions")


def budgets(rows: pd.DataFrame) -> Any:
    """Draw what is claimed and what is spent, on a logarithmic scale."""
    rows = printed_points(rows)
    rows = rows[rows["condition"].isin(["dp", "dp_debias"])]
    datasets = [d for d in TITLES if d in set(rows["dataset"])]
    if not datasets:
        return None
    figure, axes = canvas(columns=len(datasets), width=4.2, height=4.2, sharey=True)
    looks = {"epsilon_claimed": "claimed", "epsilon_spent": "spent, real sensitivity", "epsilon_proven": "proven"}
    for axis, dataset in zip(axes[0], datasets):
        points = _points(rows[rows["dataset"] == dataset])
        written = [""] * len(points)
        for i, (metric, name) in enumerate(looks.items()):
            at = np.arange(len(points)) + (i - 1) * 0.27
            values = [some[metric].mean() for *_, some in points]
            axis.plot(at, values, "osD"[i], color=COLOURS[i], markersize=8, label=name)
            for x, value, before in zip(at, values, written):
                said = f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"
                if said == before:  # one number stands for equal neighbours
                    continue
                place = {"xytext": (0, 7), "textcoords": "offset points", "ha": "center", "fontsize": 9}
                axis.annotate(said, (x, value), **place)
            written = [f"{value:,.3g}" for value in values]
        axis.set_yscale("log")
        axis.set_xticks(range(len(points)), [_label(c, p).replace(" + ", "\n+ ") for c, p, _ in points], fontsize=10)
        axis.grid(axis="x", visible=False)
        axis.set(title=TITLES[dataset], ylim=(1, 3e6), xlim=(-0.6, len(points) - 0.4))
    axes[0][0].set_ylabel(r"$\epsilon$ at $\delta = 10^{-6}$")
    legend_below(figure, *axes[0][0].get_legend_handles_labels(), columns=3)
    figure.suptitle(
        "maad2023, Table 1: what Algorithm 1 claims to spend (the printed ε), and what it spends (equal numbers: once)"
    )
    return figure


def _sweep(rows: pd.DataFrame, x: str, label: str, title: str, log: bool) -> Any:
    """Draw micro F1 and average odds differences along an axis: a line a privacy, the mean with its 95 % interval."""
    if rows.empty or rows.groupby("defense.privacy")[x].nunique().max() < 2:
        return None
    names = attributes_of(rows)
    figure, axes = canvas(columns=1 + len(names), sharex=True)
    for privacy, some in rows.groupby("defense.privacy", sort=False):
        colour = LOOK["debias" if privacy == "none" else "dp_debias", privacy]
        for axis, metric in zip(axes[0], ["micro_f1", *(f"aod_{a}" for a in names)]):
            name = "Debias (no privacy)" if privacy == "none" else f"DP + Debias ({privacy})"
            by = some.groupby(x)[metric]
            mean, half = by.mean(), by.agg(bar_half)
            axis.errorbar(mean.index, mean, half, color=colour, label=name, linewidth=1.6, marker="o", capsize=3)
    for axis, what in zip(axes[0], ["micro F1", *(f"odds difference, {a}" for a in names)]):
        axis.set(xlabel=label, ylabel=what)
        if log:
            plain_log_ticks(axis, sorted(set(rows[x].round(2))))
        if what != "micro F1":
            axis.axhline(0, color="0.3", linewidth=0.8)
    legend_below(figure, *axes[0][0].get_legend_handles_labels())
    every = [some for _, some in rows.groupby(["defense.privacy", x])]
    heading(figure, f"{title}; {_splits(every)}; {_bars_say(every)}")
    return figure


def gamma_sweep(rows: pd.DataFrame) -> Any:
    """How much the adversary's weight matters (Adult, all else as printed)."""
    rows = at_defaults(complete(rows))
    chosen = rows["condition"].isin(["debias", "dp_debias"]) & rows["defense.privacy"].isin(["none", "joint"])
    some = rows[chosen & (rows["dataset"] == "adult_aif360")]
    return _sweep(
        some,
        "defense.gamma",
        r"weight of the adversary $\gamma$",
        "Beyond maad2023: the adversary's weight on Adult",
        False,
    )


def budget_sweep(rows: pd.DataFrame) -> Any:
    """How much the budget matters (Adult, four epochs with more or less noise)."""
    some = fronts_rows(complete(rows))
    joint = (
        (some["defense.privacy"] == "joint") & (some["defense.gamma"] == 1) & (some["defense.learning_rate"] == 1e-3)
    )
    combined = (some["defense.privacy"] == "combined") & (some["defense.gamma"] == 2)
    some = some[joint | (combined & (some["defense.learning_rate"] == 3e-4))]
    some = some.assign(epsilon=some["epsilon_spent"].round(3))
    title = r"Beyond maad2023: smaller budgets on Adult (joint: $\gamma = 1$; combined: $\gamma = 2$, rate 0.0003)"
    return _sweep(some, "epsilon", r"$\epsilon$ spent", title, True)


def fronts(rows: pd.DataFrame) -> Any:
    """Draw micro F1 against what is left of the bias by sex, a line over γ for each way and learning rate."""
    rows = complete(rows)
    some = fronts_rows(rows)
    some = some[some["defense.sigma"] == 0.5]
    ways = ["defense.privacy", "defense.learning_rate"]
    if len(some[ways].drop_duplicates()) < 2:
        return None
    figure, axes = canvas(width=7.2, height=4.8)
    axis = axes[0][0]
    for (privacy, rate), found in some.groupby(ways):
        by = found.groupby("defense.gamma")[["micro_f1", "aod_sex"]]
        mean, half = by.mean(), by.agg(bar_half)
        look = {"xerr": half["aod_sex"], "yerr": half["micro_f1"], "elinewidth": 0.7, "capsize": 2}
        look |= {"color": LOOK["dp_debias", privacy], "marker": "o" if rate < 1e-3 else "s"}
        axis.errorbar(mean["aod_sex"], mean["micro_f1"], **look, label=f"{privacy}, rate {rate:g}")
        for gamma, row in mean.iterrows():
            axis.annotate(
                f"{gamma:g}", (row["aod_sex"], row["micro_f1"]), (5, -11), textcoords="offset points", fontsize=10
            )
    base = rows[(rows["condition"] == "baseline") & (rows["dataset"] == "adult_aif360")]
    bias, level = base["aod_sex"].mean(), base["micro_f1"].mean()
    axis.plot(bias, level, "*", markersize=14, color="0.2", label="baseline, no privacy")
    axis.fill_between([bias / 2, 0.02], level - 0.01, level + 0.003, color="0.9", zorder=0)
    axis.annotate("half the bias for at most 0.01", (bias / 2, level + 0.003), fontsize=10, va="bottom")
    axis.axvline(0, color="0.3", linewidth=0.8)
    # the means decide what is shown: an interval of two splits is wider than all of them together
    means = some.groupby([*ways, "defense.gamma"])[["aod_sex", "micro_f1"]].mean()
    low, high = (getattr(means, end)() for end in ("min", "max"))
    axis.set_xlim(min(low["aod_sex"], bias) - 0.03, max(high["aod_sex"], 0.0) + 0.03)
    axis.set_ylim(min(low["micro_f1"], level) - 0.02, max(high["micro_f1"], level) + 0.01)
    axis.set(xlabel="average odds difference by sex", ylabel="micro F1")
    legend_below(figure, *axis.get_legend_handles_labels(), columns=2)
    every = [found for _, found in some.groupby([*ways, "defense.gamma"])]
    said = f"{_splits(every)}; {_bars_say(every)}"
    heading(figure, f"Beyond maad2023: bias against utility, Adult, ε = 4 (γ at each point)\n{said}", fontsize=11)
    return figure


def unprinted(rows: pd.DataFrame) -> Any:
    """Draw what clipping bound and learning rate, which are not printed, do to DP alone (as printed)."""
    rows = complete(rows)
    points = {}
    for dataset in TITLES:
        by = unprinted_rows(rows, dataset).groupby(["defense.clip", "defense.learning_rate"])
        if len(by) > 1:
            points[dataset] = {f"C = {clip:g}\nrate {rate:g}": some for (clip, rate), some in by}
    return _panels(points, "maad2023, DP as printed: settings that the paper leaves open")


def public(rows: pd.DataFrame) -> Any:
    """Draw the four conditions of the public algorithm, with the paper's numbers."""
    rows = complete(rows)
    rows = rows[rows["condition"].isin(PUBLIC)]
    points = {}
    for dataset, some in rows.groupby("dataset", sort=False):
        # named as the paper's conditions, so that its numbers are drawn beside them
        points[dataset] = {
            name: some[some["condition"] == key].assign(condition=key.removeprefix("public_"))
            for key, name in PUBLIC.items()
            if (some["condition"] == key).any()
        }
    return _panels(
        points, "maad2023, by the algorithm of AIF360's pull request 460: noise in the predictor's training alone"
    )


def mitigations(rows: pd.DataFrame) -> Any:
    """Debiasing beside fairlearn's adversary and DP post-processing (Adult)."""
    rows = at_defaults(complete(rows))
    rows = rows[(rows["dataset"] == "adult_aif360") & ~rows["defense.privacy"].isin(["printed", "combined"])]
    points = {}
    for condition in ("baseline", "debias", "fairlearn_adversarial", "dp_debias", "dp_postprocess"):
        for gamma, found in rows[rows["condition"] == condition].groupby("defense.gamma", dropna=False):
            letter = "\\alpha" if condition == "fairlearn_adversarial" else "\\gamma"
            weight = "" if np.isnan(gamma) or condition == "baseline" else f"\n${letter}$ = {gamma:g}"
            points[CONDITIONS[condition].replace("DP post-", "DP post-\n") + weight] = found
    if not set(rows["condition"]) & {"fairlearn_adversarial", "dp_postprocess"}:
        return None
    figure, axes = canvas(rows=2, width=max(6.6, 0.95 * len(points)), height=3.0, sharex="col")
    title = "Beyond maad2023: adversarial debiasing, ours and fairlearn's, and DP post-processing"
    _utility_and_bias(axes[:, 0], points, "Adult", printed=False)  # the paper prints one weight only
    heading(figure, f"{title}; {_bars_say(points.values())}")
    return figure


def learning(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """Losses of predictor and adversary along training (first split)."""
    rows = printed_points(rows)
    datasets = [d for d in TITLES if d in set(rows["dataset"])]
    figure, drawn = None, False
    if datasets:
        figure, axes = canvas(columns=len(datasets), rows=2, height=2.8, sharex="col")
    for column, dataset in enumerate(datasets):
        for _, privacy, some in _points(rows[(rows["dataset"] == dataset)]):
            row = some.iloc[0]
            debias = row["condition"] in ("debias", "dp_debias")  # the column holds words: "False" is true
            wanted = {"dataset": dataset, "seed": 0, "defense__privacy": privacy, "defense__algorithm": None}
            wanted |= {"defense__debias": debias, "defense__gamma": row["defense.gamma"]}
            found = arrays(**wanted)
            if not found:
                continue
            drawn = True
            epochs = (np.arange(len(found["losses"])) + 0.5) / len(found["losses"]) * row["epochs"]
            name = _label(row["condition"], privacy).replace("\n", " ")
            for k in (0, 1) if debias else (0,):
                look = {"color": LOOK[row["condition"], privacy], "linewidth": 1.3, "label": name}
                axes[k][column].plot(epochs, found["losses"][:, k], **look)
        axes[0][column].set(title=TITLES[dataset], ylabel="predictor's loss")
        axes[1][column].set(xlabel="epoch", ylabel="adversary's loss")
    if not drawn:
        return None
    legend_below(figure, *axes[0][0].get_legend_handles_labels(), columns=6)
    figure.suptitle("Beyond maad2023: losses along training (first split, one run each)")
    return figure


def all_figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return every figure for which there are cells."""
    made = {
        "conditions": conditions(rows),
        "budget_claimed_and_spent": budgets(rows),
        "gamma": gamma_sweep(rows),
        "epsilon": budget_sweep(rows),
        "unprinted_settings": unprinted(rows),
        "fronts": fronts(rows),
        "public_algorithm": public(rows),
        "mitigations": mitigations(rows),
        "learning": learning(rows, arrays),
    }
    return {name: figure for name, figure in made.items() if figure is not None}
