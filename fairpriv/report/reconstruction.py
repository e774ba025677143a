"""Tables, figures and checks of reconstruction_correction. No protocol of its own."""

from typing import Any

import numpy as np
import pandas as pd

from fairpriv.metrics.unfairness import METRICS
from fairpriv.protocols.base import Check

ADVERSARIES = {"adversary_xyh": "A′", "adversary_xy": "A"}
TITLES = {
    "adult": "Adult, gender",
    "acs_public_coverage_age": "ACSPublicCoverage (40 % sample), age",
    "acs_income": "ACSIncome (40 % sample), race",
}
FULL = {"SP": "Statistical parity", "PE": "Predictive equality", "EO": "Equal opportunity", "EOdds": "Equalized odds"}
# (figure in the paper, by dataset, for A′ and for A)
RECONSTRUCTION = {"adult": (2, 9), "acs_public_coverage_age": (3, 10), "acs_income": (4, 11)}
ESTIMATED = {"adult": (12, 15), "acs_public_coverage_age": (13, 16), "acs_income": (14, 17)}
TARGETS = {"adult": 6, "acs_public_coverage_age": 7, "acs_income": 8}
LEARNERS = ("exponentiated_gradient", "threshold_optimizer", "correlation_remover")  # those of the paper
KEYS = ["dataset", "fairness", "tolerance", "attack"]


def _done(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows[rows["status"] == "done"] if "status" in rows else rows
    for column in ("fairness", "tolerance", "sensitive"):
        if column not in rows:
            rows = rows.assign(**{column: np.nan})
    binary = rows["sensitive"].isna() | (rows["sensitive"].astype(str) == "binary")
    return rows[binary].assign(tolerance=pd.to_numeric(rows["tolerance"]))


def _of(rows: pd.DataFrame, defense: str) -> pd.DataFrame:
    return rows[rows["defense"] == defense]


def _spread(rows: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
    """Return mean and standard deviation over seeds of each column."""
    columns = [c for c in columns if c in rows]
    if rows.empty or not columns:
        return pd.DataFrame()
    rows = rows.assign(fairness=pd.Categorical(rows["fairness"], METRICS)) if "fairness" in keys else rows
    by = rows.groupby(keys, observed=True)[columns]
    mean, deviation, seeds = by.mean(), by.std(ddof=1).add_suffix("_sd"), rows.groupby(keys, observed=True).size()
    order = [c for name in columns for c in (name, f"{name}_sd")]
    return mean.join(deviation)[order].assign(cells=seeds).reset_index()


def _note(table: pd.DataFrame) -> pd.DataFrame:
    if table.empty:
        return table
    sampled = table["dataset"].astype(str).str.startswith("acs")
    return table.assign(data=np.where(sampled, "40 % sample", "all rows"))


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables by file name."""
    every = _done(rows)
    done = every[every["attack"].isin(ADVERSARIES)]
    gradient, threshold = _of(done, "exponentiated_gradient"), _of(done, "threshold_optimizer")
    target = ["train_accuracy", "test_accuracy", "train_unfairness", "test_unfairness"]
    gains = ["baseline", "corrected", "improvement", "corrected_rounded", "corrected_exact", "exponent", "changes"]
    guessed = ["metric_detected", "estimated_tolerance", "corrected_estimated", "improvement_estimated"]
    none = done[done["fairness"].isna()]
    five = _spread(none, ["dataset", "defense", "attack"], [*target[:2], "estimated_tolerance", "baseline", guessed[2]])
    if not five.empty:
        shares = (
            none.groupby(["dataset", "defense", "attack"])["estimated_metric"]
            .agg(lambda s: ", ".join(f"{m} ({v:.0%})" for m, v in s.value_counts(normalize=True).items()))
            .rename("estimated_metrics")
        )
        five = five.merge(shares.reset_index())
    known = done[done.get("corrected_exact", pd.Series(np.nan, done.index)).notna()]
    more = every[~every["attack"].isin(ADVERSARIES)]
    known_gain = ["baseline", "corrected", "corrected_rounded", "corrected_exact"]
    values = rows[rows["sensitive"].astype(str) == "values"] if "sensitive" in rows else rows.iloc[:0]
    out = {
        "table3": _spread(threshold, ["dataset", "fairness", "attack"], target + gains),
        "table4": _spread(threshold, ["dataset", "fairness", "attack"], guessed),
        "table5": five,
        "figures_2_3_4_9_10_11": _spread(gradient, KEYS, gains),
        "figures_5_12_to_17": _spread(gradient, KEYS, ["baseline", "corrected", *guessed]),
        "figures_6_7_8": _spread(gradient[gradient["attack"] == gradient["attack"].min()], KEYS[:3], target),
        "known_unfairness": _spread(known, ["dataset", "defense", "fairness", "attack"], known_gain),
        "further_constraints": _spread(more, ["dataset", "defense", "fairness", "attack"], gains[:3]),
        "ldp_collection": _ldp(done, [*target, *gains[:3]]),
        "several_groups": _spread(
            values, ["dataset", "defense", "fairness", "attack"], [*target, *gains[:3], "changes"]
        ),
    }
    return {name: _note(table) for name, table in out.items() if not table.empty}


def _ldp(done: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Targets trained on a sensitive attribute collected under local differential privacy, by budget."""
    part = _of(done, "ldp_exponentiated_gradient")
    if "defense.epsilon" not in part:
        return pd.DataFrame()
    return _spread(part, ["dataset", "fairness", "tolerance", "defense.epsilon", "attack"], columns)


def _band(axis: Any, part: pd.DataFrame, column: str, colour: str, label: str, style: str = "-") -> None:
    by = part.groupby("tolerance")[column]
    mean, deviation = by.mean(), by.std(ddof=1).fillna(0.0)
    axis.plot(mean.index, mean, style, color=colour, label=label, marker="o", markersize=3.5, linewidth=1.8)
    axis.fill_between(mean.index, mean - deviation, mean + deviation, color=colour, alpha=0.18, linewidth=0)


def _panels(part: pd.DataFrame, title: str, curves: list[tuple], ylabel: str) -> Any:
    """Return one panel a metric with these curves over the tolerance, and one legend below."""
    from matplotlib.ticker import MaxNLocator

    from fairpriv.report.figures import COLOURS, canvas, legend_below

    shown = [m for m in METRICS if (part["fairness"] == m).any()]
    columns = min(2, len(shown))
    figure, axes = canvas(columns, -(-len(shown) // columns), sharey=True)
    for axis, metric in zip(axes.flat, shown):
        for column, colour, label, style in curves:
            _band(axis, part[part["fairness"] == metric], column, COLOURS[colour], label, style)
        axis.set_title(FULL[metric])
    for axis in list(axes.flat)[len(shown) :]:
        axis.set_visible(False)
    for axis in axes.flat:
        axis.xaxis.set_major_locator(MaxNLocator(5))
    for axis in axes[-1]:
        axis.set_xlabel("unfairness tolerance ε")
    for row in axes:
        row[0].set_ylabel(ylabel)
    seeds = part["seed"].nunique() if "seed" in part else 1
    figure.suptitle(
        f"{title} ({seeds} seed{'s' if seeds > 1 else ''}, band: ± 1 sd)" if seeds > 1 else f"{title} (1 seed)"
    )
    handles, labels = axes.flat[0].get_legend_handles_labels()
    legend_below(figure, handles, labels, columns=min(len(labels), 4) if columns > 1 else 1)
    return figure


def figures(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the figures by file name; those of the paper carry its number."""
    gradient, out = _of(_done(rows), "exponentiated_gradient"), {}
    for dataset, of_dataset in gradient.groupby("dataset"):
        title = TITLES.get(dataset, dataset)
        first = of_dataset[of_dataset["attack"] == of_dataset["attack"].min()]
        out[_name("target", TARGETS.get(dataset), dataset)] = _targets(first, title)
        for i, (attack, sign) in enumerate(ADVERSARIES.items()):
            part = of_dataset[of_dataset["attack"] == attack]
            if part.empty:
                continue
            plain = [("corrected", 1, f"corrected {sign}", "-"), ("baseline", 0, f"adversary {sign}", "--")]
            numbers = RECONSTRUCTION.get(dataset, (None, None)), ESTIMATED.get(dataset, (None, None))
            out[_name("reconstruction", numbers[0][i], dataset, attack)] = _panels(
                part, title, plain, "reconstruction accuracy"
            )
            estimated = [*plain, ("corrected_estimated", 2, f"corrected {sign}, constraint estimated", "-.")]
            out[_name("estimated", numbers[1][i], dataset, attack)] = _panels(
                part, title, estimated, "reconstruction accuracy"
            )
            if (dataset, attack) == ("acs_income", "adversary_xyh") and (part["fairness"] == "SP").any():
                out["figure_05_estimated_acs_income_SP"] = _panels(
                    part[part["fairness"] == "SP"], title, estimated, "reconstruction accuracy"
                )
    done = _done(rows)
    known = _known(done[done["attack"].isin(ADVERSARIES)])
    return out | ({"known_unfairness": known} if known is not None else {})


def _name(what: str, number: int | None, dataset: str, attack: str = "") -> str:
    parts = [f"figure_{number:02d}" if number else "figure", what, dataset, attack]
    return "_".join(part for part in parts if part)


def _targets(part: pd.DataFrame, title: str) -> Any:
    """Accuracy and unfairness of the targets on training and test set, a metric a column (Figures 6 to 8)."""
    from fairpriv.report.figures import COLOURS, canvas, legend_below

    shown = [m for m in METRICS if (part["fairness"] == m).any()]
    figure, axes = canvas(len(shown), 2, width=3.6, height=2.9, sharey="row", sharex=True)
    for column, metric in enumerate(shown):
        here = part[part["fairness"] == metric]
        for row, what in enumerate(("accuracy", "unfairness")):
            _band(axes[row, column], here, f"train_{what}", COLOURS[0], "training set")
            _band(axes[row, column], here, f"test_{what}", COLOURS[1], "test set", "--")
            axes[row, 0].set_ylabel(f"target's {what}")
        ends = [0, here["tolerance"].max()]
        axes[1, column].plot(ends, ends, ":", color="#666666", label="unfairness = ε")
        axes[0, column].set_title(FULL[metric])
        axes[1, column].set_xlabel("unfairness tolerance ε")
    seeds = part["seed"].nunique() if "seed" in part else 1
    figure.suptitle(f"{title} ({seeds} seed{'s' if seeds > 1 else ''})")
    handles, labels = axes[1, 0].get_legend_handles_labels()
    legend_below(figure, handles, labels, columns=3)
    return figure


def _known(done: pd.DataFrame) -> Any:
    """Gain of accuracy by what is known of the training unfairness: a bound, three decimals, the very number."""
    from fairpriv.report.figures import COLOURS, canvas, legend_below

    if "corrected_exact" not in done or done["corrected_exact"].isna().all():
        return None
    done = done[done["corrected_exact"].notna()]
    datasets = [d for d in [*TITLES, *sorted(set(done["dataset"]) - set(TITLES))] if (done["dataset"] == d).any()]
    figure, axes = canvas(len(datasets), 1, width=4.4, sharey=True)
    known = {"corrected": "a bound (the paper)", "corrected_rounded": "to 3 decimals", "corrected_exact": "exactly"}
    for axis, dataset in zip(axes.flat, datasets):
        here = done[done["dataset"] == dataset]
        shown = [m for m in METRICS if (here["fairness"] == m).any()]
        for i, (column, label) in enumerate(known.items()):
            gains = [100 * (here[column] - here["baseline"])[here["fairness"] == m].mean() for m in shown]
            axis.bar(np.arange(len(shown)) + 0.27 * (i - 1), gains, 0.25, color=COLOURS[i], label=label)
        axis.set_xticks(range(len(shown)), shown)
        axis.set_title(TITLES.get(dataset, dataset), fontsize=10.5)
        axis.axhline(0, color="#444444", linewidth=0.8)
    axes[0, 0].set_ylabel("mean gain of accuracy (points)")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    legend_below(figure, handles, labels, columns=3, title="training unfairness known:")
    return figure


def _check(claim: str, bad: list[str], tried: int) -> Check:
    if tried == 0:
        return Check(claim, None, "no such cells in this run")
    said = f"holds in {tried - len(bad)} of {tried}"
    return Check(
        claim, not bad, said + (f"; not in {'; '.join(bad[:4])}{' ...' if len(bad) > 4 else ''}" if bad else "")
    )


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Check the claims of the text on means over seeds."""
    done = _done(rows)
    done = done[done["attack"].isin(ADVERSARIES) & done["defense"].isin(LEARNERS)]
    out = {}
    fair = done[done["fairness"].notna()]
    keys = ["dataset", "defense", "fairness", "tolerance", "attack"]
    gain = (
        fair.groupby(keys, dropna=False, observed=True)["improvement"].mean() if "improvement" in fair else pd.Series()
    )
    bad = [f"{' '.join(map(str, key))}: {value:+.4f}" for key, value in gain.items() if value < 0]
    out["corrected_not_below_baseline"] = _check("corrected >= baseline in every cell", bad, len(gain))
    spread, bad, tried = _of(fair, "exponentiated_gradient"), [], 0
    for key, part in spread.groupby(["dataset", "fairness", "attack"]):
        by = part.groupby("tolerance")["improvement"].mean()
        if len(by) > 1:
            tried += 1
            if by.iloc[0] < by.iloc[-1]:
                bad.append(
                    f"{' '.join(key)}: {by.iloc[0]:.4f} at {by.index[0]:g}, {by.iloc[-1]:.4f} at {by.index[-1]:g}"
                )
    out["improvement_grows_as_tolerance_shrinks"] = _check("improvement grows as ε shrinks", bad, tried)
    bad, tried = [], 0
    tight = pd.concat([_of(fair, "threshold_optimizer"), spread[spread["tolerance"] == spread["tolerance"].min()]])
    for key, part in tight.groupby(["dataset", "defense", "attack"]):
        by = part.groupby("fairness", observed=True)["improvement"].mean()
        if "EO" in by and len(by) == len(METRICS):
            tried += 1
            if by.idxmin() != "EO":
                bad.append(f"{' '.join(key)}: {by.idxmin()} {by.min():.4f}, EO {by['EO']:.4f}")
    out["eo_improves_least"] = _check("EO improves least", bad, tried)
    estimated = done[done["estimated_metric"].notna()]
    odds = estimated[(estimated["fairness"] == "EOdds") & (estimated["metric_detected"] > 0)]
    named = [" ".join(map(str, r)) for r in odds[["dataset", "defense", "tolerance", "seed"]].itertuples(index=False)]
    tried = int((estimated["fairness"] == "EOdds").sum())
    out["eodds_never_detected"] = _check("EOdds is never the estimated metric", named, tried)
    by = done.groupby(keys, dropna=False, observed=True)["improvement_estimated"].mean()
    bad = [f"{' '.join(map(str, key))}: {value:+.4f}" for key, value in by.items() if value < 0]
    out["estimated_not_below_baseline"] = _check("an estimated constraint still improves the baseline", bad, len(by))
    known = fair[fair["corrected_exact"].notna()] if "corrected_exact" in fair else fair.iloc[:0]
    known_by = known.groupby(["dataset", "defense", "fairness"], observed=True)[["corrected", "corrected_exact"]].mean()
    bad = [
        f"{' '.join(k)}: {r.corrected_exact - r.corrected:+.4f}"
        for k, r in known_by.iterrows()
        if r.corrected_exact < r.corrected
    ]
    out["exact_unfairness_helps"] = _check("the exact training unfairness helps more than a bound", bad, len(known_by))
    return out
