"""The claims of hamman2023 (experiments/hamman2023/paper.yaml) as checks on our rows.

A claim is a margin in every setting it speaks of, one value a seed, positive where it holds. It holds if every mean is
positive; where one is not, the claim fails beyond chance if its whole interval is negative (95 % for all together).
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.hamman2023.tables import of_mechanisms, with_axes
from fairpriv.report.summary import half_width

SETTING = ["dataset", "n", "n0", "m"]
SLACK = 0.01  # a rise of the error below this is no rise
NEAR = 2  # points by which leakage may rise and count as no higher
Margins = dict[str, np.ndarray]


def judged(claim: str, margins: Mapping[str, np.ndarray], detail: str) -> Check:
    """Return the check of a claim from its margins."""
    if not margins:
        return Check(claim, None, "no such cells")
    level = 1 - 0.05 / len(margins)
    means = {name: float(np.mean(values)) for name, values in margins.items()}
    halves = {name: half_width(values, level) for name, values in margins.items()}
    holds = [name for name, mean in means.items() if mean >= 0]
    clear = sum(means[name] - halves[name] > 0 or np.ptp(margins[name]) == 0 for name in holds)
    broken = [name for name, mean in means.items() if mean + halves[name] < 0]
    words = f"{len(holds)} of {len(means)} settings, {clear} of them beyond chance"
    if broken:
        words += f"; fails beyond chance in {len(broken)}, e.g. {broken[0]}"
    return Check(claim, len(holds) == len(means), f"{words}; {detail}", sure=bool(broken))


def by_seed(rows: pd.DataFrame, columns: list[str], metric: str) -> pd.DataFrame:
    """Return one row a seed (with the value of it), one column a point."""
    return rows.pivot_table(index="seed", columns=columns, values=metric)


def _named(key: tuple) -> str:
    return ", ".join(f"{v:g}" if isinstance(v, int | float | np.number) else str(v) for v in np.atleast_1d(key))


def _differences(rows: pd.DataFrame, by: list[str], of: str, pair: tuple, metric: str) -> Margins:
    """Return metric(pair[1]) - metric(pair[0]) by seed, for each point that has both."""
    found = {}
    for key, some in rows.groupby(by):
        wide = by_seed(some, [of], metric)
        if set(pair) <= set(wide.columns):
            values = (wide[pair[1]] - wide[pair[0]]).dropna().to_numpy()
            if len(values):
                found[_named(key)] = values
    return found


def _below_laplace(finite: pd.DataFrame) -> Check:
    adult = finite[(finite["dataset"] == "adult_race") & finite["m"].isin([25, 40, 300, 400])]
    margins = _differences(adult, ["n", "m", "epsilon"], "defense", ("conceal", "laplace"), "sp_error")
    error = adult.groupby(["n", "m", "epsilon", "defense"])["sp_error"].mean().unstack("defense")
    words = "needs both mechanisms"
    if {"conceal", "laplace"} <= set(error.columns):
        ratio = (error["laplace"] / error["conceal"]).dropna()
        words = f"laplace/conceal from {ratio.min():.2f} to {ratio.max():.2f}"
    return judged("conceal below laplace", margins, words)


def _near_guessing(finite: pd.DataFrame) -> Check:
    adult = finite[(finite["dataset"] == "adult_race") & (finite["defense"] == "conceal")]
    found = {_named(key): 60 - some["leakage"].to_numpy() for key, some in adult.groupby(["n", "m", "epsilon"])}
    largest = max((60 - values.mean() for values in found.values()), default=np.nan)
    return judged("near guessing", found, f"largest mean leakage {largest:.1f} %")


def _flat_in_queries(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "adult_race") & (finite["n"] == 100) & (finite["defense"] == "conceal")]
    wide = by_seed(some[some["epsilon"] == 100], ["m"], "leakage")
    if wide.shape[1] < 2:
        return Check("flat in queries", None, "needs several m")
    first, last = wide.iloc[:, 0], wide.iloc[:, -1]
    words = f"{first.mean():.1f} % at m = {wide.columns[0]:g}, {last.mean():.1f} % at m = {wide.columns[-1]:g}"
    return judged("flat in queries", {"all": (10 - (last - first)).dropna().to_numpy()}, words)


def _falls_with_epsilon(finite: pd.DataFrame) -> Check:
    found = {}
    for key, some in finite.groupby([*SETTING, "defense"]):
        wide = by_seed(some, ["epsilon"], "sp_error").sort_index(axis=1)
        for low, high in zip(wide.columns[:-1], wide.columns[1:]):
            values = (wide[low] + SLACK - wide[high]).dropna().to_numpy()
            if len(values):
                found[f"{_named(key)}, ε = {low:g} to {high:g}"] = values
    return judged("error falls with epsilon", found, "mean clipped error along ε")


def _tradeoff_by_n0(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "synthetic") & (finite["defense"] == "conceal") & (finite["epsilon"] == 100)]
    found, words = {}, []
    for (n, m), mine in some.groupby(["n", "m"]):
        least, most = mine["n0"].min(), mine["n0"].max()
        if least == most:
            continue
        where, said = f"n = {n:g}, m = {m:g}", []
        for metric, slack in (("sp_error", 0), ("leakage", NEAR)):
            wide = by_seed(mine, ["n0"], metric)
            found[f"{where}, {metric}"] = (wide[least] + slack - wide[most]).dropna().to_numpy()
            said.append(f"{metric} {wide[least].mean():.3g} to {wide[most].mean():.3g}")
        words.append(f"{where}: {', '.join(said)}")
    return judged("trade-off by N0", found, "; ".join(words))


def _grows_with_queries(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "synthetic") & (finite["n"] == 1000) & (finite["defense"] == "conceal")]
    some = some[(some["epsilon"] == 100) & some["m"].isin([500, 900])]
    margins = _differences(some, ["n0"], "m", (500, 900), "sp_error")
    error = some.groupby(["n0", "m"])["sp_error"].mean().unstack("m")
    ratio = error[900] / error[500] if {500, 900} <= set(error.columns) else pd.Series([np.nan])
    return judged("error grows with queries", margins, f"at 900 / at 500 from {ratio.min():.2f} to {ratio.max():.2f}")


def _german_flat(finite: pd.DataFrame) -> Check:
    some = finite[(finite["dataset"] == "german") & (finite["defense"] == "conceal")]
    found, words = {}, []
    for m, mine in some.groupby("m"):
        error, right = (by_seed(mine, ["epsilon"], metric).sort_index(axis=1) for metric in ("sp_error", "recovered"))
        if error.shape[1] > 1:
            found[f"m = {m:g}, error"] = (error.iloc[:, 0] - error.iloc[:, -1]).dropna().to_numpy()
            found[f"m = {m:g}, recovered"] = (100 - (right.iloc[:, -1] - right.iloc[:, 0])).dropna().to_numpy()
            words.append(f"m = {m:g}: {right.iloc[:, 0].mean():.0f} to {right.iloc[:, -1].mean():.0f} recovered")
    return judged("German recovery flat", found, "; ".join(words))


def conceal_checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the claims that attribute_conceal can check, with the paper's decoder."""
    rows = of_mechanisms(with_axes(rows))
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


def _margins(rows: pd.DataFrame, by: list[str], metric: str, least: float) -> Margins:
    return {_named(key): some[metric].to_numpy() - least for key, some in rows.groupby(by)}


def reveal_checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the claims that attribute_reveal can check."""
    rows = with_axes(rows)
    paper = rows[
        (rows["attack"] == "reveal_compressed")
        & (rows["attack.queries"] == "perturbed")
        & (rows["attack.decoder"] == "l1")
        & (rows["attack.group_sizes"] == "known")
        & rows["model"].isna()
        & rows["attack.threshold"].isna()
    ]
    adult = paper[(paper["dataset"] == "adult_race")]
    enough = adult[((adult["n"] == 100) & (adult["m"] == 40)) | ((adult["n"] == 1000) & (adult["m"] == 400))]
    german = paper[(paper["dataset"] == "german") & (paper["m"] >= 800)]
    mean = {
        name: some.groupby(by)[metric].mean()
        for name, some, by, metric in (("adult", enough, ["n", "m"], "leakage"), ("german", german, ["m"], "recovered"))
    }
    kept = {}
    for key, some in paper.groupby(SETTING):
        gap = (some["model_accuracy"] - some["base_accuracy"]).to_numpy()
        kept |= {f"{_named(key)}, above": 1 - gap, f"{_named(key)}, below": 1 + gap}
    largest = max((abs(1 - values.mean()) for values in kept.values()), default=np.nan)
    return {
        "reveal_adult": judged(
            "reveals Adult",
            _margins(enough, ["n", "m"], "leakage", 99),
            "; ".join(f"n = {n}, m = {m}: {v:.1f} %" for (n, m), v in mean["adult"].items()),
        ),
        "reveal_german": judged(
            "reveals German",
            _margins(german, ["m"], "recovered", 1000),
            "; ".join(f"m = {m}: {v:.0f}" for m, v in mean["german"].items()),
        ),
        "queries_keep_accuracy": judged("queries keep accuracy", kept, f"largest difference {largest:.2f} points"),
    }
