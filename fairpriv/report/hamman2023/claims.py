"""The claims of hamman2023 (experiments/hamman2023/paper.yaml) as checks on our rows."""

from dataclasses import replace

import numpy as np
import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.hamman2023.tables import with_axes
from fairpriv.report.summary import surely_below

SETTING = ["dataset", "n", "n0", "m"]
SLACK = 0.01  # means over few seeds: a rise below this is no rise


def _mean(rows: pd.DataFrame, by: list[str], metric: str) -> pd.Series:
    return rows.groupby(by)[metric].mean()


def _check(claim: str, holds: pd.Series, detail: str) -> Check:
    """Return a check over several settings: it holds if it does in each; none at all is `not run`."""
    if not len(holds):
        return Check(claim, None, "no such cells")
    return Check(claim, bool(holds.all()), f"{int(holds.sum())} of {len(holds)} settings; {detail}")


def _below_laplace(finite: pd.DataFrame) -> Check:
    adult = finite[(finite["dataset"] == "adult_race") & finite["m"].isin([25, 40, 300, 400])]
    error = _mean(adult, [*SETTING, "epsilon", "defense"], "sp_error").unstack("defense")
    if not {"conceal", "laplace"} <= set(error.columns):
        return Check("conceal below laplace", None, "needs both mechanisms")
    error = error.dropna(subset=["conceal", "laplace"])
    ratio = error["laplace"] / error["conceal"]
    words = f"laplace/conceal from {ratio.min():.2f} to {ratio.max():.2f}" if len(ratio) else ""
    return _check("conceal below laplace", ratio > 1, words)


def _near_guessing(finite: pd.DataFrame) -> Check:
    adult = finite[(finite["dataset"] == "adult_race") & (finite["defense"] == "conceal")]
    leakage = _mean(adult, [*SETTING, "epsilon"], "leakage")
    return _check("near guessing", leakage <= 60, f"largest leakage {leakage.max():.1f} %" if len(leakage) else "")


def _flat_in_queries(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "adult_race") & (finite["n"] == 100) & (finite["defense"] == "conceal")]
    leakage = _mean(some[some["epsilon"] == 100], ["m"], "leakage")
    if len(leakage) < 2:
        return Check("flat in queries", None, "needs several m")
    rise = leakage.iloc[-1] - leakage.iloc[0]
    words = (
        f"{leakage.iloc[0]:.1f} % at m = {leakage.index[0]:g}, {leakage.iloc[-1]:.1f} % at m = {leakage.index[-1]:g}"
    )
    return Check("flat in queries", bool(rise <= 10), words)


def _falls_with_epsilon(finite: pd.DataFrame) -> Check:
    error = _mean(finite, [*SETTING, "defense", "epsilon"], "sp_error").unstack("epsilon").sort_index(axis=1)
    error = error[error.notna().sum(axis=1) > 1]
    holds = error.apply(lambda row: bool((np.diff(row.dropna()) <= SLACK).all()), axis=1)
    return _check("error falls with epsilon", holds, "mean clipped error along ε")


def _tradeoff_by_n0(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "synthetic") & (finite["defense"] == "conceal") & (finite["epsilon"] == 100)]
    means = some.groupby(["n", "m", "n0"])[["sp_error", "leakage"]].mean().reset_index()
    pairs = [g.sort_values("n0") for _, g in means.groupby(["n", "m"]) if len(g) > 1]
    shown = {"error": "sp_error", "leakage": "leakage"}
    holds = [
        g["sp_error"].iloc[-1] < g["sp_error"].iloc[0] and g["leakage"].iloc[-1] <= g["leakage"].iloc[0] + 2
        for g in pairs
    ]
    words = "; ".join(
        f"n = {g['n'].iloc[0]:g}, m = {g['m'].iloc[0]:g}: "
        + ", ".join(f"{what} {g[column].iloc[0]:.3g} to {g[column].iloc[-1]:.3g}" for what, column in shown.items())
        for g in pairs
    )
    return _check("trade-off by N0", pd.Series(holds, dtype=bool), words)


def _grows_with_queries(finite: pd.DataFrame) -> Check:
    some = finite[
        (finite["dataset"] == "synthetic")
        & (finite["n"] == 1000)
        & (finite["defense"] == "conceal")
        & (finite["epsilon"] == 100)
        & finite["m"].isin([500, 900])
    ]
    error = _mean(some, ["n0", "m"], "sp_error").unstack("m")
    if not {500, 900} <= set(error.columns):
        return Check("error grows with queries", None, "needs m = 500 and m = 900")
    error = error.dropna()
    ratio = error[900] / error[500]
    words = f"error at 900 / error at 500 from {ratio.min():.2f} to {ratio.max():.2f}"
    return _check("error grows with queries", error[900] > error[500], words)


def _german_flat(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "german") & (finite["defense"] == "conceal")]
    means = some.groupby(["m", "epsilon"])[["sp_error", "recovered"]].mean().reset_index().sort_values("epsilon")
    pairs = [g for _, g in means.groupby("m") if len(g) > 1]
    holds = [
        g["sp_error"].iloc[-1] < g["sp_error"].iloc[0] and g["recovered"].iloc[-1] - g["recovered"].iloc[0] <= 100
        for g in pairs
    ]
    words = "; ".join(
        f"m = {g['m'].iloc[0]:g}: {g['recovered'].iloc[0]:.0f} to {g['recovered'].iloc[-1]:.0f} recovered"
        for g in pairs
    )
    return _check("German recovery flat", pd.Series(holds, dtype=bool), words)


def conceal_checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the claims that attribute_conceal can check, with the paper's decoder."""
    rows = with_axes(rows)
    finite = rows[(rows["attack.decoder"] == "l1") & np.isfinite(rows["epsilon"].astype(float))]
    return {
        "conceal_below_laplace": _below_laplace(finite),
        "conceal_near_guessing": _near_guessing(finite),
        "conceal_flat_in_queries": _flat_in_queries(finite),
        "error_falls_with_epsilon": _falls_with_epsilon(finite),
        "tradeoff_by_n0": _tradeoff_by_n0(finite),
        "error_grows_with_queries": _grows_with_queries(finite),
        "german_recovery_flat": _german_flat(finite),
    }


def reveal_checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the claims that attribute_reveal can check."""
    rows = with_axes(rows)
    paper = rows[
        (rows["attack"] == "reveal_compressed")
        & (rows["attack.queries"] == "perturbed")
        & (rows["attack.decoder"] == "l1")
        & (rows["attack.group_sizes"] == "known")
    ]
    adult = paper[(paper["dataset"] == "adult_race")]
    enough = adult[((adult["n"] == 100) & (adult["m"] == 40)) | ((adult["n"] == 1000) & (adult["m"] == 400))]
    leakage = _mean(enough, ["n", "m"], "leakage")
    fails = enough.groupby(["n", "m"])["leakage"].agg(lambda values: surely_below(values, 99))
    german = paper[(paper["dataset"] == "german") & (paper["m"] >= 800)]
    recovered = _mean(german, ["m"], "recovered")
    gap = (_mean(paper, SETTING, "model_accuracy") - _mean(paper, SETTING, "base_accuracy")).abs()
    return {
        "reveal_adult": replace(
            _check(
                "reveals Adult",
                leakage >= 99,
                "; ".join(f"n = {n}, m = {m}: {v:.1f} %" for (n, m), v in leakage.items()),
            ),
            sure=bool(fails.any()),
        ),
        "reveal_german": _check(
            "reveals German", recovered >= 1000, "; ".join(f"m = {m}: {v:.0f}" for m, v in recovered.items())
        ),
        "queries_keep_accuracy": _check(
            "queries keep accuracy", gap <= 1, f"largest difference {gap.max():.2f} points" if len(gap) else ""
        ),
    }
