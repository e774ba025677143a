"""Figures of maad_private: the tables at a glance, the ε spent, and the sweeps."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.paths import share
from fairpriv.report.figures import COLOURS, canvas, legend_below, plain_log_ticks
from fairpriv.report.maad2023.tables import CONDITIONS, at_defaults, attributes_of, complete, printed_points
from fairpriv.report.papers import read_paper

TITLES = {
    "adult_aif360": "Adult",
    "compas_aif360": "COMPAS",
    "hate_speech": "Hate speech",
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
    """Draw a group of bars a point, a bar a metric (the mean), a dot a split; a diamond what the paper prints."""
    width = 0.8 / len(metrics)
    for i, (metric, name) in enumerate(metrics.items()):
        at = np.arange(len(points)) + (i - (len(metrics) - 1) / 2) * width
        axis.bar(at, [some[metric].mean() for some in points.values()], width, color=COLOURS[i], label=name)
        for x, some in zip(at, points.values()):
            axis.plot(np.full(len(some), x), some[metric], "o", markersize=2.5, color="0.15", alpha=0.7)
            said = _printed().get((*some.iloc[0][["dataset", "condition", "defense.privacy"]], metric))
            if printed and said is not None:
                axis.plot(x + 0.3 * width, said, "D", markersize=4.5, color="white", markeredgecolor="0.1")
    axis.set_xticks(range(len(points)), list(points), fontsize=8.5)
    axis.grid(axis="x", visible=False)


def _utility_and_bias(axes: Any, points: dict[str, pd.DataFrame], title: str, printed: bool = True) -> None:
    """Draw F1 in the upper axis and the average odds difference of each attribute in the lower."""
    above, below = axes
    _bars(above, points, {"micro_f1": "micro F1", "macro_f1": "macro F1"}, printed)
    lowest = min(some[["micro_f1", "macro_f1"]].min().min() for some in points.values())
    above.set(title=title, ylabel="F1", ylim=(min(0.3, lowest - 0.05), 0.95))
    above.legend(ncols=2, fontsize=9, loc="upper right")
    said = "dots: splits; diamonds: the paper" if printed else "dots: splits"
    above.annotate(said, (0.01, 0.93), xycoords="axes fraction", fontsize=9)
    _bars(below, points, {f"aod_{a}": a for a in attributes_of(pd.concat(points.values()))}, printed)
    below.axhline(0, color="0.3", linewidth=0.8)
    below.set(ylabel="average odds difference")
    below.margins(y=0.25)
    below.legend(ncols=2, fontsize=9, loc="lower right")


def conditions(rows: pd.DataFrame) -> Any:
    """Tables 2 to 4 as bars: F1 above, average odds difference of each attribute below."""
    rows = printed_points(rows)
    datasets = [d for d in TITLES if d in set(rows["dataset"])]
    if not datasets:
        return None
    figure, axes = canvas(columns=len(datasets), rows=2, width=6.6, height=3.2, sharex="col")
    for column, dataset in enumerate(datasets):
        points = {_label(c, p): some for c, p, some in _points(rows[rows["dataset"] == dataset])}
        _utility_and_bias(axes[:, column], points, TITLES[dataset])
    figure.suptitle("maad2023: utility and bias in four conditions")
    return figure


def budgets(rows: pd.DataFrame) -> Any:
    """Draw what is claimed and what is spent, on a logarithmic scale."""
    rows = printed_points(rows)
    rows = rows[rows["condition"].isin(["dp", "dp_debias"])]
    datasets = [d for d in TITLES if d in set(rows["dataset"])]
    if not datasets:
        return None
    figure, axes = canvas(columns=len(datasets), width=5.4, height=3.6, sharey=True)
    looks = (("epsilon_claimed", "claimed"), ("epsilon_spent", "at the real sensitivity"), ("epsilon_proven", "proven"))
    for axis, dataset in zip(axes[0], datasets):
        points = _points(rows[rows["dataset"] == dataset])
        for i, (metric, name) in enumerate(looks):
            at = np.arange(len(points)) + (i - 1) * 0.27
            values = [some[metric].mean() for *_, some in points]
            axis.bar(at, values, 0.25, color=COLOURS[i], label=name)
            for x, value in zip(at, values):
                axis.annotate(
                    f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
                    (x, value),
                    ha="center",
                    va="bottom",
                    fontsize=7.5,
                )
        axis.set_yscale("log")
        axis.set_xticks(range(len(points)), [_label(c, p) for c, p, _ in points], fontsize=9)
        axis.grid(axis="x", visible=False)
        axis.set(title=TITLES[dataset], ylim=(1, 3e6))
    axes[0][0].set_ylabel(r"$\epsilon$ at $\delta = 10^{-6}$")
    axes[0][0].legend(fontsize=9, loc="upper left")
    figure.suptitle("What Algorithm 1 claims to spend, and spends")
    return figure


def _sweep(rows: pd.DataFrame, x: str, label: str, title: str, log: bool) -> Any:
    """Draw micro F1 and average odds differences along an axis: one line (the mean) a privacy, a dot a split."""
    if rows.empty or rows.groupby("defense.privacy")[x].nunique().max() < 2:
        return None
    names = attributes_of(rows)
    figure, axes = canvas(columns=1 + len(names), sharex=True)
    for i, (privacy, some) in enumerate(rows.groupby("defense.privacy", sort=False)):
        for axis, metric in zip(axes[0], ["micro_f1", *(f"aod_{a}" for a in names)]):
            name = "no privacy" if privacy == "none" else f"DP ({privacy})"
            mean = some.groupby(x)[metric].mean()
            axis.plot(mean.index, mean, color=COLOURS[i], label=name, linewidth=1.6)
            axis.plot(some[x], some[metric], "o", markersize=4, color=COLOURS[i], alpha=0.6)  # a dot a split
    for axis, what in zip(axes[0], ["micro F1", *(f"average odds difference, {a}" for a in names)]):
        axis.set(xlabel=label, ylabel=what)
        if log:
            plain_log_ticks(axis, sorted(set(rows[x].round(2))))
        if what != "micro F1":
            axis.axhline(0, color="0.3", linewidth=0.8)
    axes[0][0].legend(fontsize=9)
    figure.suptitle(title)
    return figure


def gamma_sweep(rows: pd.DataFrame) -> Any:
    """How much the adversary's weight matters (Adult, σ = 0.5)."""
    rows = complete(rows)
    chosen = rows["condition"].isin(["debias", "dp_debias"]) & (rows["defense.sigma"] == 0.5)
    some = rows[chosen & (rows["dataset"] == "adult_aif360") & (rows["defense.privacy"] != "printed")]
    return _sweep(some, "defense.gamma", r"weight of the adversary $\gamma$", "Adult: the adversary's weight", False)


def budget_sweep(rows: pd.DataFrame) -> Any:
    """How much the budget matters (Adult, γ = 1, four epochs with more or less noise)."""
    rows = complete(rows)
    chosen = (rows["condition"] == "dp_debias") & (rows["defense.privacy"] == "joint") & (rows["defense.gamma"] == 1)
    some = rows[chosen & (rows["dataset"] == "adult_aif360")]
    some = some.assign(epsilon=some["epsilon_spent"].round(3))
    return _sweep(some, "epsilon", r"$\epsilon$ spent", r"Adult: smaller budgets ($\gamma = 1$)", True)


def unprinted(rows: pd.DataFrame) -> Any:
    """Draw what clipping bound and learning rate, which are not printed, do to DP alone (as printed, Adult)."""
    rows = complete(rows)
    some = rows[
        (rows["condition"] == "dp") & (rows["defense.privacy"] == "printed") & (rows["dataset"] == "adult_aif360")
    ]
    by = some.groupby(["defense.clip", "defense.learning_rate"])
    if len(by) < 2:
        return None
    points = {f"C = {clip:g}\nrate {rate:g}": found for (clip, rate), found in by}
    figure, axes = canvas(rows=2, width=6.6, height=3.0, sharex="col")
    _utility_and_bias(axes[:, 0], points, "Adult, DP as printed: settings that the paper leaves open")
    return figure


def mitigations(rows: pd.DataFrame) -> Any:
    """Debiasing beside fairlearn's adversary and DP post-processing (Adult)."""
    rows = at_defaults(complete(rows))
    rows = rows[(rows["dataset"] == "adult_aif360") & (rows["defense.privacy"] != "printed")]
    points = {}
    for condition in ("baseline", "debias", "fairlearn_adversarial", "dp_debias", "dp_postprocess"):
        for gamma, found in rows[rows["condition"] == condition].groupby("defense.gamma", dropna=False):
            letter = "\\alpha" if condition == "fairlearn_adversarial" else "\\gamma"
            weight = "" if np.isnan(gamma) or condition == "baseline" else f"\n${letter}$ = {gamma:g}"
            points[CONDITIONS[condition].replace("DP post-", "DP post-\n") + weight] = found
    if not set(rows["condition"]) & {"fairlearn_adversarial", "dp_postprocess"}:
        return None
    figure, axes = canvas(rows=2, width=max(6.6, 0.95 * len(points)), height=3.0, sharex="col")
    title = "Adult: adversarial debiasing, ours and fairlearn's, and DP post-processing"
    _utility_and_bias(axes[:, 0], points, title, printed=False)  # the paper prints one weight only
    return figure


def learning(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """Losses of predictor and adversary along training (first split)."""
    rows = printed_points(rows)
    datasets = [d for d in TITLES if d in set(rows["dataset"])]
    figure, drawn = None, False
    if datasets:
        figure, axes = canvas(columns=len(datasets), rows=2, height=2.8, sharex="col")
    for column, dataset in enumerate(datasets):
        for i, (_, privacy, some) in enumerate(_points(rows[(rows["dataset"] == dataset)])):
            row = some.iloc[0]
            wanted = {"dataset": dataset, "seed": 0, "defense__privacy": privacy}
            wanted |= {"defense__debias": bool(row["defense.debias"]), "defense__gamma": row["defense.gamma"]}
            found = arrays(**wanted)
            if not found:
                continue
            drawn = True
            epochs = (np.arange(len(found["losses"])) + 0.5) / len(found["losses"]) * row["epochs"]
            name = _label(row["condition"], privacy).replace("\n", " ")
            for k in (0, 1) if row["defense.debias"] else (0,):
                axes[k][column].plot(epochs, found["losses"][:, k], color=COLOURS[i], linewidth=1.3, label=name)
        axes[0][column].set(title=TITLES[dataset], ylabel="predictor's loss")
        axes[1][column].set(xlabel="epoch", ylabel="adversary's loss")
    if not drawn:
        return None
    legend_below(figure, *axes[0][0].get_legend_handles_labels(), columns=3, fontsize=9)
    figure.suptitle("Losses along training (first split)")
    return figure


def all_figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return every figure for which there are cells."""
    made = {
        "conditions": conditions(rows),
        "budget_claimed_and_spent": budgets(rows),
        "gamma": gamma_sweep(rows),
        "epsilon": budget_sweep(rows),
        "unprinted_settings": unprinted(rows),
        "mitigations": mitigations(rows),
        "learning": learning(rows, arrays),
    }
    return {name: figure for name, figure in made.items() if figure is not None}
