"""Figures that hamman2023 has not: attackers and mechanisms side by side, Remark 3, Theorem 2, and forensics."""

from typing import Any

import numpy as np
import pandas as pd

from fairpriv.report.figures import COLOURS, canvas, heading, legend_below, plain_log_ticks
from fairpriv.report.hamman2023.drawing import (
    DECODER_STYLE,
    PRINTED,
    STYLE,
    finite,
    line,
    mark_printed,
    printed,
    seeds,
    where,
)
from fairpriv.report.hamman2023.forensics import ALGORITHM_3, NAMED, THEOREM_4, place, printed_numbers
from fairpriv.report.hamman2023.phase import exponent, phase_rows, thresholds
from fairpriv.report.hamman2023.tables import DECODER_NAMES, NAMES, POINT, bounding_table, strongest
from fairpriv.report.summary import how_many, summarise

PANELS = (("adult_race", 100, 40), ("adult_race", 1000, 400), ("german", 1000, 800), ("adult_race", 1000, 10))
BOUNDINGS = {"none": "-", "clip": "-", "truncate": "-", "boundary_inflated": ":"}
BOUNDED = {
    "none": "as they come",
    "clip": "clipped",
    "truncate": "truncated",
    "boundary_inflated": "boundary inflated (equal in law to clipped)",
}
# What is shown of the search in `forensics`: (column, law, statistic)
SHOWN = (
    ("table1 conceal", "cauchy-1-1-smooth", "signed"),
    ("table2 conceal", "cauchy-0.5-m-smooth_wide", "clipped"),
    ("table3 conceal", "cauchy-0.5-m-smooth_wide", "clipped"),
    ("table4 conceal", "cauchy-1-sqrt_m-local", "raw"),
    ("table1 laplace", "laplace-0.5-m-global", "signed"),
)


def attackers(rows: pd.DataFrame) -> Any:
    """Leakage by decoder along ε, per mechanism, where several decoders ran."""
    adult = where(finite(rows), dataset="adult_race", n=100, m=40)
    wanted = [d for d in NAMES if d in set(adult["defense"])]
    if adult["attack.decoder"].nunique() < 2 or adult["epsilon"].nunique() < 2:
        return None
    figure, axes = canvas(columns=len(wanted), width=3.2, height=3.7, sharey=True)
    for axis, defense in zip(axes[0], wanted):
        for decoder, label in DECODER_NAMES.items():
            some = where(adult, defense=defense, attack__decoder=decoder)
            if len(some):
                line(axis, some, "epsilon", "leakage", 100, color=DECODER_STYLE[decoder], label=label)
        setting = {"dataset": "adult_race", "n": 100, "m": 40}
        mark_printed(axis, printed("leakage", defense, **setting), "epsilon", "black", "printed (Table 1)")
        axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        axis.set(xlabel="ε", ylim=(40, 102))
        axis.set_title(NAMES[defense].replace(" (", "\n("), fontsize=11)
        plain_log_ticks(axis, adult["epsilon"].unique())
    axes[0, 0].set_ylabel("leakage (%)")
    legend_below(figure, *axes[0, 0].get_legend_handles_labels(), columns=5)
    figure.suptitle(
        f"Beyond hamman2023: stronger attackers, same answers (Adult, n = 100, m = 40; {seeds(adult)}, 95 % bands)"
    )
    return figure


def _panels(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame, dict[str, Any]]]:
    """Return the settings in which several mechanisms ran along ε."""
    found = []
    for dataset, n, m in PANELS:
        some = where(rows, dataset=dataset, n=n, m=m)
        if some["epsilon"].nunique() > 1:
            title = f"{'Adult' if dataset == 'adult_race' else 'German credit'}, n = {n:,}, m = {m}"
            found.append((title, some, {"dataset": dataset, "n": n, "m": m}))
    return found


def mechanisms(rows: pd.DataFrame) -> Any:
    """Error of every mechanism along ε."""
    some = where(finite(rows), attack__decoder="l1")
    panels = _panels(some)
    if not panels:
        return None
    figure, axes = canvas(columns=len(panels), width=3.9, height=4.4, sharey=True)
    shown, least = {}, []
    for axis, (title, mine, setting) in zip(axes[0], panels):
        for defense, label in NAMES.items():
            here = where(mine, defense=defense)
            if len(here):
                aside = {"linestyle": ":", "zorder": 4} if defense == "conceal_laplace" else {}  # one or two points
                line(axis, here, "epsilon", "sp_error", 1, color=STYLE[defense], label=label, **aside)
            values = printed("sp_error", defense, **setting)
            mark_printed(axis, values, "epsilon", STYLE[defense], f"printed: {label.split(' (')[0]}")
        axis.axhline(1, color="0.5", linewidth=0.8, linestyle=":")
        axis.set(title=f"{title}\n({seeds(mine)})", xlabel="ε", yscale="log")
        means = mine.groupby(["defense", "epsilon"])["sp_error"].mean()
        least.append(min([means.min(), *(v["value"] for d in NAMES for v in printed("sp_error", d, **setting))]))
        plain_log_ticks(axis, mine["epsilon"].unique())
        handles, labels = axis.get_legend_handles_labels()
        shown |= dict(zip(labels, handles))
    axes[0, 0].set(ylabel="average SP error (clipped)", ylim=(0.4 * min(least), 2))  # a band may reach down to 0
    legend_below(figure, list(shown.values()), list(shown), columns=4)
    heading(
        figure,
        "Beyond hamman2023: error of every mechanism at the same ε (95 % bands). Answers are clipped to the range of "
        "the gap: 1 (dotted) is pure noise\nConceal-Aware promises less: it hides who of two people is in which group, "
        "$N_0$ being public; the others hide one person's group",
    )
    return figure


def tradeoff(rows: pd.DataFrame) -> Any:
    """Error against what the strongest attacker gets, for every mechanism along ε."""
    every = summarise(finite(rows), [*POINT, "attack.decoder"], ["sp_error", "leakage"])
    best = strongest(every)
    panels = _panels(best[best.groupby(["dataset", "n", "m"])["attackers"].transform("max") > 1])
    if not panels:
        return None
    figure, axes = canvas(columns=len(panels), width=3.9, height=4.2, sharey=True)
    shown = {}
    for axis, (title, some, _) in zip(axes[0], panels):
        for defense, label in NAMES.items():
            mine = where(some, defense=defense).sort_values("epsilon")
            if not len(mine):
                continue
            shown[label] = axis.errorbar(
                mine["sp_error"],
                mine["leakage"],
                xerr=np.minimum(mine["sp_error_ci"].fillna(0), 0.95 * mine["sp_error"]),
                yerr=mine["leakage_ci"].fillna(0),
                fmt="-o",
                markersize=3.5,
                elinewidth=0.6,
                color=STYLE[defense],
            )
            if defense == "conceal_aware":  # the others' points lie too close to be named
                for at in mine.itertuples():
                    words = {"textcoords": "offset points", "fontsize": 9, "color": STYLE[defense]}
                    axis.annotate(f"{at.epsilon:g}", (at.sp_error, at.leakage), (4, 4), **words)
        axis.axhline(50, color="0.5", linewidth=0.8, linestyle=":")
        several = int(some["attackers"].max())
        axis.set(
            title=f"{title}\nstrongest of {several} decoder{'s' * (several > 1)}",
            xlabel="average SP error (clipped)",
            xscale="log",
            ylim=(45, 105),
        )
    axes[0, 0].set_ylabel("leakage, strongest attacker (%)")
    legend_below(figure, list(shown.values()), list(shown), columns=3)
    drawn = pd.concat([some for _, some, _ in panels])
    said = how_many(drawn["seeds"])
    along = sorted(set().union(*(some["epsilon"] for _, some, _ in panels)))
    heading(
        figure,
        f"Beyond hamman2023: what an answer costs against what it gives away ({said}, 95 % intervals)\n"
        f"Along a line ε falls to the right, from {along[-1]:g} or {along[-2]:g}; the same ε is another promise for "
        "Conceal-Aware: swaps, $N_0$ public",
        fontsize=11,
    )
    return figure


def bounding(rows: pd.DataFrame) -> Any:
    """Remark 3: error as answered and ε really spent, for the ways to keep answers in range."""
    found = bounding_table(rows)
    if found.empty or "epsilon_accounted" not in found:
        return None
    defenses = [d for d in NAMES if d in set(found["defense"])]
    figure, axes = canvas(columns=len(defenses), rows=2, width=3.9, height=3.0, sharey="row", sharex=True)
    for (above, below), defense in zip(axes.T, defenses):
        for (way, look), colour in zip(BOUNDINGS.items(), COLOURS):
            mine = where(found, defense=defense, defense__bounding=way).sort_values("epsilon")
            if not len(mine):
                continue
            drawn = {"color": colour, "linestyle": look, "marker": "o", "markersize": 3.5}
            above.plot(mine["epsilon"], mine["error_of_a_run_median"], label=BOUNDED[way], **drawn)
            quartiles = mine["error_of_a_run_25"], mine["error_of_a_run_75"]
            above.fill_between(mine["epsilon"], *quartiles, color=colour, alpha=0.12, linewidth=0)
            below.plot(mine["epsilon"], mine["epsilon_accounted"] / mine["epsilon"], **drawn)
            below.plot(mine["epsilon"], mine["epsilon_audited"] / mine["epsilon"], "x", color=colour)
        above.set(yscale="log", title=NAMES[defense])
        below.set(ylim=(0, 1.08), xlabel="ε claimed")
        below.axhline(1, color="0.5", linewidth=0.8, linestyle=":")
        plain_log_ticks(below, found["epsilon"].unique())
    axes[0, 0].set_ylabel("mean |answer - truth|")
    axes[1, 0].set_ylabel("ε spent / ε claimed")
    legend_below(figure, *axes[0, 0].get_legend_handles_labels(), columns=4, fontsize=10)
    first = found.iloc[0]
    figure.suptitle(
        f"hamman2023, Remark 3: answers kept in range (Adult, n = {first['n']:g}, m = {first['m']:g})\nabove: the "
        f"median of {first['seeds']} runs, quartiles shaded; below: the law's worst (lines), proved by answers (×)",
        fontsize=12,
    )
    return figure


def forensics_figure(rows: pd.DataFrame) -> Any:
    """Draw printed errors against what the mechanism as printed gives, and laws that are nearer to each column."""
    if not rows["candidate"].notna().any():
        return None
    numbers = printed_numbers("sp_error")
    figure, axes = canvas(columns=len(SHOWN), width=3.3, height=4.2)
    words = {"raw": "mean |error|", "clipped": "clipped mean |error|", "signed": "|signed mean|", "median": "median"}
    for axis, (column, law, statistic) in zip(axes[0], SHOWN):
        values = np.array([number.printed.ours for number in numbers[column]])
        plain = THEOREM_4 if column.endswith("laplace") else ALGORITHM_3
        as_printed = [place(plain, "clipped", number)[0] for number in numbers[column]]
        other = [place(law, statistic, number)[0] for number in numbers[column]]
        axis.scatter(values, as_printed, color=COLOURS[0], s=20, label="the mechanism as printed")
        axis.scatter(values, other, edgecolors=COLOURS[1], label="the law named above", **PRINTED)
        ends = np.array([min(values.min(), *other), 1.3])
        axis.plot(ends, ends, color="0.5", linewidth=0.8)
        axis.fill_between(ends, 0.8 * ends, 1.2 * ends, color="0.5", alpha=0.15, linewidth=0)
        axis.set(xscale="log", yscale="log", xlabel="printed error")
        table, whose = column.replace("table", "Table ").rsplit(" ", 1)
        axis.set_title(f"{table}, {NAMES[whose].split(' (')[0]}\n{NAMED[law]},\n{words[statistic]}", fontsize=10)
    axes[0, 0].set_ylabel("typical error of the law")
    legend_below(figure, *axes[0, 0].get_legend_handles_labels())
    heading(
        figure,
        "hamman2023, Tables 1 to 4: what could the printed errors have come from? Grey: within 20 %. Hundreds of laws "
        "were tried, so that a fit is “not rejected”, never “confirmed”",
    )
    return figure


def phase(rows: pd.DataFrame) -> Any:
    """Theorem 2: the share of runs that reveal everybody by m and N0, and the m that half of them need."""
    some, found = phase_rows(rows), thresholds(rows)
    if len(found) < 4:
        return None
    sizes = sorted(found["n"].unique())
    figure, axes = canvas(columns=len(sizes) + 1, width=3.5, height=3.7)
    for axis, n in zip(axes[0], sizes):
        wide = some[some["n"] == n].pivot_table(index="m", columns="n0", values="all")
        wide = wide.loc[wide.notna().sum(axis=1) > 1]
        picture = axis.pcolormesh(
            np.arange(wide.shape[1] + 1), np.arange(len(wide) + 1), wide.to_numpy(), cmap="cividis", vmin=0, vmax=1
        )
        axis.set_xticks(np.arange(wide.shape[1]) + 0.5, [f"{c:g}" for c in wide.columns])
        axis.set_yticks(np.arange(len(wide)) + 0.5, [f"{m:g}" for m in wide.index], fontsize=8)
        order = np.interp([c * np.log(n / c) for c in wide.columns], wide.index, np.arange(len(wide)) + 0.5)
        middles = np.arange(wide.shape[1]) + 0.5
        axis.plot(middles, order, "o--", color=COLOURS[1], markersize=4, label="$N_0$ ln(n/$N_0$)")
        axis.set(title=f"n = {n:g} ({seeds(some[some['n'] == n])})", xlabel="$N_0$")
        axis.grid(visible=False)
    axes[0, 0].set_ylabel("random binary models m")
    axes[0, 0].legend(loc="lower right", fontsize=8, labelcolor="white")
    figure.colorbar(picture, ax=axes[0, len(sizes) - 1], label="share of runs revealing all")
    last = axes[0, -1]
    for colour, n in zip(COLOURS, sizes):
        mine = where(found, n=n)
        last.errorbar(
            mine["order"], mine["m_half"], 1.96 * mine["m_half_se"], fmt="o", color=colour, label=f"n = {n:g}"
        )
    slope, half = exponent(found)
    x = np.array([found["order"].min(), found["order"].max()])
    last.plot(x, float(np.median(found["ratio"])) * x, color="0.5", linewidth=0.8)
    last.set(xscale="log", yscale="log", xlabel="$N_0$ ln(n/$N_0$)", ylabel="m for half of the runs")
    last.set_title(f"m ∝ ($N_0$ ln(n/$N_0$))$^{{{slope:.2f} ± {half:.2f}}}$")
    last.legend(fontsize=8.5)
    figure.suptitle("hamman2023, Theorem 2: random binary models, exact answers, ℓ1 recovery (right: 95 % intervals)")
    return figure
