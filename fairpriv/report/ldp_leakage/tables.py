"""Tables of ldp_leakage: what is guessed of each attribute, by whom, and what that goes with."""

import numpy as np
import pandas as pd

from fairpriv.report.arcolezi2023.rows import distances, parts, tidy
from fairpriv.report.summary import summarise

POINT = ["dataset", "attribute", "defense.protocol", "defense.split", "epsilon"]
SETTING = ["dataset", "defense.protocol", "defense.split", "epsilon"]
VIEWS = ("reports", "features", "both")
MEASURES = {"acc": "accuracy", "adv": "advantage", "bal": "balanced accuracy", "bits": "bits"}
METRICS = [f"{m}_{view}" for m in MEASURES for view in VIEWS]


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the means over seeds; what reports add to other attributes; and the closed form against simulation."""
    told = [m for m in METRICS if not m.endswith("_features")]  # the same at every point: `_attributes` has them once
    measured = [*told, "acc_closed_form", "bal_closed_form", "bal_most"]
    out = {"leakage": summarise(rows, [*POINT, "k", "epsilon_attribute"], measured, deviations=False)}
    out["attributes"] = _attributes(rows)
    out["closed_form"] = _closed_form(rows)
    return out


def _attributes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return, for each attribute, what other attributes say before any report, and from which ε on reports say more."""
    out = []
    for (dataset, attribute), some in rows.groupby(["dataset", "attribute"], sort=False):
        line = {"dataset": dataset, "attribute": attribute, "k": int(some["k"].iloc[0])}
        line |= {m: some[m].mean() for m in ("guess", "acc_features", "bal_features", "bits_features", "calibration")}
        for split, part in some.groupby("defense.split", sort=False):
            mean = part.groupby("epsilon")[["bits_reports", "bits_features"]].mean()
            more = mean.index[mean["bits_reports"] > mean["bits_features"]]
            line[f"reports_say_more_from_{split}"] = float(more.min()) if len(more) else np.inf
        out.append(line)
    return pd.DataFrame(out)


def _closed_form(rows: pd.DataFrame) -> pd.DataFrame:
    """Return how far simulated accuracies are from the closed form, by protocol: on average, and at most.

    Accuracy may stay below the closed form: the adversary knows the shares among known people, not among targets. Of
    local hashing it may be above: the closed form is of hashes that are all independent, ours are in pairs.
    """
    flat = rows[rows["bal_closed_form"].notna()]
    apart = {"acc": flat["acc_reports"] - flat["acc_closed_form"], "bal": flat["bal_reports"] - flat["bal_closed_form"]}
    found = flat.assign(acc_apart=apart["acc"], bal_apart=apart["bal"])
    by = found.groupby("defense.protocol", sort=False)
    return by.agg(
        cells=("seed", "size"),
        acc_apart=("acc_apart", "mean"),
        acc_most=("acc_apart", lambda x: x.abs().max()),
        bal_apart=("bal_apart", "mean"),
        bal_most=("bal_apart", lambda x: x.abs().max()),
    ).reset_index()


def joined(rows: pd.DataFrame, fairness: pd.DataFrame) -> pd.DataFrame:
    """Return a row a setting: what is told of the protected attribute and of all, and fairness and utility there."""
    noisy, bare = parts(distances(tidy(fairness)))
    noisy = noisy[noisy["sensitive"] == "table2"]
    useful = ["balanced_accuracy", "acc", "spd", "eod"]
    mean = noisy.groupby(SETTING)[useful].mean().join(noisy.groupby(SETTING)["seed"].nunique().rename("seeds"))
    base = bare.groupby("dataset")[useful].mean().add_prefix("nondp_")
    own = noisy["attributes"].str.split().str[0]  # the protected one is collected first
    protected = noisy.assign(attribute=own).groupby("dataset")["attribute"].first()
    leaks = rows.groupby([*SETTING, "attribute"])[["bits_reports", "bits_both", "bal_reports", "bal_both"]].mean()
    all_of = leaks[["bits_reports", "bits_both"]].groupby(level=SETTING).sum().add_prefix("all_")
    flat = leaks.reset_index()
    of = flat[flat["attribute"] == flat["dataset"].map(protected)].set_index(SETTING)
    return of.join(all_of).join(mean, how="inner").reset_index().merge(base.reset_index(), on="dataset", how="left")


def _spearman(one: pd.Series, other: pd.Series) -> float:
    """Return the correlation of the ranks; none where one of them never changes."""
    if one.nunique() < 2 or other.nunique() < 2:
        return float("nan")
    return float(one.rank().corr(other.rank()))


def tables_beside(rows: pd.DataFrame, fairness: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return leakage beside fairness and utility, and how they go together."""
    both = joined(rows, fairness)
    if both.empty:
        return {}
    out = []
    for dataset, some in both.groupby("dataset", sort=False):
        for leak in ("bits_reports", "all_bits_reports"):
            for with_ in ("spd", "eod", "balanced_accuracy", "acc"):
                line = {"dataset": dataset, "leak": leak, "with": with_, "settings": len(some)}
                out.append(line | {"spearman": _spearman(some[leak], some[with_])})
    return {"beside_fairness": both, "goes_with": pd.DataFrame(out)}
