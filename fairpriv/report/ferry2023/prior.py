"""Is it the prior? What a correction by fairness gives, beside what knowing the base rate gives without it."""

from typing import Any

import numpy as np
import pandas as pd

from fairpriv.metrics.unfairness import METRICS
from fairpriv.report.ferry2023.tables import ADVERSARIES, NOTIONS, SIZES, TITLES, finished
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.summary import half_width

KEYS = ["dataset", "defense", "fairness", "tolerance", "attack"]
BEFORE = ["majority", "baseline", "reweighted"]
AFTER = ["majority_corrected", "corrected", "corrected_log_odds", "reweighted_corrected", "reweighted_log_odds"]
# question: (what, against what)
COMPARISONS = {
    "the correction of the balanced forest": ("corrected", "baseline"),
    "the same with log-odds costs": ("corrected_log_odds", "baseline"),
    "the base rate instead of the correction": ("reweighted", "corrected"),
    "the correction, the base rate being known": ("reweighted_corrected", "reweighted"),
    "the same with log-odds costs, the base rate being known": ("reweighted_log_odds", "reweighted"),
    "the base rate, the correction being made": ("reweighted_corrected", "corrected"),
}


def scored(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of A and A′ with the base rate's scores; where no metric is enforced, by the estimated one."""
    done = finished(rows)
    if "reweighted" not in done:
        return done.iloc[:0]
    done = done[done["attack"].isin(ADVERSARIES) & done["reweighted"].notna()]
    done = done[~done["dataset"].isin(set(SIZES) - set(TITLES))]
    if "defense.epsilon" in done:
        done = done[done["defense.epsilon"].isna()]  # budgets of a learner under LDP have a table of their own
    for suffix in ("", "_balanced"):
        estimated = done[f"corrected_estimated{suffix}"]
        known = done.get(f"corrected{suffix}", pd.Series(np.nan, done.index))
        done = done.assign(**{f"corrected{suffix}": known.where(done["fairness"].notna(), estimated)})
    return done.assign(fairness=done["fairness"].where(done["fairness"].notna(), "estimated"))


def _told(difference: float, half: float) -> str:
    if np.isnan(half):
        return "one seed"
    return "higher" if difference > half else "lower" if difference < -half else "not told apart"


def means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and balanced accuracy of each attacker before and after correction, a setting a row."""
    done = scored(rows)
    if done.empty:
        return pd.DataFrame()
    columns = [f"{name}{suffix}" for suffix in ("", "_balanced") for name in (*BEFORE, *AFTER)]
    by = done.groupby(KEYS, dropna=False)
    return by[columns].mean().assign(seeds=by["seed"].nunique()).reset_index()


def differences(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, for each setting and question, the mean difference over seeds of the same split and its 95 % interval."""
    done, out = scored(rows), []
    for key, part in done.groupby(KEYS, dropna=False):
        for question, (one, other) in COMPARISONS.items():  # `counts` has the two columns of each question, once
            row = dict(zip(KEYS, key)) | {"question": question, "seeds": len(part)}
            for name, suffix in (("accuracy", ""), ("balanced_accuracy", "_balanced")):
                gap = (part[f"{one}{suffix}"] - part[f"{other}{suffix}"]).to_numpy(float)
                mean, half = float(gap.mean()), half_width(gap)
                row |= {name: mean, f"{name}_ci": half, f"{name}_told": _told(mean, half)}
            out.append(row)
    return pd.DataFrame(out)


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return in how many settings each difference is told apart, and its range: a question and learner a row."""
    told = differences(rows)
    if told.empty:
        return told
    out = []
    for (question, defense), part in told.groupby(["question", "defense"], sort=False):
        what, against = COMPARISONS[question]
        row = {"question": question, "what": what, "against": against, "defense": defense, "settings": len(part)}
        for name in ("accuracy", "balanced_accuracy"):
            row |= {f"{name}_{word}": int((part[f"{name}_told"] == word).sum()) for word in ("higher", "lower")}
            row |= {f"{name}_least": part[name].min(), f"{name}_mean": part[name].mean()}
            row |= {f"{name}_most": part[name].max()}
        out.append(row)
    return pd.DataFrame(out)


SHOWN = {  # column: (colour, marker, label)
    "baseline": (0, "o", "balanced forest: the paper's baseline"),
    "corrected": (1, "s", "balanced forest, corrected by fairness: the paper's attack"),
    "reweighted": (2, "D", "balanced forest × base rate, no fairness information"),
    "reweighted_corrected": (3, "^", "balanced forest × base rate, corrected by fairness"),
    "reweighted_log_odds": (4, "v", "the same with log-odds costs"),
}


def _panel(axis: Any, part: pd.DataFrame, metrics: list[str], suffix: str) -> None:
    for i, (column, (colour, marker, label)) in enumerate(SHOWN.items()):
        values = [part.loc[part["fairness"] == m, f"{column}{suffix}"].to_numpy(float) for m in metrics]
        halves = np.nan_to_num([half_width(v) for v in values])
        places = np.arange(len(metrics)) + 0.15 * (i - 2)
        style = {"fmt": marker, "color": COLOURS[colour], "markersize": 5.5, "capsize": 2}
        axis.errorbar(places, [v.mean() for v in values], halves, label=label, **style)
    level, (low, high) = float(part[f"majority{suffix}"].mean()), axis.get_ylim()
    if low - (high - low) / 3 < level < high:
        axis.axhline(level, color="#666666", linestyle=":", linewidth=1.2)
        axis.text(-0.4, level, f"everyone in the larger group: {level:.3f}", va="bottom", fontsize=9.5, color="#444444")
    else:  # far below: a line there would flatten everything else
        axis.set_ylim(low - 0.08 * (high - low), high)
        place = {"transform": axis.transAxes, "fontsize": 8.5, "color": "#444444"}
        axis.text(0.02, 0.02, f"everyone in the larger group: {level:.3f}, below", **place)
    axis.set_xticks(range(len(metrics)), metrics)
    axis.set_xlim(-0.5, len(metrics) - 0.5)


def figure(rows: pd.DataFrame, attack: str = "adversary_xyh", defense: str = "threshold_optimizer") -> Any:
    """Draw accuracy (above) and balanced accuracy (below) of an adversary by metric and dataset; None: no rows."""
    done = scored(rows)
    done = done[(done["defense"] == defense) & (done["attack"] == attack)]
    shown = [d for d in [*TITLES, *sorted(set(done["dataset"]) - set(TITLES))] if (done["dataset"] == d).any()]
    if not shown:
        return None
    drawn, axes = canvas(len(shown), 2, width=4.4, height=3.2, sharex=True)
    for column, dataset in enumerate(shown):
        part = done[done["dataset"] == dataset]
        metrics = [m for m in METRICS if (part["fairness"] == m).any()]
        for row, suffix in enumerate(("", "_balanced")):
            _panel(axes[row, column], part, metrics, suffix)
        axes[0, column].set_title(TITLES.get(dataset, dataset))
    axes[0, 0].set_ylabel("accuracy")
    axes[1, 0].set_ylabel("balanced accuracy")
    seeds = done["seed"].nunique()
    heading(
        drawn,
        f"Beyond ferry2023: is it the prior? {ADVERSARIES[attack]} on ThresholdOptimizer, "
        f"{seeds} seed{'s' * (seeds > 1)}, bars: 95 % intervals\n{NOTIONS}",
    )
    handles, labels = axes[0, 0].get_legend_handles_labels()
    legend_below(drawn, handles, labels, columns=1 if len(shown) == 1 else 2)
    return drawn
