"""Figures of hamman2023, and ours beside them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.report.figures import COLOURS, canvas, plain_log_ticks
from fairpriv.report.hamman2023.tables import DECODER_NAMES, NAMES, with_axes
from fairpriv.report.summary import half_width

STYLE = {name: COLOURS[i] for i, name in enumerate(NAMES)}
DECODER_STYLE = {name: COLOURS[i] for i, name in enumerate(DECODER_NAMES)}


def line(axis: Any, rows: pd.DataFrame, x: str, y: str, **look: Any) -> None:
    """Draw the mean over seeds with its 95 % interval."""
    grouped = rows.groupby(x)[y]
    mean, half = grouped.mean(), grouped.agg(half_width).fillna(0)
    axis.plot(mean.index, mean, marker="o", markersize=3.5, **look)
    axis.fill_between(mean.index, mean - half, mean + half, alpha=0.15, color=look.get("color"), linewidth=0)


def where(rows: pd.DataFrame, **axes: Any) -> pd.DataFrame:
    """Return the rows with these values."""
    for axis, value in axes.items():
        rows = rows[rows[axis.replace("__", ".")] == value]
    return rows


def answered_gaps(axis: Any, found: dict[str, np.ndarray], most: int = 100) -> None:
    """Draw true and answered gaps, the answers clipped to the metric's range."""
    gaps, answers = found["gaps"][:most], np.clip(found["answers"][:most], -1, 1)
    index = np.arange(1, len(gaps) + 1)
    axis.vlines(index, gaps, answers, color=COLOURS[1], alpha=0.35, linewidth=1)
    axis.plot(index, answers, "x", color=COLOURS[1], markersize=4, label="answered")
    axis.plot(index, gaps, ".", color=COLOURS[0], markersize=5, label="true")
    axis.set(xlabel="query", ylabel="statistical parity gap", ylim=(-1.08, 1.35))
    axis.legend(loc="upper right", ncols=2)


def recovered(axis: Any, truth: np.ndarray, *found: tuple[str, np.ndarray, str], most: int = 100) -> None:
    """Draw the true s̄ and recovered ones for the first people (all of group 0 first, so that both groups show)."""
    order = np.argsort(-truth, kind="stable")
    few = np.concatenate([order[: most // 2], order[-(most - most // 2) :]]) if len(order) > most else order
    index = np.arange(1, len(few) + 1)
    axis.bar(index, truth[few], width=1.0, color="0.8", label="true")
    for label, values, colour in found:
        axis.plot(index, values[few], ".", markersize=4, color=colour, label=label)
    axis.axhline(truth.max() / 2, color="0.4", linewidth=0.8, linestyle=":")
    axis.set(xlabel="individual (group 0 first)", ylabel=r"$\bar{s}_j$")
    low, high = axis.get_ylim()
    axis.set_ylim(low, high + 0.22 * (high - low))  # room for the legend
    axis.legend(loc="upper right", ncols=len(found) + 1, fontsize=8.5, handletextpad=0.2, columnspacing=1.0)


def _leakage_by_m(axis: Any, rows: pd.DataFrame, epsilon: float, y: str, unit: str) -> None:
    noiseless = rows[np.isinf(rows["epsilon"])]
    line(
        axis,
        where(noiseless, attack__decoder="l1", defense="conceal"),
        "m",
        y,
        color=COLOURS[6],
        label="no noise",
    )
    noisy = rows[rows["epsilon"] == epsilon]
    for defense in ("conceal", "conceal_tight"):
        for decoder, dash in (("l1", "-"), ("maximum_likelihood", "--")):
            some = where(noisy, attack__decoder=decoder, defense=defense)
            if some["m"].nunique() > 1:
                label = defense + ("" if decoder == "l1" else ", likelihood decoder")
                line(axis, some, "m", y, color=STYLE[defense], linestyle=dash, label=label)
    axis.set(xlabel="number of queries m", ylabel=unit)
    axis.legend(fontsize=8, loc="upper left", labelspacing=0.25, handlelength=1.6)


def figure1(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """Adult, n = 100: leakage against queries; answered gaps; recovered s̄."""
    adult = where(rows, dataset="adult_race", n=100)
    noisy = arrays(dataset="adult_race", n=100, m=40, epsilon=100, defense="conceal", attack__decoder="l1", seed=0)
    if adult["m"].nunique() < 2 or not noisy:
        return None
    figure, axes = canvas(columns=3)
    a, b, c = axes[0]
    _leakage_by_m(a, adult, 100, "leakage", "leakage (%)")
    a.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
    a.set(title="(a) leakage, ε = 100", ylim=(35, 106))
    answered_gaps(b, noisy)
    b.set_title("(b) answered queries, m = 40, ε = 100")
    recovered(c, noisy["s_true"], ("with Attribute-Conceal", noisy["s_found"], COLOURS[1]))
    c.set_title(r"(c) recovered $\bar{s}$, m = 40, ε = 100")
    figure.suptitle("hamman2023, Figure 1: Adult, n = 100")
    return figure


def figure2(rows: pd.DataFrame) -> Any:
    """Synthetic: error against leakage along ε, for several N0."""
    some = where(rows, dataset="synthetic", attack__decoder="l1")
    some = some[np.isfinite(some["epsilon"])]
    point = ["n", "n0", "m", "defense"]
    enough = some.groupby(point)["epsilon"].transform("nunique") > 2
    some = some[enough]
    if some.empty:
        return None
    sizes = sorted(some["n"].unique())
    figure, axes = canvas(columns=len(sizes), sharey=True)
    for axis, n in zip(axes[0], sizes):
        ours = some[some["n"] == n]
        for colour, (n0, m) in zip(COLOURS, sorted(set(zip(ours["n0"], ours["m"])))):
            for defense, look in (("conceal", "-"), ("conceal_tight", "--")):
                means = where(ours, n0=n0, m=m, defense=defense).groupby("epsilon")[["sp_error", "leakage"]].mean()
                label = f"$N_0$ = {n0:g}, m = {m:g}" if defense == "conceal" else None
                axis.plot(
                    means["sp_error"], means["leakage"], look, marker="o", markersize=3.5, color=colour, label=label
                )
        axis.set(title=f"n = {n:g}", xlabel="average SP error (clipped)", xscale="log")
        axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        axis.legend(fontsize=8.5)
    axes[0, 0].set_ylabel("leakage (%)")
    figure.suptitle("hamman2023, Figure 2: synthetic, ε from 10 (right) to 500 (left); dashed: conceal_tight")
    return figure


def figure3(arrays: Callable[..., Any]) -> Any:
    """Synthetic, n = 1000, N0 = 10, m = 60: recovered s̄ with and without noise; answered gaps."""
    point = {
        "dataset": "synthetic",
        "n": 1000,
        "n0": 10,
        "m": 60,
        "defense": "conceal",
        "attack__decoder": "l1",
        "seed": 0,
    }
    noisy, exact = arrays(epsilon=100, **point), arrays(epsilon=float("inf"), **point)
    if not (noisy and exact):
        return None
    figure, axes = canvas(columns=2, width=5.2)
    found = (
        ("no noise", exact["s_found"], COLOURS[0]),
        ("with Attribute-Conceal, ε = 100", noisy["s_found"], COLOURS[1]),
    )
    recovered(axes[0, 0], noisy["s_true"], *found)
    answered_gaps(axes[0, 1], noisy)
    figure.suptitle("hamman2023, Figure 3: synthetic, n = 1000, $N_0$ = 10, m = 60")
    return figure


def figure4(rows: pd.DataFrame, arrays: Callable[..., Any]) -> Any:
    """German: recovered attributes against queries; answered gaps; recovered s̄ without and with noise."""
    german = where(rows, dataset="german")
    point = {"dataset": "german", "m": 800, "defense": "conceal", "attack__decoder": "l1", "seed": 0}
    noisy, exact = arrays(epsilon=1000, **point), arrays(epsilon=float("inf"), **point)
    if german["m"].nunique() < 2 or not (noisy and exact):
        return None
    figure, axes = canvas(columns=2, rows=2, width=5.2)
    _leakage_by_m(axes[0, 0], german, 1000, "recovered", "attributes recovered (of 1000)")
    axes[0, 0].set_title("(a) recovered attributes, ε = 1000")
    answered_gaps(axes[0, 1], noisy)
    axes[0, 1].set_title("(b) answered queries, m = 800, ε = 1000 (first 100)")
    recovered(axes[1, 0], exact["s_true"], ("no noise", exact["s_found"], COLOURS[0]))
    axes[1, 0].set_title(r"(c) recovered $\bar{s}$ without noise, m = 800")
    recovered(axes[1, 1], noisy["s_true"], ("with Attribute-Conceal", noisy["s_found"], COLOURS[1]))
    axes[1, 1].set_title(r"(d) recovered $\bar{s}$, ε = 1000")
    figure.suptitle("hamman2023, Figure 4: German credit")
    return figure


def _finite(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[np.isfinite(rows["epsilon"])]


def attackers(rows: pd.DataFrame) -> Any:
    """Beyond the paper: leakage by decoder along ε, per mechanism, where several decoders ran."""
    adult = where(_finite(rows), dataset="adult_race", n=100, m=40)
    wanted = [d for d in NAMES if d in set(adult["defense"])]
    if adult["attack.decoder"].nunique() < 2 or adult["epsilon"].nunique() < 2:
        return None
    figure, axes = canvas(columns=len(wanted), width=3.6, sharey=True)
    for axis, defense in zip(axes[0], wanted):
        for decoder, label in DECODER_NAMES.items():
            some = where(adult, defense=defense, attack__decoder=decoder)
            if len(some):
                line(axis, some, "epsilon", "leakage", color=DECODER_STYLE[decoder], label=label)
        axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        axis.set(title=NAMES[defense], xlabel="ε", ylim=(40, 102))
        plain_log_ticks(axis, adult["epsilon"].unique())
    axes[0, 0].set_ylabel("leakage (%)")
    axes[0, 0].legend(fontsize=8.5, loc="upper left")
    figure.suptitle("Beyond the paper: stronger attackers on the same answers (Adult, n = 100, m = 40)")
    return figure


def _panels(rows: pd.DataFrame) -> Sequence[tuple[str, pd.DataFrame]]:
    choices = (("adult_race", 100, 40), ("adult_race", 1000, 400), ("german", 1000, 800), ("adult_race", 1000, 10))
    found = [
        (f"{'Adult' if d == 'adult_race' else 'German'}, n = {n}, m = {m}", where(rows, dataset=d, n=n, m=m))
        for d, n, m in choices
    ]
    return [(title, some) for title, some in found if some["epsilon"].nunique() > 1]


def mechanisms(rows: pd.DataFrame) -> Any:
    """Beyond the paper: error of every mechanism along ε."""
    panels = _panels(where(_finite(rows), attack__decoder="l1"))
    if not panels:
        return None
    figure, axes = canvas(columns=len(panels), width=3.9, sharey=True)
    for axis, (title, some) in zip(axes[0], panels):
        for defense, label in NAMES.items():
            mine = where(some, defense=defense)
            if len(mine):
                line(axis, mine, "epsilon", "sp_error", color=STYLE[defense], label=label)
        axis.set(title=title, xlabel="ε", yscale="log")
        plain_log_ticks(axis, some["epsilon"].unique())
        axis.legend(fontsize=8, loc="lower left")
    axes[0, 0].set_ylabel("average SP error (clipped)")
    figure.suptitle("The same ε, less noise: error of every mechanism")
    return figure


def reveal_by_queries(rows: pd.DataFrame) -> Any:
    """Leakage against queries on exact answers: the noiseless lines of Figures 1a and 4a, and other decoders."""
    paper = (rows["attack.queries"] == "perturbed") & (rows["attack.group_sizes"] == "known")
    some = rows[(rows["attack"] == "reveal_compressed") & paper]
    some = some[some.groupby(["dataset", "n"], dropna=False)["m"].transform("nunique") > 2]
    panels = [key for key, _ in some.groupby(["dataset", "n"], sort=False, dropna=False)]
    if not panels:
        return None
    figure, axes = canvas(columns=len(panels), sharey=True)
    for axis, (dataset, n) in zip(axes[0], panels):
        mine = some[(some["dataset"] == dataset) & (some["n"] == n)]
        for decoder, label in DECODER_NAMES.items():
            chosen = where(mine, attack__decoder=decoder)
            if len(chosen):
                line(axis, chosen, "m", "leakage", color=DECODER_STYLE[decoder], label=label)
        axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        title = {"adult_race": "Adult", "german": "German credit"}.get(dataset, dataset)
        axis.set(title=f"{title}, n = {n:g}", xlabel="number of queries m", ylim=(45, 102))
        axis.legend(loc="lower right")
    axes[0, 0].set_ylabel("leakage (%)")
    figure.suptitle("Exact answers: leakage against queries (hamman2023, Figures 1a and 4a without noise)")
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
        recovered(axis, a["s_true"], ("recovered", a["s_found"], COLOURS[0]))
        axis.set_title(title)
    figure.suptitle(r"Exact answers: recovered $\bar{s}$")
    return figure


def _drawn(made: dict[str, Any]) -> dict[str, Any]:
    return {name: figure for name, figure in made.items() if figure is not None}


def conceal_figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return Figures 1 to 4, and beyond: the attackers side by side and the mechanisms side by side."""
    rows = with_axes(rows)
    made = {
        "figure1": figure1(rows, arrays),
        "figure2": figure2(rows),
        "figure3": figure3(arrays),
        "figure4": figure4(rows, arrays),
        "attackers": attackers(rows),
        "mechanisms": mechanisms(rows),
    }
    return _drawn(made)


def reveal_figures(rows: pd.DataFrame, arrays: Callable[..., Any]) -> dict[str, Any]:
    """Return leakage against queries (noiseless lines of Figures 1a and 4a) and recovered s̄ vectors."""
    return _drawn({"queries": reveal_by_queries(with_axes(rows)), "recovered": reveal_vectors(arrays)})
