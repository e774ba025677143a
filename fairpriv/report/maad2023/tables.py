"""Tables of maad2023 from the cells of maad_private."""

import pandas as pd

from fairpriv.report.summary import summarise

CONDITIONS = {
    "baseline": "Baseline",
    "dp": "DP",
    "debias": "Debias",
    "dp_debias": "DP + Debias",
    "dp_postprocess": "DP post-processing",
    "fairlearn_adversarial": "fairlearn",
}
NUMBERS = {"adult_aif360": "table2_adult", "compas_aif360": "table3_compas", "hate_speech": "table4_hate_speech"}
UTILITY = ["micro_f1", "macro_f1", "weighted_f1", "positive_share"]
BUDGET = ["epsilon_claimed", "epsilon_claimed_rdp", "epsilon_spent", "epsilon_proven", "epsilon_sensitive"]
UNPRINTED = {"defense.sigma": 0.5, "defense.clip": 1.0, "defense.learning_rate": 0.001}  # where no block varies them
POINT = ["dataset", "attributes", "condition", "defense.privacy", "defense.gamma", *UNPRINTED]


def complete(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with every column that a table may name; what a cell does not vary is the plug-in's default.

    fairlearn's weight of the adversary is our γ.
    """
    rows = rows.copy()
    if "defense.alpha" in rows:
        own = rows["defense.gamma"] if "defense.gamma" in rows else rows["defense.alpha"]
        rows["defense.gamma"] = own.fillna(rows["defense.alpha"])
    free = rows["defense"] == "fairlearn_adversarial"
    defaults = {"defense.privacy": free.map({True: "none", False: "joint"}), "defense.gamma": float("nan")}
    for column, value in (defaults | UNPRINTED).items():
        rows[column] = rows[column].fillna(value) if column in rows else value
    return rows


def at_defaults(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows where neither σ nor what the paper does not print is varied."""
    return rows[(rows[list(UNPRINTED)] == pd.Series(UNPRINTED)).all(axis=1)]


def printed_points(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of the paper's four conditions at its own γ and σ (the smallest γ where several ran)."""
    rows = at_defaults(complete(rows))
    rows = rows[rows["defense"] == "maad"]
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


def unprinted_table(rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return what clipping bound and learning rate do to DP alone (as printed, Adult), the defaults included."""
    some = rows[
        (rows["condition"] == "dp") & (rows["defense.privacy"] == "printed") & (rows["dataset"] == "adult_aif360")
    ]
    varied = ["defense.clip", "defense.learning_rate"]
    if len(some[varied].drop_duplicates()) < 2:
        return None
    return summarise(some.sort_values(varied), varied, ["micro_f1", "macro_f1", *_gaps(some), "positive_share"])


def mitigations_table(rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return debiasing beside what else mitigates on Adult: fairlearn's adversary, DP post-processing."""
    others = ["fairlearn_adversarial", "dp_postprocess"]
    some = at_defaults(rows[(rows["dataset"] == "adult_aif360") & (rows["defense.privacy"] != "printed")])
    if not some["condition"].isin(others).any():
        return None
    some = some[some["condition"].isin(["baseline", "debias", "dp_debias", *others])]
    metrics = ["micro_f1", "macro_f1", *_gaps(some), "intersectional_norm"]
    return _with_budget(some, ["condition", "defense.privacy", "defense.gamma"], metrics)


def all_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the paper's tables, a summary of every point, and the sweeps."""
    rows = complete(rows)
    metrics = [*UTILITY, *_gaps(rows), *(c for c in rows if c.startswith("intersectional_")), "epochs"]
    tables = {"summary": _with_budget(rows, POINT, metrics)}
    beyond = {"unprinted_settings": unprinted_table(rows), "mitigations": mitigations_table(rows)}
    tables |= {name: table for name, table in beyond.items() if table is not None}
    own = printed_points(rows)
    if own["condition"].isin(["dp", "dp_debias"]).any():
        tables["table1_budget"] = budget_table(own)
    for dataset, name in NUMBERS.items():
        some = own[own["dataset"] == dataset]
        if len(some):
            shown = ["micro_f1", "macro_f1", *_gaps(some), "intersectional_norm"]
            tables[name] = _with_budget(some, ["condition", "defense.privacy", "spent_on"], shown)
    return tables
