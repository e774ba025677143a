"""What was tried for each method, and which setting gives it its printed accuracy."""

import pandas as pd

from fairpriv.report.papers import papers
from fairpriv.report.xie2024.methods import method

QUIET = ("defense.epochs", "defense.batch")  # the paper prints these


def printed_accuracy() -> dict[tuple[str, str, float], float]:
    """Return the accuracies of Table 2, by dataset, method and ε."""
    (paper,) = (p for p in papers() if p.key == "xie2024")
    (table,) = (t for t in paper.tables if t.name == "table2")
    return {
        (n.selectors["dataset"], method(n.selectors["defense"]), float(n.selectors["epsilon"])): n.ours
        for n in table.numbers
        if n.metric == "accuracy"
    }


def _setting(row: pd.Series, axes: list[str]) -> str:
    said = [f"{axis.split('.')[1]}={row[axis]}" for axis in axes if pd.notna(row[axis])]
    return " ".join(text.removesuffix(".0") for text in said)


def settings(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every try: accuracy, the printed one, how far it is off, and whether it is the nearest.

    A method that is printed without and with noise has two accuracies to meet: `off` is the mean of the distances. Nothing
    else decides.
    """
    axes = [c for c in rows if c.startswith("defense.") and c not in QUIET]
    rows = rows.assign(method=rows["defense"].map(method), setting=[_setting(row, axes) for _, row in rows.iterrows()])
    by = ["dataset", "method", "setting", "epsilon"]
    grouped = rows.groupby(by, sort=False)
    table = grouped.agg(seeds=("seed", "nunique"), accuracy=("accuracy", "mean"), delta_dp=("delta_dp", "mean"))
    table["accuracy_sd"] = grouped["accuracy"].std()
    table = table.reset_index()
    printed = printed_accuracy()
    table["printed"] = [printed.get((r.dataset, r.method, r.epsilon)) for r in table.itertuples()]
    table["off"] = (table["accuracy"] - table["printed"]).abs().groupby([table[c] for c in by[:3]]).transform("mean")
    least = table.groupby(["dataset", "method"])["off"].transform("min")
    table["chosen"] = table["off"].notna() & (table["off"] == least)
    return table[[*by, "seeds", "accuracy", "accuracy_sd", "printed", "off", "delta_dp", "chosen"]].round(4)
