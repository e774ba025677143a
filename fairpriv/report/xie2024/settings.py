"""What was tried for each method, and which setting gives it its printed accuracy."""

import pandas as pd

from fairpriv.report.xie2024.methods import method
from fairpriv.report.xie2024.printed import larger_class, printed_table2

QUIET = ("defense.epochs", "defense.batch")  # the paper prints these


def _setting(row: pd.Series, axes: list[str]) -> str:
    said = [f"{axis.split('.')[1]}={row[axis]}" for axis in axes if pd.notna(row[axis])]
    return " ".join(text.removesuffix(".0") for text in said)


def settings(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every try: accuracy, the printed one, how far it is off, and whether it is the nearest.

    Validation rows have other shares of the classes than the paper's test rows (Adult 0.750 and 0.764): `aim` is as far
    above the larger class as the printed accuracy is. A method that is printed without and with noise has two to meet:
    `off` is the root of their mean squared distance. Nothing else decides.
    """
    axes = [c for c in rows if c.startswith("defense.") and c not in QUIET]
    rows = rows.assign(method=rows["defense"].map(method), setting=[_setting(row, axes) for _, row in rows.iterrows()])
    by = ["dataset", "method", "setting", "epsilon"]
    grouped = rows.groupby(by, sort=False)
    table = grouped.agg(seeds=("seed", "nunique"), accuracy=("accuracy", "mean"), delta_dp=("delta_dp", "mean"))
    if "accuracy_s" in rows:
        table["accuracy_s"] = grouped["accuracy_s"].mean()
    table["accuracy_sd"], table["larger"] = grouped["accuracy"].std(), grouped["majority_u"].mean()
    table = table.reset_index()
    printed, larger = printed_table2("accuracy"), larger_class()
    table["printed"] = [printed.get((r.dataset, r.method, r.epsilon)) for r in table.itertuples()]
    table["aim"] = table["printed"] + table["larger"] - table["dataset"].map(larger)
    squares = (table["accuracy"] - table["aim"]) ** 2
    table["off"] = squares.groupby([table[c] for c in by[:3]]).transform("mean") ** 0.5
    least = table.groupby(["dataset", "method"])["off"].transform("min")
    table["chosen"] = table["off"].notna() & (table["off"] == least)
    measured = ["seeds", "accuracy", "accuracy_sd", "printed", "aim", "off", "delta_dp"]
    return table[[*by, *measured, *(c for c in ("accuracy_s",) if c in table), "chosen"]].round(4)
