"""Tables of hamman2023 from the cells of attribute_conceal and attribute_reveal."""

import numpy as np
import pandas as pd

from fairpriv.report.summary import summarise

POINT = ["dataset", "n", "n0", "m", "attack.queries", "epsilon", "defense"]
AXES = [*POINT, "attack", "attack.decoder", "attack.group_sizes"]
ERRORS = ["sp_error", "sp_error_median", "sp_error_raw", "sp_error_signed"]
NAMES = {
    "conceal": "Attribute-Conceal (paper)",
    "conceal_tight": "conceal_tight (ours)",
    "conceal_exact": "conceal_exact (ours)",
    "conceal_laplace": "(ε, δ) smooth Laplace (Thm 6)",
    "laplace": "global Laplace",
    "gaussian": "global Gaussian",
}
DECODER_NAMES = {
    "l1": "ℓ1 recovery (paper)",
    "box": "box-constrained",
    "noise_aware": "noise-aware ℓ1",
    "maximum_likelihood": "maximum likelihood",
}


def with_axes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with every axis of the paper's grids as a column: a run of one's own need not have them all."""
    missing = [axis for axis in AXES if axis not in rows]
    return rows.assign(**{axis: pd.Series(np.nan, rows.index, dtype=object) for axis in missing})


def conceal_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return a summary of every point, the paper's tables in their layout, and what the strongest attacker gets."""
    absent = [axis for axis in AXES if axis not in rows]
    rows = with_axes(rows)
    every = summarise(rows, [*POINT, "attack.decoder"], [*ERRORS, "leakage", "recovered", "noise_scale"])
    paper = every[every["attack.decoder"] == "l1"]
    tables = {"summary": every.drop(columns=absent, errors="ignore")}
    if len(attackers := _attackers(every)):
        tables["attackers"] = attackers
    for name, where, second in (
        ("table1", paper["dataset"] == "adult_race", "leakage"),
        ("table2_and_3", paper["dataset"] == "synthetic", "leakage"),
        ("table4", paper["dataset"] == "german", "recovered"),
    ):
        if where.any():
            tables[name] = _side_by_side(paper[where], ["n", "n0", "m", "epsilon"], ["sp_error", second])
    return tables


def _side_by_side(every: pd.DataFrame, index: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return its layout: a row per setting, for each metric a column per mechanism, each with its half width."""
    columns = [c for metric in metrics for c in (metric, f"{metric}_ci")]
    wide = every.pivot_table(index=index, columns="defense", values=columns, sort=False, dropna=False)
    order = [(metric, d) for metric in columns for d in NAMES if (metric, d) in wide.columns]
    wide = wide[order].dropna(how="all")
    wide.columns = [f"{metric}.{defense}" for metric, defense in wide.columns]
    return wide.reset_index().sort_values(index).reset_index(drop=True)


def _attackers(every: pd.DataFrame) -> pd.DataFrame:
    """Return, per setting, what the paper's decoder recovers and what the strongest does."""
    wide = every.pivot_table(index=POINT, columns="attack.decoder", values="leakage", sort=False, dropna=False)
    wide = wide.dropna(how="all")
    several = wide.notna().sum(axis=1) > 1
    wide = wide[several]
    if wide.empty:
        return wide
    out = wide.add_prefix("leakage.")
    out["strongest"] = wide.idxmax(axis=1)
    out["leakage.strongest"] = wide.max(axis=1)
    if "l1" in wide:
        out["gain_over_paper"] = out["leakage.strongest"] - wide["l1"]
    return out.reset_index().replace({np.nan: None})


def reveal_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return a summary of every attack, and the accuracies of the realistic models (Section A.7)."""
    point = [c for c in ("dataset", "n", "n0", "attack", "m") if c in rows] + [
        c for c in rows if c.startswith("attack.")
    ]
    tables = {"summary": summarise(rows, point, ["leakage", "leakage_up_to_swap", "recovered", "queries"])}
    realistic = rows[rows.get("attack.queries", pd.Series(index=rows.index, dtype=object)) == "perturbed"]
    if len(realistic):
        accuracies = ["base_accuracy", "model_accuracy", "model_accuracy_sd"]
        tables["accuracies"] = summarise(realistic, [c for c in ("dataset", "n", "m") if c in rows], accuracies)
    return tables
