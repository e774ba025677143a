"""Tables of maad2023 from the cells of maad_private."""

import pandas as pd

from fairpriv.report.summary import summarise

CONDITIONS = {
    "baseline": "Baseline",
    "dp": "DP",
    "debias": "Debias",
    "dp_debias": "DP + Debias",
    "dp_postprocess": "DP post-processing",
}
NUMBERS = {"adult_aif360": "table2_adult", "compas_aif360": "table3_compas", "hate_speech": "table4_hate_speech"}
UTILITY = ["micro_f1", "macro_f1", "weighted_f1", "positive_share"]
BUDGET = ["epsilon_claimed", "epsilon_claimed_rdp", "epsilon_spent", "epsilon_proven", "epsilon_sensitive"]
POINT = ["dataset", "attributes", "condition", "defense.privacy", "defense.gamma", "defense.sigma"]


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with every column that a table may name; a cell without σ of its own has the plug-in's 0.5."""
    rows = rows.copy()
    for column, value in (("defense.privacy", "joint"), ("defense.gamma", float("nan")), ("defense.sigma", 0.5)):
        rows[column] = rows[column].fillna(value) if column in rows else value
    return rows


def printed_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the paper's four conditions at its own γ and σ (the smallest γ where several ran)."""
    rows = complete(rows)
    rows = rows[(rows["defense"] == "maad") & (rows["defense.sigma"] == 0.5)]
    weights = {"adult_aif360": 0.2, "compas_aif360": 0.5, "hate_speech": 0.1}
    own = rows["dataset"].map(weights)
    own = own.fillna(rows.groupby("dataset")["defense.gamma"].transform("min"))
    return rows[rows["defense.gamma"] == own]


def attributes_of(rows: pd.DataFrame) -> list[str]:
    """Return the attributes that these rows have measures for."""
    return [c.removeprefix("aod_") for c in rows if c.startswith("aod_") and rows[c].notna().any()]


def _gaps(rows: pd.DataFrame) -> list[str]:
    return [f"{kind}_{a}" for a in attributes_of(rows) for kind in ("aod", "eoo", "tpr_gap", "fpr_gap")]


def budget_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Table 1 with what it leaves out: the ε spent, proven, and on what."""
    private = rows[rows["condition"].isin(["dp", "dp_debias"])]
    keys = ["dataset", "condition", "defense.privacy"]
    columns = ["defense.batch", *BUDGET, "spent_on", "steps", "epochs", "one_sided_batches"]
    return private.groupby(keys, sort=False)[columns].first().reset_index()


def _with_budget(rows: pd.DataFrame, by: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return means over splits, and the budget, which is the same in all of them (infinite without privacy)."""
    spent = rows.groupby(by, dropna=False, sort=False)[BUDGET].first().reset_index(drop=True)
    return pd.concat([summarise(rows, by, metrics), spent], axis=1)


def all_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the paper's tables, a summary of every point, and the sweeps."""
    rows = complete(rows)
    metrics = [*UTILITY, *_gaps(rows), *(c for c in rows if c.startswith("intersectional_")), "epochs"]
    tables = {"summary": _with_budget(rows, POINT, metrics)}
    own = printed_points(rows)
    if own["condition"].isin(["dp", "dp_debias"]).any():
        tables["table1_budget"] = budget_table(own)
    for dataset, name in NUMBERS.items():
        some = own[own["dataset"] == dataset]
        if len(some):
            shown = ["micro_f1", "macro_f1", *_gaps(some), "intersectional_norm"]
            tables[name] = _with_budget(some, ["condition", "defense.privacy", "spent_on"], shown)
    return tables
