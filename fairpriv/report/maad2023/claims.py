"""The claims of maad2023 as checks on the cells of maad_private."""

import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.maad2023.tables import attributes_of, printed_points

PAPERS_DATA = ("adult_aif360", "compas_aif360", "hate_speech")


def _means(rows: pd.DataFrame, dataset: str, condition: str, privacy: str) -> pd.Series | None:
    some = rows[(rows["dataset"] == dataset) & (rows["condition"] == condition) & (rows["defense.privacy"] == privacy)]
    return some.mean(numeric_only=True) if len(some) else None


def _pairs(
    rows: pd.DataFrame, before: tuple[str, str], after: tuple[str, str]
) -> list[tuple[str, pd.Series, pd.Series]]:
    found = []
    for dataset in PAPERS_DATA:
        pair = _means(rows, dataset, *before), _means(rows, dataset, *after)
        if pair[0] is not None and pair[1] is not None:
            found.append((dataset, *pair))
    return found


def _nearer(claim: str, rows: pd.DataFrame, before: tuple[str, str], after: tuple[str, str]) -> Check:
    """Check that |average odds difference| falls for every attribute of every dataset."""
    told, holds = [], []
    for dataset, first, second in _pairs(rows, before, after):
        for a in attributes_of(rows[rows["dataset"] == dataset]):
            told.append(f"{dataset} {a} {first[f'aod_{a}']:+.3f} -> {second[f'aod_{a}']:+.3f}")
            holds.append(abs(second[f"aod_{a}"]) < abs(first[f"aod_{a}"]))
    return Check(claim, all(holds) if holds else None, "; ".join(told) or "no such cells")


def _costs(claim: str, rows: pd.DataFrame, after: tuple[str, str], most: float | None) -> Check:
    """Check the loss of micro F1 to the baseline: above 0, or at most `most`."""
    pairs = _pairs(rows, ("baseline", "none"), after)
    losses = {dataset: first["micro_f1"] - second["micro_f1"] for dataset, first, second in pairs}
    told = "; ".join(f"{dataset} loses {loss:+.3f}" for dataset, loss in losses.items())
    holds = all(loss > 0 if most is None else loss <= most for loss in losses.values()) if losses else None
    return Check(claim, holds, told or "no such cells")


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
