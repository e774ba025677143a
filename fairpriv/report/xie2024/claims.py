"""The claims of xie2024 (experiments/xie2024/paper.yaml) as checks on our rows."""

import numpy as np
import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.xie2024.tables import METHODS, OURS, table2_rows


def _check(claim: str, holds: pd.Series | list[bool], detail: str) -> Check:
    """Return a check over several settings: it holds if it does in each; none at all is `not run`."""
    holds = pd.Series(holds, dtype=bool)
    if not len(holds):
        return Check(claim, None, "no such cells")
    return Check(claim, bool(holds.all()), f"{int(holds.sum())} of {len(holds)} settings; {detail}")


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
    return _column(rows[rows["defense"].isin(OURS)], "delta_dp")


def _zero_epsilon(ours: pd.DataFrame) -> Check:
    none = ours[ours["epsilon"] == 0]
    gap = (none["accuracy"] - none["majority_u"]).abs()
    words = f"largest |accuracy − group ratio| {gap.max():.4f}" if len(gap) else ""
    return _check("no utility at ε = 0", gap <= 0.02, words)


def _epsilon_trades(ours: pd.DataFrame) -> Check:
    """Compare the smallest with the largest ε > 0 of each dataset and kind, averaged over β and seeds."""
    some = ours[ours["epsilon"] > 0]
    means = some.groupby(["dataset", "defense", "epsilon"])[["accuracy", "delta_dp"]].mean().reset_index()
    holds, words = [], []
    for (dataset, defense), group in means.groupby(["dataset", "defense"]):
        if len(group) > 1:
            low, high = group.iloc[0], group.iloc[-1]
            holds.append(low["delta_dp"] < high["delta_dp"] and low["accuracy"] < high["accuracy"])
            words.append(
                f"{dataset} {METHODS[defense]}: ε {low['epsilon']:g} to {high['epsilon']:g}, accuracy "
                f"{low['accuracy']:.3f} to {high['accuracy']:.3f}, Δ_DP {low['delta_dp']:.3f} to {high['delta_dp']:.3f}"
            )
    return _check("ε trades accuracy for Δ_DP", holds, "; ".join(words))


def _discrete_hides_more(ours: pd.DataFrame) -> Check:
    some = ours[(ours["epsilon"] > 0) & np.isfinite(ours["epsilon"])]
    wide = some.groupby(["dataset", "defense"])["delta_dp"].mean().unstack("defense")
    if not set(OURS) <= set(wide.columns):
        return Check("discrete hides more", None, "needs both kinds")
    wide = wide.dropna()
    words = "; ".join(f"{d}: Con {r[OURS[0]]:.3f}, Dis {r[OURS[1]]:.3f}" for d, r in wide.iterrows())
    return _check("discrete hides more", wide[OURS[1]] <= wide[OURS[0]], f"mean Δ_DP over ε and β, {words}")


def _by_beta(ours: pd.DataFrame) -> dict[str, Check]:
    some = _column(_column(ours, "i_uz"), "i_sz")
    some = some[some["defense"] == OURS[0]]
    means = some.groupby(["dataset", "epsilon", "beta"])[["i_uz", "i_sz"]].mean().reset_index()
    runs = [(key, g) for key, g in means.groupby(["dataset", "epsilon"]) if len(g) > 1]
    rises = [g["i_uz"].iloc[-1] > g["i_uz"].iloc[0] for _, g in runs]
    words = "; ".join(f"{d} ε = {e:g}: {g['i_uz'].iloc[0]:.3f} to {g['i_uz'].iloc[-1]:.3f}" for (d, e), g in runs)
    out = {"utility_rises_with_beta": _check("utility rises with β", rises, f"I(U;Z) {words}")}
    steadier, more = [], []
    for dataset, group in means[means["epsilon"] > 0].groupby("dataset"):
        if group["beta"].nunique() > 1 and group["epsilon"].nunique() > 1:
            along_beta = group.groupby("epsilon")["i_sz"].agg(lambda v: v.max() - v.min()).mean()
            along_epsilon = group.groupby("beta")["i_sz"].agg(lambda v: v.max() - v.min()).mean()
            steadier.append(along_beta < along_epsilon)
            more.append(f"{dataset}: range {along_beta:.4f} along β, {along_epsilon:.4f} along ε")
    out["epsilon_governs_leakage"] = _check("ε governs leakage more than β", steadier, "I(S;Z) " + "; ".join(more))
    return out


def _baselines(rows: pd.DataFrame) -> dict[str, Check]:
    means = table2_rows(rows).groupby(["dataset", "defense", "epsilon"])[["accuracy", "majority_u"]].mean()
    means = means.reset_index()
    wide = means[~means["defense"].isin(OURS)].pivot_table(
        index=["dataset", "defense"], columns="epsilon", values="accuracy"
    )
    out = {}
    if {8.0, float("inf")} <= set(wide.columns):
        drop = (wide[float("inf")] - wide[8.0]).dropna()
        words = "; ".join(f"{d} {METHODS[m]} {v:+.3f}" for (d, m), v in (-drop).items())
        out["laplace_costs_baselines"] = _check("Laplace costs the baselines accuracy", drop > 0, words)
        con = means[means["defense"] == OURS[0]].set_index("dataset")["accuracy"]
        best = wide[8.0].groupby("dataset").max()
        common = con.index.intersection(best.index)
        words = "; ".join(f"{d}: Con {con[d]:.3f}, best baseline {best[d]:.3f}" for d in common)
        out["ours_beats_private_baselines"] = _check("ours beats private baselines", con[common] >= best[common], words)
    ffvae = means[(means["defense"] == "ffvae")]
    gap = ffvae["accuracy"] - ffvae["majority_u"]
    words = f"largest accuracy above the group ratio {gap.max():.3f}" if len(gap) else ""
    out["ffvae_no_utility"] = _check("FFVAE gives no utility", gap <= 0.01, words)
    return out


def _images(rows: pd.DataFrame) -> Check:
    some = rows[rows["dataset"].astype(str).str.startswith("mnist")]
    accuracy = some.groupby(["dataset", "epsilon"])["accuracy"].mean()
    words = "; ".join(f"{d} ε = {e:g}: {v:.3f}" for (d, e), v in accuracy.items())
    return _check("U stays readable", accuracy >= 0.9, words)


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return every claim's check, by its id."""
    ours = _ours(rows)
    out = {
        **_bounds(rows),
        "zero_epsilon": _zero_epsilon(ours),
        "epsilon_trades": _epsilon_trades(ours),
        "discrete_hides_more": _discrete_hides_more(ours),
        **_by_beta(ours),
        "images_keep_utility": _images(rows),
    }
    second = table2_rows(rows)
    return out | (_baselines(rows) if len(second) else {})
