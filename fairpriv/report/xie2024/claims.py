"""The claims of xie2024 (experiments/xie2024/paper.yaml) as checks on our rows."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.summary import half_width
from fairpriv.report.xie2024.methods import METHODS, OURS, image_rows, main_rows, table2_rows, tuned_rows


def _check(claim: str, holds: pd.Series | list[bool], detail: str) -> Check:
    """Return a check of what must be so in every cell; none at all is `not run`."""
    holds = pd.Series(holds, dtype=bool)
    if not len(holds):
        return Check(claim, None, "no such cells")
    return Check(claim, bool(holds.all()), f"{int(holds.sum())} of {len(holds)} settings; {detail}")


def _weigh(claim: str, margins: Mapping[str, pd.Series], detail: str = "") -> Check:
    """Return a check over several settings, each with its margins: above 0 where a run bears the claim out.

    A setting bears it out where the 95 % interval of its mean margin lies above 0, speaks against it where it lies
    below; else its runs are too few to tell. A single run counts by its sign. The claim holds if every setting bears it
    out; it fails for sure if one speaks against it.
    """
    margins = {name: values.dropna().to_numpy(float) for name, values in margins.items()}
    margins = {name: values for name, values in margins.items() if len(values)}
    if not margins:
        return Check(claim, None, "no such cells")
    low, high, words = [], [], []
    for name, values in margins.items():
        mean, half = values.mean(), half_width(values) if len(values) > 1 else 0.0
        low.append(mean - half)
        high.append(mean + half)
        words.append(f"{name} {mean:+.3f}" + (f" ± {half:.3f}" if len(values) > 1 else ""))
    for_it, against = (np.array(low) > 0).sum(), (np.array(high) < 0).sum()
    said = f"{for_it} of {len(margins)} settings bear it out, {against} speak against it; {detail}{'; '.join(words)}"
    return Check(claim, bool(for_it == len(margins)), said, bool(against > 0))


def _column(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    return rows[rows[name].notna()] if name in rows else rows.iloc[:0]


def _bounds(rows: pd.DataFrame) -> dict[str, Check]:
    some = _column(rows, "i_xz")
    if not len(some):
        return {c: Check(c, None, "no encoder with a randomizer") for c in ("lemma2", "theorem1")}
    positive = some[some["epsilon"] > 0]
    tight = (positive["i_xz"] / positive["epsilon"]).max() if len(positive) else float("nan")
    slack = (some["epsilon"] - some["i_xz_given_s"] - some["i_sz_known"]).min()
    out = {
        "lemma2": _check("I(X;Z) <= ε", some["lemma2"] == 1, f"largest I(X;Z)/ε {tight:.3f}"),
        "theorem1": _check("Ω <= ε − v", some["theorem1"] == 1, f"least ε − v − Ω {slack:.3g} nats"),
    }
    estimated = _column(some, "i_sz")
    if len(estimated):
        over = estimated["i_sz"] - (estimated["epsilon"] - estimated["i_xz_given_s"])
        detail = out["theorem1"].detail + f"; by MINE {int((over <= 0).sum())} of {len(over)}"
        out["theorem1"] = Check("Ω <= ε − v", out["theorem1"].holds, detail)
    return out


def _ours(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of both our kinds along ε and β (Figures 5 and 6)."""
    return _column(_column(rows[rows["defense"].isin(OURS)], "delta_dp"), "beta")


def _zero_epsilon(ours: pd.DataFrame) -> Check:
    none = ours[ours["epsilon"] == 0]
    gap = (none["accuracy"] - none["majority_u"]).abs()
    words = f"largest |accuracy − group ratio| {gap.max():.4f}" if len(gap) else ""
    return _check("no utility at ε = 0", gap <= 0.02, words)


def _at_ends(group: pd.DataFrame, axis: str, metric: str) -> tuple[float, float, pd.Series]:
    """Return the smallest and the largest value of an axis, and how the metric differs between them, seed by seed."""
    low, high = group[axis].min(), group[axis].max()
    first, last = (group[group[axis] == v].groupby("seed")[metric].mean() for v in (low, high))
    return low, high, (last - first).dropna()


def _epsilon_trades(ours: pd.DataFrame) -> Check:
    """Compare the smallest with the largest ε > 0 of each dataset and kind, at the β that both were run with."""
    margins = {}
    for (dataset, defense), group in ours[ours["epsilon"] > 0].groupby(["dataset", "defense"]):
        ends = group[group["epsilon"].isin((group["epsilon"].min(), group["epsilon"].max()))]
        group = ends[ends.groupby("beta")["epsilon"].transform("nunique") == 2]
        if len(group):
            for metric, word in (("accuracy", "accuracy"), ("delta_dp", "Δ_DP")):
                low, high, margin = _at_ends(group, "epsilon", metric)
                margins[f"{dataset} {METHODS[defense]} ε {low:g} to {high:g}, {word}"] = margin
    return _weigh("ε trades accuracy for Δ_DP", margins)


def _discrete_hides_more(ours: pd.DataFrame) -> Check:
    """Compare Δ_DP of both kinds at the same ε, β and seed; by seed where there are three, else point by point."""
    some = ours[(ours["epsilon"] > 0) & np.isfinite(ours["epsilon"])]
    point = ["dataset", "epsilon", "beta", "seed"]
    wide = some.pivot_table(index=point, columns="defense", values="delta_dp")
    if not set(OURS) <= set(wide.columns):
        return Check("discrete hides more", None, "needs both kinds")
    less = (wide[OURS[0]] - wide[OURS[1]]).dropna()
    margins = {}
    for dataset, values in less.groupby("dataset"):
        seeds = values.groupby("seed").mean()
        margins[str(dataset)] = seeds if len(seeds) > 2 else values
    return _weigh("discrete hides more", margins, "Δ_DP of Con less that of Dis: ")


def _by_beta(ours: pd.DataFrame) -> dict[str, Check]:
    some = _column(_column(ours, "i_uz"), "i_sz")
    some = some[some["defense"] == OURS[0]]
    rises = {}
    for (dataset, epsilon), group in some.groupby(["dataset", "epsilon"]):
        if group["beta"].nunique() > 1:
            low, high, margin = _at_ends(group, "beta", "i_uz")
            rises[f"{dataset} ε = {epsilon:g}, β {low:g} to {high:g}"] = margin
    steadier = {}
    for dataset, group in some[some["epsilon"] > 0].groupby("dataset"):
        if group["beta"].nunique() > 1 and group["epsilon"].nunique() > 1:
            steadier[str(dataset)] = _range(group, "beta", "epsilon") - _range(group, "epsilon", "beta")
    return {
        "utility_rises_with_beta": _weigh("utility rises with β", rises, "I(U;Z), nats: "),
        "epsilon_governs_leakage": _weigh(
            "ε governs leakage more than β", steadier, "range of I(S;Z) along ε less that along β, nats: "
        ),
    }


def _range(group: pd.DataFrame, held: str, along: str) -> pd.Series:
    """Return, seed by seed, how far I(S;Z) goes along one axis, in the mean over the other."""
    wide = group.pivot_table(index=["seed", held], columns=along, values="i_sz")
    return (wide.max(axis=1) - wide.min(axis=1)).groupby("seed").mean()


def _baselines(rows: pd.DataFrame) -> dict[str, Check]:
    some = tuned_rows(table2_rows(rows))
    wide = some.pivot_table(index="seed", columns=["dataset", "defense", "epsilon"], values="accuracy")
    found = {key: wide[key] for key in wide.columns}
    compared = [(d, m) for d, m, e in found if m not in OURS and e == 8]
    both = [(d, m) for d, m in compared if (d, m, np.inf) in found]
    costs = {f"{d} {METHODS.get(m, m)}": found[d, m, np.inf] - found[d, m, 8.0] for d, m in both}
    ours = {
        f"{d} {METHODS.get(m, m)}": found[d, OURS[0], 5.0] - found[d, m, 8.0]
        for d, m in compared
        if (d, OURS[0], 5.0) in found
    }
    ffvae = some[some["defense"] == "ffvae"]
    gaps = {
        f"{d} ε = {e:g}": 0.01 - (group["accuracy"] - group["majority_u"])
        for (d, e), group in ffvae.groupby(["dataset", "epsilon"])
    }
    return {
        "laplace_costs_baselines": _weigh("Laplace costs the baselines accuracy", costs, "accuracy lost: "),
        "ours_beats_private_baselines": _weigh("ours beats private baselines", ours, "accuracy of Con above: "),
        "ffvae_no_utility": _weigh("FFVAE gives no utility", gaps, "0.01 less the accuracy above the group ratio: "),
    }


def _images(rows: pd.DataFrame) -> Check:
    some = image_rows(rows)
    margins = {f"{d} ε = {e:g}": g["accuracy"] - 0.9 for (d, e), g in some.groupby(["dataset", "epsilon"])}
    return _weigh("U stays readable", margins, "accuracy above 0.9, over β: ")


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return every claim's check, by its id."""
    if "scored_on" in rows:
        rows = rows[rows["scored_on"] != "validation"]
    rows = main_rows(rows)
    ours = _ours(rows)
    out = {
        **_bounds(rows),
        "zero_epsilon": _zero_epsilon(ours),
        "epsilon_trades": _epsilon_trades(ours),
        "discrete_hides_more": _discrete_hides_more(ours),
        **_by_beta(ours),
        "images_keep_utility": _images(rows),
    }
    return out | (_baselines(rows) if len(table2_rows(rows)) else {})
