"""Tables and figure of ldp_hashing: BLH and OLH by hashes independent in pairs and wholly, beside the authors."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.report.arcolezi2023.printed import authors
from fairpriv.report.arcolezi2023.rows import FAIRNESS, UTILITY
from fairpriv.report.figures import COLOURS, canvas, heading, legend_below
from fairpriv.report.summary import half_width

INDEPENDENT = "ldp_independent_hashing"
FAMILIES = {"pairwise": "ours: hashes independent in pairs", "independent": "hashes wholly independent"}
POINT = ["dataset", "defense.protocol", "defense.split", "epsilon"]
SHOWN = (*UTILITY, *FAIRNESS)


def several(rows: pd.DataFrame) -> bool:
    """Tell whether these rows compare families of hash functions."""
    return "defense" in rows and bool((rows["defense"] == INDEPENDENT).any())


def _two(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the finished rows with their family of hash functions."""
    done = rows[rows["status"] == "done"] if "status" in rows else rows
    return done.assign(family=np.where(done["defense"] == INDEPENDENT, "independent", "pairwise"))


def p_two_sided(values: np.ndarray) -> float:
    """Return the p value of a t test that a mean is 0."""
    n = len(values)
    return float(2 * stdtr(n - 1, -abs(values.mean()) / (values.std(ddof=1) / np.sqrt(n)))) if n > 1 else np.nan


def holm(p: np.ndarray) -> np.ndarray:
    """Return Holm's adjusted p values, in the order given."""
    order, adjusted = np.argsort(p), np.empty(len(p))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p)))))
    return adjusted


def families(rows: pd.DataFrame) -> pd.DataFrame:
    """Return independent minus pairwise, seed by seed, for each point and metric; `p_holm` is over all points.

    The last line of a metric asks all its points together.
    """
    wide = _two(rows).pivot_table(index=[*POINT, "seed"], columns="family", values=list(SHOWN))
    out = []
    for metric in SHOWN:
        if not set(FAMILIES) <= set(wide.get(metric, pd.DataFrame())):
            continue
        apart = (wide[metric]["independent"] - wide[metric]["pairwise"]).dropna()
        lines = [
            dict(zip(POINT, key))
            | {"metric": metric, "seeds": len(v)}
            | {family: wide[metric][family].loc[key].mean() for family in FAMILIES}
            | {"difference": v.mean(), "half_width": half_width(v.to_numpy()), "p": p_two_sided(v.to_numpy())}
            for key, v in apart.groupby(level=POINT)
        ]
        adjusted = holm(np.array([line["p"] for line in lines]))
        out += [line | {"p_holm": p} for line, p in zip(lines, adjusted)]
        if len(lines) > 1:  # the mean of all points that a seed has, as one question
            whole = apart.groupby("seed").mean().to_numpy()
            found = {"difference": whole.mean(), "half_width": half_width(whole), "p": p_two_sided(whole)}
            out.append({"defense.protocol": "all", "epsilon": "all", "metric": metric, "seeds": len(whole)} | found)
    return pd.DataFrame(out)


def against_authors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each family's mean accuracy minus the mean of the authors' 20 runs at every ε, and over all of them."""
    done, said, out = _two(rows), authors(), []
    said = said[(said["what"] == "runs") & (said["metric"] == "acc")]
    for (dataset, protocol, split, family), part in done.groupby([*POINT[:3], "family"]):
        theirs = said[(said["dataset"] == dataset) & (said["defense.protocol"] == protocol)]
        theirs = theirs[theirs["defense.split"] == split].set_index("epsilon")["value"]
        seeds = part.pivot_table(index="seed", columns="epsilon", values="acc")
        apart = seeds[[e for e in seeds if e in theirs.index]].sub(theirs, axis=1).dropna(axis=1, how="all")
        if apart.empty:
            continue
        named = {"dataset": dataset, "defense.protocol": protocol, "defense.split": split, "family": family}
        columns = {f"{e:g}": apart[e] for e in apart} | {"all": apart.mean(axis=1)}
        out += [
            named | {"epsilon": e, "seeds": v.count(), "above_theirs": v.mean(), "half_width": half_width(v.dropna())}
            for e, v in columns.items()
        ]
    return pd.DataFrame(out)


def tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the tables by file name."""
    found = {"hashing": families(rows), "hashing_against_authors": against_authors(rows)}
    return {name: table for name, table in found.items() if not table.empty}


def figure(rows: pd.DataFrame) -> Any:
    """Draw accuracy against ε of BLH with both families, and the authors' means; None where there is nothing."""
    done, said = _two(rows), authors()
    done = done[done["defense.protocol"] == "blh"]
    if done.empty:
        return None
    epsilons = sorted(done["epsilon"].unique())
    drawn, axes = canvas(1, 1, width=7.0, height=3.6)
    axis = axes[0, 0]
    for i, (family, words) in enumerate(FAMILIES.items()):
        by = done[done["family"] == family].groupby("epsilon")["acc"]
        mean, half = by.mean(), by.agg(half_width).fillna(0)
        at = np.array([epsilons.index(e) for e in mean.index]) + 0.12 * (i - 0.5)
        axis.errorbar(at, mean, half, fmt="os"[i], color=COLOURS[i], capsize=3, label=words)
    theirs = said[(said["what"] == "runs") & (said["metric"] == "acc") & said["dataset"].isin(done["dataset"])]
    theirs = theirs[(theirs["defense.protocol"] == "blh") & theirs["epsilon"].isin(epsilons)]
    at = [epsilons.index(e) for e in theirs["epsilon"]]
    look = {"linestyle": "", "markerfacecolor": "none", "color": "black", "markersize": 10}
    axis.plot(at, theirs["value"], marker="D", **look, label="authors, mean of 20 runs")
    axis.set_xticks(range(len(epsilons)), [f"{e:g}" for e in epsilons])
    axis.set(xlabel="ε, all attributes together", ylabel="accuracy")
    seeds = done["seed"].nunique()
    said = f"{PROTOCOLS['blh'].label} on LSAC, uniform split ({seeds} seeds, bars: 95 % intervals)"
    heading(drawn, f"arcolezi2023, Figure 7, two families of hash functions:\n{said}")
    axis.margins(x=0.15)
    legend_below(drawn, *axis.get_legend_handles_labels(), columns=2)
    return drawn
