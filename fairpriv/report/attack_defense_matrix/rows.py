"""The rows of the matrix, named as a reader would, and the strongest attack on each defense."""

import pandas as pd

from fairpriv.report.page import names
from fairpriv.report.summary import summarise

CHANNELS = {"answers": "answers to bias queries", "model": "a released model", "records": "a record a person"}
DEFENSE = ["dataset", "channel", "defended", "budget"]
POINT = [*DEFENSE, "attacked"]
METRICS = [
    *("leakage", "leakage_0", "leakage_1", "recovered", "x_leakage", "majority"),
    *("accuracy", "balanced_accuracy", "gap_sp", "gap_eodds", "answer_error"),
]
ADVERSARIES = {"adversary_xy": "A", "adversary_xyh": "A′"}


def _text(row: pd.Series, column: str) -> str:
    value = row.get(column)
    return "" if value is None or pd.isna(value) else str(value)


def defended(row: pd.Series) -> str:
    """Return a defense's name with what tells it from others of the same name."""
    name = row["defense"]
    if protocol := _text(row, "defense.protocol"):
        return f"{protocol} {_text(row, 'defense.split')}"
    if privacy := _text(row, "defense.privacy"):
        debias = _text(row, "defense.debias") in ("True", "1", "1.0")
        return f"{name} {'debiased' if debias else 'plain'}{', no DP' if privacy == 'none' else ', ' + privacy + ' DP'}"
    return name


def attacked(row: pd.Series) -> str:
    """Return an attack's name with what it knows or decodes by."""
    name = ADVERSARIES.get(row["attack"], row["attack"])
    if row["channel"] == "model":
        knows = _text(row, "knows")
        return name if knows == "nothing" else f"{name} + {knows.replace('+', ' + ')}"
    if decoder := _text(row, "attack.decoder"):
        return f"reveal, {decoder}"
    prior = _text(row, "attack.prior")
    return f"Bayes, prior {prior}" if prior else name


def tidy(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with both names, and the budget as a number (inf: none was asked for)."""
    budget = rows["epsilon"] if "epsilon" in rows else pd.Series(float("inf"), index=rows.index)
    if "defense.privacy" in rows:  # without privacy a budget only says how long to train
        budget = budget.mask(rows["defense.privacy"] == "none")
    named = rows.assign(
        defended=[defended(row) for _, row in rows.iterrows()],
        attacked=[attacked(row) for _, row in rows.iterrows()],
        budget=budget.astype(float).fillna(float("inf")),
    )
    return named.reindex(columns=[*named.columns, *(m for m in METRICS if m not in named)])


def shown(name: str) -> str:
    """Return a defense or an attack as a reader knows it: the report's names for what they have there."""
    return " ".join(word if word == "+" else names.value(word) for word in name.split(" "))


def title(name: str, budget: float) -> str:
    """Return a defense with its ε, where it has one."""
    return name if budget == float("inf") else f"{name}, ε = {budget:g}"


def measured(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means and intervals over seeds, one row a pair, with the ε promised for the protected attribute."""
    named = tidy(rows)
    promised = named.groupby(POINT, sort=False)["epsilon_promised"].max()
    return summarise(named, POINT, METRICS, deviations=False).merge(promised.reset_index(), on=POINT)


def strongest(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return each defense with the attack on it that recovers most."""
    best = pairs.loc[pairs.groupby(DEFENSE, sort=False)["leakage"].idxmax()]
    return best.rename(columns={"attacked": "strongest_attack"}).reset_index(drop=True)
