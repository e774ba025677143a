"""The claims of maad2023 as checks on the cells of maad_private."""

import numpy as np
import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.maad2023.tables import attributes_of, printed_points
from fairpriv.report.summary import half_width, surely_below

PAPERS_DATA = ("adult_aif360", "compas_aif360_default", "hate_speech")
Point = tuple[str, str]  # condition, privacy


def _by_seed(rows: pd.DataFrame, dataset: str, point: Point) -> pd.DataFrame:
    """Return a condition's cells by split."""
    some = rows[(rows["dataset"] == dataset) & (rows["condition"] == point[0]) & (rows["defense.privacy"] == point[1])]
    return some.set_index("seed")


def _pairs(rows: pd.DataFrame, before: Point, after: Point) -> list[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Return both conditions of each dataset on the splits that they share."""
    found = []
    for dataset in PAPERS_DATA:
        first, second = (_by_seed(rows, dataset, point) for point in (before, after))
        shared = first.index.intersection(second.index)
        if len(shared):
            found.append((dataset, first.loc[shared], second.loc[shared]))
    return found


def _judged(claim: str, gains: dict[str, np.ndarray]) -> Check:
    """Judge a claim that each of these is above zero in the mean over splits, with the t interval of that mean.

    A claim that fails is sure to fail where one of the intervals lies below zero as a whole, at 95 % for all together.
    """
    if not gains:
        return Check(claim, None, "no such cells")
    told = [f"{name} ({np.mean(g):+.3f} ± {half_width(g):.3f}, {len(g)} splits)" for name, g in gains.items()]
    failing = [g for g in gains.values() if np.mean(g) <= 0]
    sure = any(surely_below(g, 0.0, 1 - 0.05 / len(gains)) for g in failing) if failing else None
    return Check(claim, not failing, "; ".join(told), sure)


def _nearer(claim: str, rows: pd.DataFrame, before: Point, after: Point) -> Check:
    """Check that |average odds difference| falls for every attribute of every dataset, split by split."""
    gains = {}
    for dataset, first, second in _pairs(rows, before, after):
        for a in attributes_of(rows[rows["dataset"] == dataset]):
            was, now = first[f"aod_{a}"], second[f"aod_{a}"]
            name = f"{dataset} {a} {was.mean():+.3f} -> {now.mean():+.3f}"
            gains[name] = (np.sign(was.mean()) * was - np.sign(now.mean()) * now).to_numpy()  # its mean: |was| - |now|
    return _judged(claim, gains)


def _costs(claim: str, rows: pd.DataFrame, after: Point, most: float | None) -> Check:
    """Check the loss of micro F1 to the baseline on the same splits: above 0, or at most `most`."""
    gains = {}
    for dataset, first, second in _pairs(rows, ("baseline", "none"), after):
        lost = (first["micro_f1"] - second["micro_f1"]).to_numpy()
        gains[f"{dataset} loses {lost.mean():+.3f}"] = lost if most is None else most - lost
    return _judged(claim, gains)


def _budget(rows: pd.DataFrame) -> Check:
    printed = rows[(rows["defense.privacy"] == "printed") & rows["dataset"].isin(PAPERS_DATA)]
    claim = "the claimed ε holds as printed"
    if printed.empty:
        return Check(claim, None, "no such cells")
    first = printed.groupby(["dataset", "condition"], sort=False).first()
    told = [
        f"{dataset} {condition}: claimed {row.epsilon_claimed:.2f}, spent {row.epsilon_spent:.1f} on {row.spent_on}"
        for (dataset, condition), row in first.iterrows()
    ]
    return Check(claim, bool((printed["epsilon_proven"] <= printed["epsilon_claimed"] * 1.001).all()), "; ".join(told))


def all_checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the checks, by the id they have in experiments/maad2023/paper.yaml."""
    rows = printed_points(rows)
    return {
        "debias_reduces_bias": _nearer("debiasing reduces bias", rows, ("baseline", "none"), ("debias", "none")),
        "debias_reduces_bias_private": _nearer(
            "debiasing reduces bias under DP", rows, ("dp", "printed"), ("dp_debias", "printed")
        ),
        "dp_costs_utility": _costs("DP costs utility", rows, ("dp", "printed"), None),
        "debias_keeps_utility": _costs("debiasing keeps utility", rows, ("debias", "none"), 0.02),
        "budget_holds": _budget(rows),
    }
