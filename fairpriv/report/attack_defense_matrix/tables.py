"""Tables of the matrix: every pair, each defense at its strongest attack, which to choose, and pairs that are none."""

import itertools

import numpy as np
import pandas as pd

from fairpriv.protocols.matrix.channels import why_not
from fairpriv.registry import find
from fairpriv.report.attack_defense_matrix.rows import DEFENSE, POINT, measured, strongest, tidy

NEAR = 0.02  # utility, fairness: within this of the best counts as kept
SHOWN = ["defended", "budget", "utility", "gap_sp", "leakage", "leakage_ci", "x_leakage", "strongest_attack"]
CHOICES = {
    "utility": "least leakage among those within .02 of the best utility",
    "fairness": "least leakage among those within .02 of the least gap of statistical parity",
    "secrecy": "most utility among those whose leakage cannot be told from the least (95 %)",
    "all three": "least sum of ranks in utility, fairness and leakage",
}


def pairs_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return every attack against every defense of these rows: how often it was tried, or why it makes no sense."""
    tried = rows.groupby(["attack", "defense"]).size()
    plugins = {
        kind: {name: find(kind, plugin) for name, plugin in sorted(set(zip(rows[axis], rows[f"{axis}_plugin"])))}
        for kind, axis in (("attacks", "attack"), ("defenses", "defense"))
    }
    records = []
    for (attack, its), (defense, whose) in itertools.product(*(p.items() for p in plugins.values())):
        number = int(tried.get((attack, defense), 0))
        reason = why_not(its, whose)
        said = reason or ("" if number else "makes sense, and is not in this grid")
        records.append({"attack": attack, "defense": defense, "cells": number, "why_not": said})
    return pd.DataFrame(records)


def who_is_exposed(best: pd.DataFrame) -> list[str]:
    """Say which group the strongest attack gets right more often, where the intervals are apart."""
    out = []
    for _, row in best.iterrows():
        apart = row["leakage_0"] - row["leakage_1"]
        unsure = np.nan_to_num(row["leakage_0_ci"]) + np.nan_to_num(row["leakage_1_ci"])
        out.append("both alike" if abs(apart) <= unsure else f"group {0 if apart > 0 else 1}")
    return out


def defenses_table(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return each defense at its strongest attack."""
    best = strongest(pairs)
    best["advantage_over_x"] = best["leakage"] - best["x_leakage"]
    best["exposed"] = who_is_exposed(best)
    columns = [
        *(*DEFENSE, "strongest_attack", "leakage", "leakage_ci", "leakage_0", "leakage_1", "exposed"),
        *("x_leakage", "advantage_over_x", "majority", "accuracy", "accuracy_ci", "balanced_accuracy"),
        *("gap_sp", "gap_sp_ci", "gap_eodds", "answer_error", "answer_error_ci", "epsilon_promised", "seeds"),
    ]
    return best[columns]


def utility_of(best: pd.DataFrame) -> pd.Series:
    """Return what a channel is for: answers that are right, or a model that is."""
    return (1 - best["answer_error"]).where(best["channel"] == "answers", best["balanced_accuracy"])


def _choose(some: pd.DataFrame, keep: str) -> pd.Series:
    if keep == "utility":
        some = some[some["utility"] >= some["utility"].max() - NEAR]
    elif keep == "fairness":
        some = some[some["gap_sp"] <= some["gap_sp"].min() + NEAR]
    elif keep == "secrecy":
        least = some.loc[some["leakage"].idxmin()]
        reach = least["leakage"] + np.nan_to_num(least["leakage_ci"])
        some = some[some["leakage"] - np.nan_to_num(some["leakage_ci"]) <= reach]
        return some.loc[some["utility"].idxmax()]
    else:
        ranks = some["utility"].rank(ascending=False) + some["gap_sp"].rank() + some["leakage"].rank()
        return some.loc[ranks.idxmin()]
    return some.loc[some["leakage"].idxmin()]


def to_choose(defenses: pd.DataFrame) -> pd.DataFrame:
    """Return the defense to choose, by channel and by what one wants to keep."""
    defenses = defenses.assign(utility=utility_of(defenses))
    records = []
    for (dataset, channel), some in defenses.groupby(["dataset", "channel"], sort=False):
        for keep, rule in CHOICES.items():
            if channel == "answers" and keep in ("fairness", "all three"):
                continue  # answers change no model
            row = _choose(some, keep)
            shown = [
                "defended",
                "budget",
                "utility",
                "gap_sp",
                "leakage",
                "leakage_ci",
                "x_leakage",
                "strongest_attack",
            ]
            records.append(
                {"dataset": dataset, "channel": channel, "keep": keep} | row[shown].to_dict() | {"rule": rule}
            )
    return pd.DataFrame(records)


def pairs_columns(pairs: pd.DataFrame) -> list[str]:
    """Return the columns that hang on the attack; what a defense has whatever attacks it is in `defenses`."""
    measures = [f"{m}{end}" for m in ("leakage", "leakage_0", "leakage_1", "recovered") for end in ("", "_ci")]
    return [*POINT, "seeds", *(m for m in measures if m in pairs), "epsilon_promised"]


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return every pair, each defense, the defense to choose, and the pairs that are none."""
    pairs = measured(rows)
    defenses = defenses_table(pairs)
    made = {"matrix": pairs[pairs_columns(pairs)], "defenses": defenses, "the_defense_to_choose": to_choose(defenses)}
    return made | {"pairs": pairs_table(tidy(rows))}
