"""Tables III to V of ferry2023, and the numbers behind its figures."""

import numpy as np
import pandas as pd

from fairpriv.metrics.unfairness import METRICS

ADVERSARIES = {"adversary_xyh": "A′", "adversary_xy": "A"}
NOTIONS = (  # what a figure says of its abbreviations
    "A sees X and Y, A′ the model too; SP: statistical parity, PE: predictive equality, EO: equal opportunity, "
    "EOdds: equalized odds"
)
TITLES = {
    "adult": "Adult, gender",
    "acs_public_coverage_age": "ACSPublicCoverage (40 % sample), age",
    "acs_income": "ACSIncome (40 % sample), race",
}
SIZES = {"acs_income_10pct": 13_592, "acs_income_20pct": 27_185, "acs_income": 54_370}  # of 135,924 rows
KEYS = ["dataset", "fairness", "tolerance", "attack"]


def finished(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the finished rows on a binary attribute, with every axis."""
    rows = rows[rows["status"] == "done"] if "status" in rows else rows
    for column in ("fairness", "tolerance", "sensitive"):
        if column not in rows:
            rows = rows.assign(**{column: np.nan})
    binary = rows["sensitive"].isna() | (rows["sensitive"].astype(str) == "binary")
    return rows[binary].assign(tolerance=pd.to_numeric(rows["tolerance"]))


def of(rows: pd.DataFrame, defense: str) -> pd.DataFrame:
    """Return the rows of a defense."""
    return rows[rows["defense"] == defense]


def spread(rows: pd.DataFrame, keys: list[str], columns: list[str]) -> pd.DataFrame:
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
    smaller = table["dataset"].astype(str).str.extract(r"_(\d+)pct$")[0]
    return table.assign(data=np.where(sampled, smaller.fillna("40") + " % sample", "all rows"))


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables by file name."""
    every = finished(rows)
    done = every[every["attack"].isin(ADVERSARIES)]
    smaller = done["dataset"].isin(SIZES) & (done["dataset"] != "acs_income")
    sizes, done = done[done["dataset"].isin(SIZES)], done[~smaller]
    gradient, threshold = of(done, "exponentiated_gradient"), of(done, "threshold_optimizer")
    target = ["train_accuracy", "test_accuracy", "train_unfairness", "test_unfairness"]
    gains = ["baseline", "corrected", "improvement", "corrected_rounded", "corrected_exact", "exponent", "changes"]
    guessed = ["metric_detected", "estimated_tolerance", "corrected_estimated", "improvement_estimated"]
    none = done[done["fairness"].isna()]
    five = spread(none, ["dataset", "defense", "attack"], [*target[:2], "estimated_tolerance", "baseline", guessed[2]])
    if not five.empty:
        shares = (
            none.groupby(["dataset", "defense", "attack"])["estimated_metric"]
            .agg(lambda s: ", ".join(f"{m} ({v:.0%})" for m, v in s.value_counts(normalize=True).items()))
            .rename("estimated_metrics")
        )
        five = five.merge(shares.reset_index())
    known = done[done.get("corrected_exact", pd.Series(np.nan, done.index)).notna()]
    more = every[~every["attack"].isin(ADVERSARIES)]
    exponents = ["exponent", "corrected_rounded_exponent", "corrected_exact_exponent"]
    known_gain = ["baseline", "corrected", "corrected_rounded", "corrected_exact", *exponents]
    by_odds = ["reweighted", "corrected_log_odds", "reweighted_log_odds"]
    values = rows[rows["sensitive"].astype(str) == "values"] if "sensitive" in rows else rows.iloc[:0]
    out = {
        "table3": spread(threshold, ["dataset", "fairness", "attack"], target + gains),
        "table4": spread(threshold, ["dataset", "fairness", "attack"], guessed),
        "table5": five,
        "figures_2_3_4_9_10_11": spread(gradient, KEYS, gains),
        "figures_5_12_to_17": spread(gradient, KEYS, ["baseline", "corrected", *guessed]),
        "figures_6_7_8": spread(gradient[gradient["attack"] == gradient["attack"].min()], KEYS[:3], target),
        "known_unfairness": spread(known, ["dataset", "defense", "fairness", "attack"], known_gain),
        "sample_size": _by_size(of(sizes, "threshold_optimizer"), target[:2] + gains[:2] + guessed[2:3]),
        "further_constraints": spread(more, ["dataset", "defense", "fairness", "attack"], gains[:3]),
        "ldp_collection": _ldp(done, [*target, *gains[:3]]),
        "several_groups": spread(
            values, ["dataset", "defense", "fairness", "attack"], [*target, *gains[:3], "changes", *by_odds]
        ),
    }
    return {name: _note(table) for name, table in out.items() if not table.empty}


def _by_size(rows: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """ACSIncome with fewer rows, of the same seeds: what a sample of the data does to accuracies."""
    if rows["dataset"].nunique() < 2:
        return pd.DataFrame()
    common = set.intersection(*(set(part["seed"]) for _, part in rows.groupby("dataset")))
    rows = rows[rows["seed"].isin(common)].assign(rows=rows["dataset"].map(SIZES))
    return spread(rows, ["fairness", "attack", "rows", "dataset"], columns)


def _ldp(done: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """Targets trained on a sensitive attribute collected under local differential privacy, by budget."""
    part = of(done, "ldp_exponentiated_gradient")
    if "defense.epsilon" not in part:
        return pd.DataFrame()
    return spread(part, ["dataset", "fairness", "tolerance", "defense.epsilon", "attack"], columns)
