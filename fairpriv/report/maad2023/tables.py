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
FOUR = tuple(CONDITIONS)[:4]
PUBLIC = {f"public_{name}": f"{CONDITIONS[name]}" for name in FOUR}
NUMBERS = {
    "adult_aif360": "table2_adult",
    "compas_aif360_default": "table3_compas",
    "compas_aif360": "table3_compas_coarse",
    "hate_speech": "table4_hate_speech",
}
WEIGHTS = {"adult_aif360": 0.2, "compas_aif360": 0.5, "compas_aif360_default": 0.5, "hate_speech": 0.1}  # γ, Table 1
UTILITY = ["micro_f1", "macro_f1", "weighted_f1", "positive_share"]
BUDGET = ["epsilon_claimed", "epsilon_claimed_rdp", "epsilon_spent", "epsilon_proven", "epsilon_sensitive"]
# where no block varies them
UNPRINTED = {"defense.sigma": 0.5, "defense.clip": 1.0, "defense.learning_rate": 0.001, "defense.adversary_part": 1.0}
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
    rows = rows[(rows["defense"] == "maad") & rows["condition"].isin(FOUR)]
    own = rows["dataset"].map(WEIGHTS)
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


def unprinted_rows(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the cells of DP alone, as printed, whatever the clipping bound and the learning rate."""
    alone = (rows["condition"] == "dp") & (rows["defense.privacy"] == "printed")
    return rows[alone & (rows["dataset"] == dataset)]


def unprinted_table(rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return what clipping bound and learning rate do to DP alone (as printed), the defaults included."""
    varied = ["defense.clip", "defense.learning_rate"]
    parts = []
    for dataset in WEIGHTS:
        some = unprinted_rows(rows, dataset)
        if len(some[varied].drop_duplicates()) > 1:
            metrics = ["micro_f1", "macro_f1", *_gaps(some), "positive_share"]
            parts.append(summarise(some.sort_values(varied), ["dataset", *varied], metrics))
    return pd.concat(parts, ignore_index=True) if parts else None


def public_table(rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return the four conditions of the public algorithm beside those of Algorithm 1 as printed."""
    own = printed_points(rows)
    public = rows[rows["condition"].isin(PUBLIC)]
    if public.empty:
        return None
    beside = own[own["dataset"].isin(public["dataset"]) & own["defense.privacy"].isin(["none", "printed"])]
    both = pd.concat([beside, public])
    both = both.assign(
        algorithm=both["condition"].isin(PUBLIC).map({True: "public", False: "printed"}),
        condition=both["condition"].str.removeprefix("public_"),
    )
    return _with_budget(both, ["dataset", "algorithm", "condition", "spent_on"], ["micro_f1", "macro_f1", *_gaps(both)])


def fronts_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return DP + debias on Adult under one Gaussian mechanism, whatever γ, learning rate, σ and way."""
    chosen = (rows["condition"] == "dp_debias") & rows["defense.privacy"].isin(["joint", "combined"])
    return rows[chosen & (rows["dataset"] == "adult_aif360")]


def fronts_table(rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return ε, bias and F1 of every joint setting on Adult, with what it loses to the baseline on the same splits."""
    baseline = rows[(rows["condition"] == "baseline") & (rows["dataset"] == "adult_aif360")].drop_duplicates("seed")
    some = fronts_rows(rows)
    if some.empty or baseline.empty:
        return None
    before = baseline.set_index("seed")
    some = some.assign(
        micro_f1_lost=some["seed"].map(before["micro_f1"]) - some["micro_f1"],
        # by how much the difference by sex moves towards zero, in the direction of the baseline's
        bias_removed=1 - some["aod_sex"] / some["seed"].map(before["aod_sex"]),
    )
    by = ["defense.privacy", "defense.sigma", "defense.learning_rate", "defense.adversary_part", "defense.gamma"]
    metrics = ["micro_f1", "micro_f1_lost", "macro_f1", "aod_race", "aod_sex", "bias_removed"]
    return _with_budget(some.sort_values(by), by, metrics)


def mitigations_table(rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return debiasing beside what else mitigates on Adult: fairlearn's adversary, DP post-processing."""
    others = ["fairlearn_adversarial", "dp_postprocess"]
    some = at_defaults(
        rows[(rows["dataset"] == "adult_aif360") & ~rows["defense.privacy"].isin(["printed", "combined"])]
    )
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
    beyond = {
        "unprinted_settings": unprinted_table(rows),
        "mitigations": mitigations_table(rows),
        "public_algorithm": public_table(rows),
        "joint_fronts": fronts_table(rows),
    }
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
