"""Figures 2 to 17 of ferry2023, and what more exact knowledge of unfairness gives.

The paper prints no number of these figures. It prints those of ThresholdOptimizer, whose tolerance is about 0, and of
A, whose guess is the same for every target: they stand in the figures as hollow diamonds at ε = 0, and as lines.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from fairpriv.metrics.unfairness import METRICS
from fairpriv.report.ferry2023.tables import ADVERSARIES, SIZES, TITLES, finished, of
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.papers import paper_of
from fairpriv.report.summary import half_width, how_many

FULL = {"SP": "Statistical parity", "PE": "Predictive equality", "EO": "Equal opportunity", "EOdds": "Equalized odds"}
# (figure in the paper, by dataset, for A′ and for A)
RECONSTRUCTION = {"adult": (2, 9), "acs_public_coverage_age": (3, 10), "acs_income": (4, 11)}
ESTIMATED = {"adult": (12, 15), "acs_public_coverage_age": (13, 16), "acs_income": (14, 17)}
OPTIMIZER = "paper: ThresholdOptimizer (Tables III, IV)"
TARGETS = {"adult": 6, "acs_public_coverage_age": 7, "acs_income": 8}


@cache
def printed() -> Mapping[tuple[str, str, str, str], float]:
    """Return what Tables III and IV print, by dataset, metric of fairness, adversary and our name of the number."""
    paper = paper_of("ferry2023")
    tables = [t for t in paper.tables if t.name in ("table3", "table4")] if paper else []
    return {
        (*(n.selectors[c] for c in ("dataset", "fairness", "attack")), n.metric): n.ours
        for t in tables
        for n in t.numbers
    }


def _beside(axis: Any, part: pd.DataFrame, metric: str, column: str, colour: str) -> None:
    """Mark what the paper prints of ThresholdOptimizer: the target is the same whoever attacks it."""
    dataset, attack = part["dataset"].iloc[0], part["attack"].iloc[0]
    own = attack if column.startswith(("baseline", "corrected")) else "adversary_xyh"
    value = printed().get((dataset, metric, own, column))
    if value is None:
        return
    if (attack, column) == ("adversary_xy", "baseline"):
        axis.axhline(value, color=colour, linestyle=":", linewidth=1.2, label="paper: A (Table III)")
    else:
        style = {"markerfacecolor": "white", "markersize": 7, "zorder": 5, "clip_on": False}
        axis.plot([0], [value], "D", color=colour, label=OPTIMIZER, **style)


def _seeds(part: pd.DataFrame) -> str:
    """Say how many seeds the points of a figure have, and what the bands are."""
    counts = part.groupby(["fairness", "tolerance"])["seed"].nunique() if "seed" in part else pd.Series([1])
    return f"{how_many(counts)}, {'band: ± 1 sd' if counts.max() > 1 else 'no band'}"


def _once(axis: Any) -> tuple[list, list]:
    """Return the legend of an axis, each text once: our curves, then the paper's numbers."""
    found = dict(zip(*reversed(axis.get_legend_handles_labels())))
    if OPTIMIZER in found:  # each diamond has the colour of its curve, its name has none
        found[OPTIMIZER] = axis.plot([], [], "D", color="0.3", markerfacecolor="white", markersize=7)[0]
    ordered = sorted(found, key=lambda label: label.startswith("paper"))
    return [found[label] for label in ordered], ordered


def _band(axis: Any, part: pd.DataFrame, column: str, colour: str, label: str, style: str = "-") -> None:
    by = part.groupby("tolerance")[column]
    mean, deviation = by.mean(), by.std(ddof=1).fillna(0.0)
    small = 3.5 if len(mean) < 15 else 2.2
    axis.plot(mean.index, mean, style, color=colour, label=label, marker="o", markersize=small, linewidth=1.6)
    axis.fill_between(mean.index, mean - deviation, mean + deviation, color=colour, alpha=0.18, linewidth=0)


def _panels(part: pd.DataFrame, title: str, curves: list[tuple]) -> Any:
    """Return one panel a metric with these curves over the tolerance, and one legend below."""
    shown = [m for m in METRICS if (part["fairness"] == m).any()]
    columns = min(2, len(shown))
    size = {"width": 6.4, "height": 5.0} if len(shown) == 1 else {}
    figure, axes = canvas(columns, -(-len(shown) // columns), sharey=True, **size)
    for axis, metric in zip(axes.flat, shown):
        for column, colour, label, style in curves:
            _band(axis, part[part["fairness"] == metric], column, COLOURS[colour], label, style)
            _beside(axis, part, metric, column, COLOURS[colour])
        axis.set_title(FULL[metric])
    for axis in list(axes.flat)[len(shown) :]:
        axis.set_visible(False)
    for axis in axes.flat:
        axis.xaxis.set_major_locator(MaxNLocator(5))
    for axis in axes[-1]:
        axis.set_xlabel("unfairness tolerance ε")
    for row in axes:
        row[0].set_ylabel("reconstruction accuracy")
    heading(figure, f"{title}\n{_seeds(part)}")
    handles, labels = _once(axes.flat[0])
    legend_below(figure, handles, labels, columns=2 if columns > 1 else 1)
    return figure


def figures(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the figures by file name; those of the paper carry its number."""
    gradient, out = of(finished(rows), "exponentiated_gradient"), {}
    for dataset, of_dataset in gradient.groupby("dataset"):
        title = TITLES.get(dataset, dataset)
        first = of_dataset[of_dataset["attack"] == of_dataset["attack"].min()]
        out[_name("target", TARGETS.get(dataset), dataset)] = _targets(first, _figure(TARGETS.get(dataset), title))
        for i, (attack, sign) in enumerate(ADVERSARIES.items()):
            part = of_dataset[of_dataset["attack"] == attack]
            if part.empty:
                continue
            plain = [("corrected", 1, f"corrected {sign}", "-"), ("baseline", 0, f"adversary {sign}", "--")]
            estimated = [*plain, ("corrected_estimated", 2, f"corrected {sign}, constraint estimated", "-.")]
            for what, numbers, curves in (
                ("reconstruction", RECONSTRUCTION, plain),
                ("estimated", ESTIMATED, estimated),
            ):
                number = numbers.get(dataset, (None, None))[i]
                out[_name(what, number, dataset, attack)] = _panels(part, _figure(number, title), curves)
            if (dataset, attack) == ("acs_income", "adversary_xyh") and (part["fairness"] == "SP").any():
                alone = part[part["fairness"] == "SP"]
                out["figure_05_estimated_acs_income_SP"] = _panels(alone, _figure(5, title), estimated)
    done = finished(rows)
    known = _known(done[done["attack"] == "adversary_xyh"])
    return out | ({"known_unfairness": known} if known is not None else {})


def _name(what: str, number: int | None, dataset: str, attack: str = "") -> str:
    parts = [f"figure_{number:02d}" if number else "figure", what, dataset, attack]
    return "_".join(part for part in parts if part)


def _figure(number: int | None, title: str) -> str:
    return f"ferry2023, Figure {number}: {title}" if number else f"As in ferry2023: {title}"


def _targets(part: pd.DataFrame, title: str) -> Any:
    """Accuracy and unfairness of the targets on training and test set, a metric a column (Figures 6 to 8)."""
    shown = [m for m in METRICS if (part["fairness"] == m).any()]
    figure, axes = canvas(len(shown), 2, width=3.6, height=2.9, sharey="row", sharex=True)
    for column, metric in enumerate(shown):
        here = part[part["fairness"] == metric]
        for row, what in enumerate(("accuracy", "unfairness")):
            for i, (of_set, style) in enumerate((("train", "-"), ("test", "--"))):
                label = {"train": "training set", "test": "test set"}[of_set]
                _band(axes[row, column], here, f"{of_set}_{what}", COLOURS[i], label, style)
                _beside(axes[row, column], here, metric, f"{of_set}_{what}", COLOURS[i])
            axes[row, 0].set_ylabel(f"target's {what}")
        ends = [0, here["tolerance"].max()]
        axes[1, column].plot(ends, ends, ":", color="#666666", label="unfairness = ε")
        axes[0, column].set_title(FULL[metric])
        axes[1, column].set_xlabel("unfairness tolerance ε")
    heading(figure, f"{title}\n{_seeds(part)}")
    handles, labels = _once(axes[1, 0])
    legend_below(figure, handles, labels, columns=4)
    return figure


def _known(done: pd.DataFrame) -> Any:
    """Gain of accuracy by what is known of the unfairness of ThresholdOptimizer's model: a bound, or the number."""
    if "corrected_exact" not in done or done["corrected_exact"].isna().all():
        return None
    done = of(done[done["corrected_exact"].notna()], "threshold_optimizer")
    shown = [*TITLES, *sorted(set(done["dataset"]) - set(TITLES) - set(SIZES))]
    datasets = [d for d in shown if (done["dataset"] == d).any()]
    if not datasets:
        return None
    figure, axes = canvas(len(datasets), 1, width=4.6, height=4.0)
    known = {"corrected": "a bound (the paper)", "corrected_rounded": "to 3 decimals", "corrected_exact": "exactly"}
    for axis, dataset in zip(axes.flat, datasets):
        here = done[done["dataset"] == dataset]
        shown = [m for m in METRICS if (here["fairness"] == m).any()]
        for i, (column, label) in enumerate(known.items()):
            gains = [100 * (here[column] - here["baseline"])[here["fairness"] == m] for m in shown]
            halves = np.nan_to_num([half_width(g.to_numpy()) for g in gains])
            places, style = np.arange(len(shown)) + 0.27 * (i - 1), {"color": COLOURS[i], "error_kw": {"linewidth": 1}}
            axis.bar(places, [g.mean() for g in gains], 0.25, yerr=halves, label=label, **style)
        axis.set_xticks(range(len(shown)), [FULL[m].replace(" ", "\n") for m in shown])
        axis.set_title(TITLES.get(dataset, dataset))
        axis.axhline(0, color="#444444", linewidth=0.8)
    axes[0, 0].set_ylabel("mean gain of accuracy (points)")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    said = f"adversary A′ on ThresholdOptimizer, {done['seed'].nunique()} seeds, bars: 95 % intervals"
    heading(figure, f"Beyond ferry2023: what exact knowledge of the unfairness gives ({said})")
    legend_below(figure, handles, labels, columns=3, title="training unfairness known:")
    return figure
