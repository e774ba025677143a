"""Figures 1 to 4 of hamman2023."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.hamman2023 import beyond
from fairpriv.report.hamman2023.drawing import (
    DECODER_STYLE,
    NOISELESS,
    PRINTED,
    STYLE,
    finite,
    line,
    mark_printed,
    printed,
    seeds,
    where,
)
from fairpriv.report.hamman2023.tables import DECODER_NAMES, NAMES, of_mechanisms, with_axes
from fairpriv.report.summary import bar_half

RIVALS = ("conceal", "conceal_tight", "conceal_aware")  # drawn in Figures 1a and 4a


def answered_gaps(axis: Any, found: dict[str, np.ndarray]) -> None:
    """Draw true and answered gaps, the answers clipped to the metric's range; the legend above all of them."""
    gaps, answers = found["gaps"], np.clip(found["answers"], -1, 1)
    index, few = np.arange(1, len(gaps) + 1), len(gaps) <= 100
    colour = STYLE["conceal"]
    axis.vlines(index, gaps, answers, color=colour, alpha=0.35 if few else 0.12, linewidth=1)
    axis.plot(index, answers, "x", color=colour, markersize=4 if few else 2, label="answered")
    axis.plot(index, gaps, ".", color=NOISELESS, markersize=5 if few else 2, label="true")
    axis.set(xlabel="query", ylabel="statistical parity gap", ylim=(-1.08, 1.35))
    axis.legend(loc="upper right", ncols=2, fontsize=9, markerscale=1 if few else 2.5)


def recovered(axis: Any, truth: np.ndarray, *found: tuple[str, np.ndarray, str]) -> None:
    """Draw the true s̄ and recovered ones for everybody, group 0 first."""
    order = np.argsort(-truth, kind="stable")
    index, few = np.arange(1, len(order) + 1), len(order) <= 100
    axis.fill_between(index, truth[order], step="mid", color="0.75", label="true", linewidth=0)
    for label, values, colour in found:
        look = {"markersize": 4 if few else 2, "color": colour}
        axis.plot(index, values[order], ".", label=label, **look)
    axis.axhline(truth.max() / 2, color="0.4", linewidth=0.8, linestyle=":")
    axis.set(xlabel="person (group 0 first)", ylabel=r"$\bar{s}_j$", xlim=(-0.01 * len(order), 1.01 * len(order)))
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.22 * (high - low))  # room for the legend
    look = {"handlelength": 1.2, "handletextpad": 0.4, "columnspacing": 1.0, "markerscale": 1 if few else 2.5}
    axis.legend(loc="upper right", ncols=len(found) + 1, fontsize=9, **look)


def _by_queries(axis: Any, rows: pd.DataFrame, epsilon: float, y: str, unit: str, most: float) -> None:
    """Draw what is recovered (at most `most`) against the number of queries, without noise and under each rival."""
    noiseless = rows[np.isinf(rows["epsilon"].astype(float))]
    exact = where(noiseless, attack__decoder="l1", defense="conceal")
    line(axis, exact, "m", y, most, color=NOISELESS, label="no noise")
    noisy = rows[rows["epsilon"] == epsilon]
    for defense in RIVALS:
        for decoder, dash in (("l1", "-"), ("maximum_likelihood", "--")):
            some = where(noisy, attack__decoder=decoder, defense=defense)
            if some["m"].nunique() > 1:
                label = NAMES[defense].split(" (")[0] + ("" if decoder == "l1" else ", likelihood decoder")
                line(axis, some, "m", y, most, color=STYLE[defense], linestyle=dash, label=label)
    axis.set(xlabel="number of queries m", ylabel=unit)


def figure1(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """Adult, n = 100: leakage against queries; answered gaps; recovered s̄."""
    adult = where(rows, dataset="adult_race", n=100)
    point = {"dataset": "adult_race", "n": 100, "m": 40, "defense": "conceal", "attack__decoder": "l1", "seed": 0}
    noisy = arrays(epsilon=100, **point)
    if adult["m"].nunique() < 2 or not noisy:
        return None
    figure, axes = canvas(columns=3, height=4.3)
    a, b, c = axes[0]
    _by_queries(a, adult, 100, "leakage", "leakage (%)", 100)
    setting = {"dataset": "adult_race", "n": 100, "epsilon": "100"}
    mark_printed(a, printed("leakage", "conceal", **setting), "m", STYLE["conceal"], "printed (Table 1), ε = 100")
    a.scatter([25, 40], [63, 100], edgecolors=NOISELESS, label="printed (Table 1), no noise", **PRINTED)
    a.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
    a.set(title="(a) leakage, ε = 100", ylim=(35, 106))
    legend_below(figure, *a.get_legend_handles_labels(), columns=3, fontsize=9)
    answered_gaps(b, noisy)
    error = np.abs(np.clip(noisy["answers"], -1, 1) - noisy["gaps"]).mean()
    b.set_title(f"(b) answers, m = 40, ε = 100: off by {error:.2f}\non average (printed: 0.00074)", fontsize=11)
    recovered(c, noisy["s_true"], ("with Attribute-Conceal", noisy["s_found"], STYLE["conceal"]))
    c.set_title(r"(c) recovered $\bar{s}$, m = 40, ε = 100")
    shown = adult[(adult["epsilon"] == 100) | np.isinf(adult["epsilon"].astype(float))]
    figure.suptitle(f"hamman2023, Figure 1: Adult, n = 100 (a: means of {seeds(shown)}, 95 % bands; b, c: one seed)")
    return figure


def _tradeoff_curve(axis: Any, some: pd.DataFrame, colour: str, look: str, label: str | None, named: set) -> None:
    """Draw error against leakage along ε with both intervals, and write ε at the points that are to be named."""
    grouped = some.groupby("epsilon")[["sp_error", "leakage"]]
    mean, half = grouped.mean(), grouped.agg(bar_half).fillna(0)
    axis.errorbar(
        mean["sp_error"],
        mean["leakage"],
        xerr=np.minimum(half["sp_error"], 0.95 * mean["sp_error"]),
        yerr=half["leakage"],
        fmt=look,
        marker="o",
        markersize=4,
        linewidth=1.3,
        elinewidth=0.6,
        color=colour,
        label=label,
    )
    for epsilon in named & set(mean.index):
        _name_epsilon(axis, epsilon, mean.loc[epsilon, "sp_error"], mean.loc[epsilon, "leakage"], colour)


def _name_epsilon(axis: Any, epsilon: float, x: float, y: float, colour: str, below: bool = False) -> None:
    place = {"xytext": (0, -12 if below else 5), "textcoords": "offset points", "ha": "center"}
    axis.annotate(f"{epsilon:g}", (x, y), fontsize=8, color=colour, **place)


def figure2(rows: pd.DataFrame) -> Any:
    """Synthetic: error against leakage along ε, for several N0: above with the points of Table 3, below ours."""
    some = finite(where(rows, dataset="synthetic", attack__decoder="l1"))
    some = some[some.groupby(["n", "n0", "m", "defense"])["epsilon"].transform("nunique") > 2]
    if some.empty:
        return None
    sizes = sorted(some["n"].unique())
    figure, axes = canvas(columns=len(sizes), rows=2, sharey=True, height=3.7)
    above, below = {"conceal": "-"}, {"conceal_exact": "--", "conceal_aware": ":"}
    for row, looks in zip(axes, (above, below)):
        for axis, n in zip(row, sizes):
            ours = some[some["n"] == n]
            for colour, (n0, m) in zip(COLOURS, sorted(set(zip(ours["n0"], ours["m"])))):
                for defense, look in looks.items():
                    mine = where(ours, n0=n0, m=m, defense=defense)
                    if len(mine):
                        ends = {mine["epsilon"].min(), mine["epsilon"].max()} if looks is below else {500.0}
                        _tradeoff_curve(axis, mine, colour, look, None, ends - {10.0})
                if looks is above:
                    _table3(axis, {"n": int(n), "n0": int(n0), "m": int(m)}, colour)
                axis.plot([], [], "o-", color=colour, markersize=4, label=f"$N_0$ = {n0:g}, m = {m:g}")
            said = seeds(ours[ours["defense"].isin(list(looks))])
            axis.set(title=f"n = {n:,g} ({said})", xlabel="average SP error (clipped)", xscale="log", ylim=(38, 108))
            axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
            axis.legend(fontsize=9, loc="upper right")
    for row, whose in zip(axes, ("Attribute-Conceal", "ours")):
        row[0].set_ylabel(f"{whose}: leakage (%)")
    heading(
        figure,
        "hamman2023, Figure 2: synthetic people, error against leakage; along a line ε falls from 500 (written) to 10 "
        "(bars: 95 %, two seeds: range)\nabove: Attribute-Conceal, diamonds: printed in Table 3 with their ε; "
        "below: Conceal-Exact (dashed) and Conceal-Aware (dotted; swaps, $N_0$ public)",
        fontsize=11,
    )
    return figure


def _table3(axis: Any, setting: dict[str, int], colour: str) -> None:
    """Draw what Table 3 prints of a setting, with its ε."""
    at = setting | {"dataset": "synthetic"}
    errors, leaks = (
        {v["epsilon"]: v["value"] for v in printed(metric, "conceal", **at)} for metric in ("sp_error", "leakage")
    )
    axis.scatter(list(errors.values()), [leaks[e] for e in errors], edgecolors=colour, **PRINTED)
    for i, (epsilon, x) in enumerate(sorted(errors.items())):  # by turns, as neighbours lie close
        _name_epsilon(axis, epsilon, x, leaks[epsilon], colour, below=i % 2 == 1)


def figure3(arrays: Callable[..., Any]) -> Any:
    """Synthetic, n = 1000, N0 = 10, m = 60: recovered s̄ with and without noise; answered gaps."""
    point = {"dataset": "synthetic", "n": 1000, "n0": 10, "m": 60, "defense": "conceal", "attack__decoder": "l1"}
    noisy, exact = (arrays(epsilon=e, seed=0, **point) for e in (100, float("inf")))
    if not (noisy and exact):
        return None
    figure, axes = canvas(columns=2, width=5.2)
    found = (
        ("no noise", exact["s_found"], NOISELESS),
        ("with Attribute-Conceal, ε = 100", noisy["s_found"], STYLE["conceal"]),
    )
    recovered(axes[0, 0], noisy["s_true"], *found)
    axes[0, 0].set_title("recovered, all 1,000 people")
    answered_gaps(axes[0, 1], noisy)
    error = np.abs(np.clip(noisy["answers"], -1, 1) - noisy["gaps"]).mean()
    axes[0, 1].set_title(f"answers: off by {error:.2f} on average (printed: 0.0601)")
    figure.suptitle("hamman2023, Figure 3: synthetic, n = 1000, $N_0$ = 10, m = 60 (one seed)")
    return figure


def figure4(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """German: recovered attributes against queries; answered gaps; recovered s̄ without and with noise."""
    german = where(rows, dataset="german")
    point = {"dataset": "german", "m": 800, "defense": "conceal", "attack__decoder": "l1", "seed": 0}
    noisy, exact = arrays(epsilon=1000, **point), arrays(epsilon=float("inf"), **point)
    if german["m"].nunique() < 2 or not (noisy and exact):
        return None
    figure, axes = canvas(columns=2, rows=2, width=5.4, height=3.8)
    a, b, c, d = axes.ravel()
    _by_queries(a, german, 1000, "recovered", "attributes recovered (of 1,000)", 1000)
    setting = {"dataset": "german", "epsilon": "1000"}
    mark_printed(a, printed("leakage", "conceal", **setting), "m", STYLE["conceal"], "printed (Table 4)")
    a.set(title="(a) recovered attributes, ε = 1000", ylim=(0, 1050))
    a.legend(fontsize=8.5, loc="lower left", ncols=2)
    answered_gaps(b, noisy)
    error = np.abs(np.clip(noisy["answers"], -1, 1) - noisy["gaps"]).mean()
    b.set_title(f"(b) answers, m = 800, ε = 1000:\noff by {error:.3f} on average (printed: 0.00048)", fontsize=11)
    recovered(c, exact["s_true"], ("no noise", exact["s_found"], NOISELESS))
    c.set_title(r"(c) recovered $\bar{s}$ without noise, m = 800, all people")
    recovered(d, noisy["s_true"], ("with Attribute-Conceal", noisy["s_found"], STYLE["conceal"]))
    d.set_title(r"(d) recovered $\bar{s}$, ε = 1000, all people")
    shown = german[(german["epsilon"] == 1000) | np.isinf(german["epsilon"].astype(float))]
    figure.suptitle(f"hamman2023, Figure 4: German credit (a: means of {seeds(shown)}, 95 % bands; others: one seed)")
    return figure


def reveal_by_queries(rows: pd.DataFrame) -> Any:
    """Leakage against queries on exact answers: the noiseless lines of Figures 1a and 4a, and other decoders."""
    paper = (rows["attack.queries"] == "perturbed") & (rows["attack.group_sizes"] == "known")
    some = rows[(rows["attack"] == "reveal_compressed") & paper]
    some = some[some.groupby(["dataset", "n"], dropna=False)["m"].transform("nunique") > 2]
    panels = [key for key, _ in some.groupby(["dataset", "n"], sort=False, dropna=False)]
    if not panels:
        return None
    figure, axes = canvas(columns=len(panels), height=3.9, sharey=True)
    said = {("adult_race", 100): ([25, 40], [63, 100]), ("adult_race", 1000): ([300, 400], [79, 100])}
    for axis, (dataset, n) in zip(axes[0], panels):
        mine = some[(some["dataset"] == dataset) & (some["n"] == n)]
        for decoder, label in DECODER_NAMES.items():
            chosen = where(mine, attack__decoder=decoder)
            if len(chosen):
                line(axis, chosen, "m", "leakage", 100, color=DECODER_STYLE[decoder], label=label)
        if (dataset, n) in said:  # the rows with ε = ∞ of Table 1
            axis.scatter(*said[dataset, n], edgecolors=DECODER_STYLE["l1"], label="printed (Table 1)", **PRINTED)
        axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        title = {"adult_race": "Adult", "german": "German credit"}.get(dataset, dataset)
        axis.set(title=f"{title}, n = {n:,g} ({seeds(mine)})", xlabel="number of queries m", ylim=(45, 103))
    axes[0, 0].set_ylabel("leakage (%)")
    named = {label: line for axis in axes.flat for line, label in zip(*axis.get_legend_handles_labels())}
    legend_below(figure, list(named.values()), list(named), columns=4)
    figure.suptitle(
        "hamman2023, Figures 1a and 4a without noise: leakage against the number of exact answers (95 % bands)"
    )
    return figure


def reveal_vectors(arrays: Callable[..., Any]) -> Any:
    """Recovered s̄ on exact answers: too few queries, and enough."""
    point = {"attack": "reveal_compressed", "attack__queries": "perturbed", "attack__decoder": "l1", "seed": 0}
    panels = [
        ("Adult", "adult_race", 100, 20),
        ("Adult", "adult_race", 100, 40),
        ("German credit", "german", 1000, 800),
    ]
    found = [(f"{title}, n = {n}, m = {m}", arrays(dataset=d, n=n, m=m, **point)) for title, d, n, m in panels]
    found = [(title, a) for title, a in found if a]
    if not found:
        return None
    figure, axes = canvas(columns=len(found))
    for axis, (title, a) in zip(axes[0], found):
        recovered(axis, a["s_true"], ("recovered", a["s_found"], NOISELESS))
        axis.set_title(title)
    figure.suptitle(r"hamman2023, Attribute-Reveal on exact answers: recovered $\bar{s}$ of everybody (one seed)")
    return figure


def _drawn(made: dict[str, Any]) -> dict[str, Any]:
    return {name: figure for name, figure in made.items() if figure is not None}


def conceal_figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return Figures 1 to 4, and beyond: attackers, mechanisms, Remark 3, and the forensics of the printed errors."""
    everything = with_axes(rows)
    rows = of_mechanisms(everything)

    def shown(**axes: Any) -> Any:  # the attacker that clips, where there are both
        return arrays(attack__clip=True, **axes) or arrays(**axes)

    made = {
        "figure1": figure1(rows, shown),
        "figure2": figure2(rows),
        "figure3": figure3(shown),
        "figure4": figure4(rows, shown),
        "attackers": beyond.attackers(rows),
        "mechanisms": beyond.mechanisms(rows),
        "tradeoff": beyond.tradeoff(rows),
        "bounding": beyond.bounding(everything),
        "forensics": beyond.forensics_figure(everything),
    }
    return _drawn(made)


def reveal_figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return leakage against queries (noiseless lines of Figures 1a and 4a), recovered s̄ vectors, and Theorem 2."""
    rows = with_axes(rows)
    rows = rows[rows["model"].isna() & rows["attack.threshold"].isna()]  # the study's own base model, Algorithm 2's ½
    return _drawn(
        {"queries": reveal_by_queries(rows), "recovered": reveal_vectors(arrays), "phase": beyond.phase(rows)}
    )
