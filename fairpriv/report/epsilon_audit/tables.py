"""Tables of the audits: every claim beside what was found, and the findings in words."""

import pandas as pd

ROOM = 0.9  # a law that costs less than this share of the claim has noise to spare
VERDICTS = ("VIOLATED", "unprotected", "unchecked", "holds")  # the worst first
KEPT = ["claimed", "claimed_delta", "accounted", "delta_needed", "audited", "as_declared", "verdict", "worst"]


def _text(row: pd.Series, column: str, before: str = "") -> str:
    value = row.get(column)
    return (
        ""
        if value is None or pd.isna(value)
        else f"{before}{value:g}"
        if isinstance(value, float)
        else before + str(value)
    )


def mechanism(row: pd.Series) -> str:
    """Return a mechanism's name with what tells it from others."""
    parts = [row["defense"], *(_text(row, c) for c in ("defense.protocol", "defense.split", "defense.bounding"))]
    if privacy := _text(row, "defense.privacy"):
        parts += [privacy, "attribute s" if row["coin"] == "s" else "presence", _text(row, "defense.sigma", "σ = ")]
    metric = _text(row, "metric")
    parts += [metric if metric != "sp" else "", _text(row, "m", "m = ")]
    return " ".join(part for part in parts if part)


def audited(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row a mechanism and claim; of several seeds, the strongest proof and the worst verdict."""
    named = rows.assign(mechanism=[mechanism(row) for _, row in rows.iterrows()])
    strongest = named.sort_values(
        ["verdict", "audited"], ascending=[True, False], kind="stable"
    )  # VIOLATED sorts first
    kept = strongest.drop_duplicates(["mechanism", "claimed"]).sort_index()
    counted = named.groupby(["mechanism", "claimed"])["seed"].nunique()
    kept = kept.assign(
        audits=[int(counted[m, c]) for m, c in zip(kept["mechanism"], kept["claimed"])],
        spends=kept["accounted"] / kept["claimed"],
    )
    return kept[["mechanism", *KEPT, "spends", "audits"]].reset_index(drop=True)


def finding(row: pd.Series) -> str:
    """Say in words what an audit found, where it is more than that the claim holds; else nothing."""
    if row["verdict"] == "VIOLATED" and row["audited"] > row["claimed"]:
        return f"broken: outputs prove ε >= {row['audited']:.3g}, {row['claimed']:.3g} is claimed"
    if row["verdict"] == "VIOLATED":
        return f"broken: δ = {row['delta_needed']:.2g} is needed at the claimed ε = {row['claimed']:.3g}"
    if row["verdict"] == "unprotected":
        return f"no ε holds by its law; outputs prove {row['audited']:.3g} of the claimed {row['claimed']:.3g} here"
    if row["verdict"] == "unchecked":
        return "not shown to hold: outputs do not have the law declared"
    if row["claimed_delta"] == 0 and row["spends"] < ROOM:
        return f"noise to spare: the worst case spends {row['accounted']:.3g} of {row['claimed']:.3g}"
    return ""


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return all audits, and the findings."""
    found = audited(rows)
    said = found.assign(finding=[finding(row) for _, row in found.iterrows()])
    shown = ["mechanism", "claimed", "accounted", "audited", "verdict", "finding"]
    return {"epsilon": found, "findings": said.loc[said["finding"] != "", shown]}
