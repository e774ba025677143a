"""Tables of xie2024 from the cells of information_obfuscation."""

from collections.abc import Iterable

import pandas as pd

from fairpriv.report.summary import summarise
from fairpriv.report.xie2024.methods import LEARNED_FROM, METHODS, OURS, method, table2_rows
from fairpriv.report.xie2024.settings import settings

MEASURES = [
    "accuracy",
    "i_sz_bits",
    "i_sz",
    "i_sz_fixed_bits",
    "i_sz_known",
    "delta_dp",
    "delta_eo",
    "accuracy_s",
    "attack_balanced",
]
STOPPED = [f"mine_{what}_s{mark}" for mark in ("", "_fixed") for what in ("iterations_used", "settled")]
POINT = ["dataset", "defense", "epsilon", "beta"]


def present(rows: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return those of the columns that the rows have values in."""
    return [c for c in columns if c in rows and rows[c].notna().any()]


def _table1(rows: pd.DataFrame) -> pd.DataFrame:
    columns = ["dataset", "n_train", "n_test", "attributes", "p_u", "majority_u", "majority_s"]
    some = rows[columns + present(rows, ["note"])]
    return some.groupby("dataset", sort=False).first().reset_index()


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return every table, by file name; of cells scored on validation data the settings that were tried."""
    if "scored_on" in rows and (rows["scored_on"] == "validation").all():
        return {"settings": settings(rows)}
    people = rows[rows["delta_dp"].notna()] if "delta_dp" in rows else rows.iloc[:0]
    out = {"table1": _table1(rows)}
    note = present(rows, ["note"])  # a stand-in is named in every table
    by = [*POINT, *note]
    second = table2_rows(rows)
    if len(second):
        table = summarise(second, [*by, "mine_iterations"], present(second, MEASURES))
        stopped = second.groupby([*by, "mine_iterations"], dropna=False, sort=False)[present(second, STOPPED)].mean()
        table = table.join(stopped.reset_index(drop=True))
        name = table["defense"].map(method)
        out["table2"] = table.assign(method=name.map(METHODS).fillna(name), tuned=name != table["defense"])
    ours = people[people["defense"].isin(OURS)]
    if len(ours):
        out["figure5"] = summarise(ours, by, ["accuracy", "delta_dp", "delta_eo"])
    if "i_uz" in ours and ours["i_uz"].notna().any():
        informed = ours[ours["i_uz"].notna()]
        out["figure6"] = summarise(informed, by, ["i_uz", "i_sz", *present(informed, ["i_sz_known"])])
    if "i_xz" in rows and rows["i_xz"].notna().any():
        out["bounds"] = _bounds(rows[rows["i_xz"].notna()], by)
    if traced := present(rows, ["i_sz_at_10", "i_sz_fixed_at_10"]):
        out["mine_settling"] = _settling(rows[rows[traced].notna().any(axis=1)], by)
    images = rows[rows["dataset"].astype(str).str.startswith("mnist")]
    if len(images):
        out["figure4"] = summarise(
            images,
            [*present(images, LEARNED_FROM), "dataset", "epsilon", "beta"],
            ["accuracy", *present(images, ["i_xz"])],
        )
    return out


def _settling(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return how the estimates grew; where some encoders were given more iterations than others, only those."""
    longest = rows[rows["mine_iterations"] == rows["mine_iterations"].max()]
    same = rows[["dataset", "defense", "epsilon", "beta", "seed"]].fillna(-1).apply(tuple, axis=1)
    rows = rows[same.isin(set(same[longest.index]))]
    kinds = ("s", "s_fixed", "u")
    used = [f"mine_{what}_{v}" for v in kinds for what in ("iterations_used", "settled")]
    trace = [f"i_{v}z{at}" for v in ("s", "u") for at in ("_at_10", "_at_20", "_at_50", "")]
    trace += [name.replace("i_sz", "i_sz_fixed") for name in trace[:4]]
    shown = present(rows, ["mine_settle", *used, *trace, "i_sz_known"])
    return rows[[*by, "mine_iterations", "seed", *shown]].reset_index(drop=True)


def _bounds(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return, for every encoder with a randomizer, both sides of Lemma 2 and of Theorem 1; the worst seed decides."""
    grouped = rows.groupby(by, dropna=False, sort=False)
    table = grouped[["i_xz", "i_xz_given_s", "i_sz_known"]].mean()
    table["worst_log_ratio"] = grouped["worst_log_ratio"].max()
    if "i_sz" in rows:
        table["i_sz_mine"] = grouped["i_sz"].max()
    table["epsilon_minus_v"] = grouped["i_xz_given_s"].max()
    table = table.reset_index()
    table["epsilon_minus_v"] = table["epsilon"] - table["epsilon_minus_v"]
    table["lemma2_holds"] = grouped["lemma2"].min().to_numpy()
    table["theorem1_holds"] = grouped["theorem1"].min().to_numpy()
    if "i_sz_mine" in table:
        known = table["i_sz_mine"].notna()
        table.loc[known, "theorem1_holds_by_mine"] = (table["i_sz_mine"] <= table["epsilon_minus_v"])[known].astype(int)
    return table
