"""Figures of ldp_leakage: guesses against ε, the closed form against simulation, leakage against fairness."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.report.arcolezi2023.figures import COLOUR, LABEL, MARKERS, SMALL
from fairpriv.report.arcolezi2023.rows import SPLITS, in_order, title
from fairpriv.report.figures import canvas, heading, legend_below
from fairpriv.report.ldp_leakage.tables import POINT, joined
from fairpriv.report.page import names
from fairpriv.report.summary import half_width

FEATURES = {"color": "black", "linestyle": "--", "linewidth": 1.4}
GUESS = {"color": "0.5", "linestyle": ":", "linewidth": 1.4}
LEAST = 1e-4  # bits; what is estimated below is the noise of ten thousand people
MOST = {"color": "#B00020", "linestyle": "-", "linewidth": 0.9}


def _curve(axis: Any, some: pd.DataFrame, metric: str, at: dict[float, int], name: str) -> None:
    seeds = some.groupby("epsilon")[metric]
    mean, half = seeds.mean(), seeds.agg(half_width).fillna(0)
    x = [at[e] for e in mean.index]
    axis.plot(x, mean, color=COLOUR[name], marker=MARKERS[name], markersize=3.5, linewidth=1.1, label=LABEL[name])
    axis.fill_between(x, mean - half, mean + half, color=COLOUR[name], alpha=0.12, linewidth=0)


def by_epsilon(rows: pd.DataFrame, measure: str, words: str) -> Any:
    """Draw an attribute a row; reports alone and with other attributes, under each split, a column."""
    attributes, splits = list(rows["attribute"].unique()), [s for s in SPLITS if s in set(rows["defense.split"])]
    at = {e: i for i, e in enumerate(sorted(rows["epsilon"].unique()))}
    columns = [(split, view) for split in splits for view in ("reports", "both")]
    figure, axes = canvas(len(columns), len(attributes), width=3.1, height=2.0, sharex=True, sharey="row")
    for row, attribute in zip(axes, attributes):
        of = rows[rows["attribute"] == attribute]
        for axis, (split, view) in zip(row, columns):
            some = of[of["defense.split"] == split]
            for name in (p for p in PROTOCOLS if p in set(some["defense.protocol"])):
                _curve(axis, some[some["defense.protocol"] == name], f"{measure}_{view}", at, name)
            _limits(axis, some, measure, view, at)
            axis.set_xticks(range(len(at)), [f"{e:g}" for e in at], fontsize=8)
        row[0].set_ylabel(f"{names.value(attribute)}\n({of['k'].iloc[0]} values)", fontsize=10)
    for axis, (split, view) in zip(axes[0], columns):
        told = "reports alone" if view == "reports" else "reports and other attributes"
        axis.set_title(f"{SPLITS[split]} split:\n{told}", fontsize=10.5)
    for axis in axes[-1]:
        axis.set_xlabel("ε, all attributes together", fontsize=10)
    named = {n: line for line, n in zip(*axes[0][0].get_legend_handles_labels())}
    legend_below(figure, list(named.values()), list(named), **SMALL)
    of = f"{title(rows['dataset'].iloc[0])}, {words}"
    heading(figure, f"What LDP reports tell: {of} ({rows['seed'].nunique()} seeds, 95 % bands)")
    return figure


def _limits(axis: Any, some: pd.DataFrame, measure: str, view: str, at: dict[float, int]) -> None:
    """Draw what is guessed without reports, and the most that ε-LDP lets any report tell."""
    nothing = some["guess"].mean() if measure == "acc" else 1 / some["k"].iloc[0]
    axis.axhline(some[f"{measure}_features"].mean(), label="other attributes alone", **FEATURES)
    axis.axhline(nothing, label="neither", **GUESS)
    if measure == "bal":
        most = some.groupby("epsilon")["bal_most"].mean()
        alone = [at[e] for e in most.index], most
        axis.plot(*(alone if view == "reports" else ([], [])), label="most that any ε-LDP report tells", **MOST)


def closed_form(rows: pd.DataFrame) -> Any:
    """Draw simulated accuracy over the closed form, a dot a setting: on the line where they agree."""
    known = rows[rows["bal_closed_form"].notna()]
    if known.empty:
        return None
    shown = [f"{measure}_{of}" for measure in ("acc", "bal") for of in ("closed_form", "reports")]
    by = known.groupby(POINT, sort=False)
    known, seeds = by[shown].mean().reset_index(), by["seed"].nunique().max()
    figure, axes = canvas(2, 1, width=4.6, height=4.2)
    panels = {"acc": "accuracy, true shares as prior", "bal": "balanced accuracy"}
    for axis, (measure, words) in zip(axes[0], panels.items()):
        for name in (p for p in PROTOCOLS if p in set(known["defense.protocol"])):
            some = known[known["defense.protocol"] == name]
            look = {
                "s": 9,
                "marker": MARKERS[name],
                "color": COLOUR[name],
                "alpha": 0.5,
                "linewidths": 0.6,
                "rasterized": True,
            }
            axis.scatter(some[f"{measure}_closed_form"], some[f"{measure}_reports"], label=LABEL[name], **look)
        axis.plot([0, 1], [0, 1], color="black", linewidth=0.9)
        axis.set(title=words, xlabel="closed form", ylabel="Bayes attacker on reports")
    legend_below(figure, *axes[0][0].get_legend_handles_labels(), **SMALL, markerscale=2)
    heading(
        figure, f"What LDP reports tell: simulation against the closed form ({len(known):,} means of {seeds} seeds)"
    )
    return figure


def figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return every figure these rows can give, by file name."""
    made = {}
    for dataset in in_order(rows["dataset"]):
        some = rows[rows["dataset"] == dataset]
        made[f"guesses_{dataset}"] = by_epsilon(some, "bal", "how often each attribute is guessed, all values alike")
        made[f"accuracy_{dataset}"] = by_epsilon(some, "acc", "how often each attribute is guessed")
    made["closed_form"] = closed_form(rows)
    return {name: figure for name, figure in made.items() if figure is not None}


def _against(axis: Any, some: pd.DataFrame, leak: str, metric: str, at: dict[float, int]) -> Any:
    """Scatter a metric over leakage: colour is ε, the mark the protocol, hollow the k-based split."""
    dots = None
    for (name, split), one in some.groupby(["defense.protocol", "defense.split"]):
        colour = np.array([at[e] for e in one["epsilon"]])
        look = {"marker": MARKERS[str(name)], "s": 30, "vmin": 0, "vmax": max(1, len(at) - 1), "cmap": "viridis"}
        dots = axis.scatter(one[leak].clip(lower=LEAST), one[metric], c=colour, linewidths=1.1, **look)
        if split == "k_based" and MARKERS[str(name)] not in "x+":
            dots.set_facecolor("none")
            dots.set_edgecolor(dots.cmap(dots.norm(colour)))
    axis.axhline(some[f"nondp_{metric}"].iloc[0], **FEATURES)
    return dots


def against_fairness(both: pd.DataFrame) -> Any:
    """Draw unfairness and utility of the model over what the reports tell of the protected attribute and of all."""
    datasets = in_order(both["dataset"])
    at = {e: i for i, e in enumerate(sorted(both["epsilon"].unique()))}
    panels = [
        ("bits_reports", "spd", "|SPD| (down: fairer)", "of the protected attribute"),
        ("all_bits_reports", "balanced_accuracy", "balanced accuracy", "of all four attributes"),
    ]
    figure, axes = canvas(len(datasets), 2, width=4.4, height=3.3)
    dots = None
    for row, (leak, metric, words, whose) in zip(axes, panels):
        for axis, dataset in zip(row, datasets):
            dots = _against(axis, both[both["dataset"] == dataset], leak, metric, at)
            axis.set_xscale("log")
            axis.set_xlabel(f"bits that reports tell {whose}", fontsize=9)
        row[0].set_ylabel(words)
    for axis, dataset in zip(axes[0], datasets):
        axis.set_title(title(dataset))
    said = f"means over seeds; at {LEAST:g} bits: that or less"
    heading(figure, f"What LDP reports tell, and how fair and useful the model is that learns from them ({said})")
    bar = figure.colorbar(dots, ax=axes, ticks=range(len(at)), label="ε", pad=0.01)
    bar.ax.set_yticklabels([f"{e:g}" for e in at])
    seen = [n for n in PROTOCOLS if n in set(both["defense.protocol"])]
    grey = {"linestyle": "", "color": "0.3", "markersize": 5}
    lines = [axes[0][0].plot([], [], marker=MARKERS[n], **grey)[0] for n in seen]
    lines.append(axes[0][0].plot([], [], marker="s", markerfacecolor="none", **grey)[0])
    lines.append(axes[0][0].plot([], [], **FEATURES)[0])
    legend_below(figure, lines, [*(LABEL[n] for n in seen), "hollow: k-based", "NonDP"], **SMALL)
    return figure


def figures_beside(rows: pd.DataFrame, fairness: pd.DataFrame) -> dict[str, Any]:
    """Return leakage against fairness and utility."""
    both = joined(rows, fairness)
    return {"against_fairness": against_fairness(both)} if len(both) else {}
