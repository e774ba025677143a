"""Tables of hamman2023 from the cells of attribute_conceal and attribute_reveal."""

import numpy as np
import pandas as pd

from fairpriv.report.hamman2023.forensics import forensic_leakages, forensics
from fairpriv.report.hamman2023.phase import thresholds
from fairpriv.report.hamman2023.unprinted import queries_tried
from fairpriv.report.summary import half_width, summarise

POINT = ["dataset", "n", "n0", "m", "attack.queries", "epsilon", "defense"]
OTHERS = ["attack", "attack.decoder", "attack.group_sizes", "attack.clip", "defense.bounding", "candidate", "audit"]
AXES = [*POINT, *OTHERS, "attack.threshold", "model"]
ERRORS = ["sp_error", "sp_error_median", "sp_error_raw", "sp_error_signed"]
NAMES = {
    "conceal": "Attribute-Conceal (paper)",
    "conceal_tight": "Conceal-Tight (ours)",
    "conceal_exact": "Conceal-Exact (ours)",
    "conceal_aware": "Conceal-Aware (ours; swaps, $N_0$ public)",
    "conceal_laplace": "smooth Laplace, (ε, δ) (Theorem 6)",
    "laplace": "global Laplace",
    "gaussian": "global Gaussian",
}
DECODER_NAMES = {
    "l1": "ℓ1 recovery (paper)",
    "box": "box-constrained",
    "noise_aware": "noise-aware ℓ1",
    "maximum_likelihood": "maximum likelihood",
}
ONE_PERSON = "one person's group, against whoever knows all others' but not N0"
SWAP = "which of two people is in which group, N0 being public"


def with_axes(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with every axis of the paper's grids as a column: a run of one's own need not have them all."""
    missing = [axis for axis in AXES if axis not in rows]
    return rows.assign(**{axis: pd.Series(np.nan, rows.index, dtype=object) for axis in missing})


def said(column: pd.Series, value: bool) -> pd.Series:
    """Tell where a column of yes and no, read back or not, says this."""
    return column.astype(str) == str(value)


def of_mechanisms(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the mechanisms as they are: no candidate laws, no audits, answers decoded clipped."""
    apart = rows["candidate"].notna() | said(rows["audit"], True) | said(rows["attack.clip"], False)
    return rows[~apart]


def conceal_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return a summary of every point, the paper's tables in their layout, what the strongest attacker gets, and more.

    `mechanisms` has error and strongest leakage side by side, `bounding` Remark 3, `clipping` what clipping gives an
    attacker, `forensics` what the printed errors might have come from.
    """
    absent = [axis for axis in AXES if axis not in rows]
    everything = with_axes(rows)
    rows = of_mechanisms(everything)
    every = summarise(rows, [*POINT, "attack.decoder"], [*ERRORS, "leakage", "recovered", "noise_scale"])
    paper = every[every["attack.decoder"] == "l1"]
    tables = {"summary": every.drop(columns=absent, errors="ignore")}
    tables |= {"attackers": _attackers(every), "mechanisms": _mechanisms(every)}
    tables |= {"bounding": bounding_table(everything), "clipping": _clipping(everything)}
    if everything["candidate"].notna().any():
        tables |= {"forensics": forensics(everything), "forensics_leakage": forensic_leakages(everything)}
        tables["table3_queries"] = queries_tried()
    for name, where, second in (
        ("table1", paper["dataset"] == "adult_race", "leakage"),
        ("table2_and_3", paper["dataset"] == "synthetic", "leakage"),
        ("table4", paper["dataset"] == "german", "recovered"),
    ):
        if where.any():
            tables[name] = _side_by_side(paper[where], ["n", "n0", "m", "epsilon"], ["sp_error", second])
    return {name: table for name, table in tables.items() if len(table)}


def _side_by_side(every: pd.DataFrame, index: list[str], metrics: list[str]) -> pd.DataFrame:
    """Return its layout: a row per setting, for each metric a column per mechanism, each with its half width."""
    columns = [c for metric in metrics for c in (metric, f"{metric}_ci")]
    wide = every.pivot_table(index=index, columns="defense", values=columns, sort=False, dropna=False)
    order = [(metric, d) for metric in columns for d in NAMES if (metric, d) in wide.columns]
    wide = wide[order].dropna(how="all")
    wide.columns = [f"{metric}.{defense}" for metric, defense in wide.columns]
    return wide.reset_index().sort_values(index).reset_index(drop=True)


def _attackers(every: pd.DataFrame) -> pd.DataFrame:
    """Return, per setting, what the paper's decoder recovers and what the strongest does."""
    wide = every.pivot_table(index=POINT, columns="attack.decoder", values="leakage", sort=False, dropna=False)
    wide = wide.dropna(how="all")
    several = wide.notna().sum(axis=1) > 1
    wide = wide[several]
    if wide.empty:
        return wide
    out = wide.add_prefix("leakage.")
    out["strongest"] = wide.idxmax(axis=1)
    out["leakage.strongest"] = wide.max(axis=1)
    if "l1" in wide:
        out["gain_over_paper"] = out["leakage.strongest"] - wide["l1"]
    return out.reset_index().replace({np.nan: None})


def strongest(every: pd.DataFrame) -> pd.DataFrame:
    """Return one row a point of the summary: that of the decoder that recovers most there, of `attackers` tried."""
    counted = every.assign(attackers=every.groupby(POINT, dropna=False)["attack.decoder"].transform("nunique"))
    best = counted.sort_values("leakage", ascending=False, kind="stable").groupby(POINT, dropna=False, sort=False)
    return best.head(1).rename(columns={"attack.decoder": "strongest"})


def _mechanisms(every: pd.DataFrame) -> pd.DataFrame:
    """Return error and the strongest attacker's leakage of every mechanism, and what each promises.

    The same ε is not the same promise: `conceal_aware` protects swaps where N0 is public.
    """
    finite = every[np.isfinite(every["epsilon"].astype(float)) & every["defense"].isin(NAMES)]
    best = strongest(finite)
    several = best.groupby(["dataset", "n", "n0", "m", "epsilon"], dropna=False)["defense"].transform("nunique") > 1
    best = best[several].assign(protects=best["defense"].map(lambda d: SWAP if d == "conceal_aware" else ONE_PERSON))
    columns = ["dataset", "n", "n0", "m", "epsilon", "defense", "sp_error", "sp_error_ci", "sp_error_median"]
    columns += ["leakage", "leakage_ci", "strongest", "attackers", "seeds", "protects"]
    order = {name: i for i, name in enumerate(NAMES)}
    out = best[columns].sort_values("defense", key=lambda d: d.map(order), kind="stable")
    return out.sort_values(["dataset", "n", "n0", "m", "epsilon"], kind="stable").reset_index(drop=True)


def bounding_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Return Remark 3: how answers are kept in range, against error (as answered), leakage and ε of the audits."""
    some = rows[said(rows["audit"], True)]
    if some.empty:
        return some
    point = ["dataset", "n", "n0", "m", "defense", "epsilon", "defense.bounding"]
    out = summarise(some, point, ["sp_error_raw", "sp_error", "leakage"])
    grouped = some.groupby(point, sort=False, dropna=False)  # own data have no n0
    runs = grouped["sp_error_raw"].agg(["median", lambda v: v.quantile(0.25), lambda v: v.quantile(0.75)])
    runs.columns = ["error_of_a_run_median", "error_of_a_run_25", "error_of_a_run_75"]
    law = grouped[["epsilon_accounted", "epsilon_audited"]].max()
    return out.merge(runs.join(law).reset_index(), on=point)


def _clipping(rows: pd.DataFrame) -> pd.DataFrame:
    """Return what clipping answers before decoding gives the attacker: paired differences in leakage."""
    some = rows[rows["candidate"].isna() & ~said(rows["audit"], True)]
    point = [*POINT, "attack.decoder"]
    some = some.assign(clip=some["attack.clip"].astype(str))
    both = some.groupby(point, dropna=False)["clip"].transform("nunique") > 1  # own data have no n0
    out = []
    for key, mine in some[both].groupby(point, dropna=False):
        wide = mine.pivot_table(index="seed", columns="clip", values="leakage")
        gain = (wide["True"] - wide["False"]).dropna()
        found = {"leakage.clipped": wide["True"].mean(), "leakage.as_answered": wide["False"].mean()}
        found |= {"gain": gain.mean(), "gain_ci": half_width(gain.to_numpy()), "seeds": len(gain)}
        out.append(dict(zip(point, key)) | found)
    return pd.DataFrame(out)


def reveal_tables(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return a summary of every attack, accuracies of realistic models (Section A.7), and Theorem 2's thresholds.

    `detection` has what 300 exact answers give away of Adult's 1000 people by what is not printed: the share of s̄ from
    which a person is called a member of group 0, and the base model.
    """
    point = [c for c in ("dataset", "n", "n0", "attack", "m", "model") if c in rows] + [
        c for c in rows if c.startswith("attack.")
    ]
    tables = {"summary": summarise(rows, point, ["leakage", "leakage_up_to_swap", "recovered", "queries"])}
    whole = with_axes(rows)  # one more query for the group sizes is no realistic model
    realistic = rows[(whole["attack.queries"] == "perturbed") & (whole["attack.group_sizes"] != "estimated")]
    if len(realistic):
        accuracies = ["base_accuracy", "model_accuracy", "model_accuracy_sd"]
        by = [c for c in ("dataset", "n", "m", "model") if c in rows]
        once = realistic.drop_duplicates([*by, "seed"])  # the models are the same for every decoder
        tables["accuracies"] = summarise(once, by, accuracies)
    if len(found := thresholds(with_axes(rows))):
        tables["queries_needed"] = found
    if len(found := detection(with_axes(rows))):
        tables["detection"] = found
    return tables


def detection(rows: pd.DataFrame) -> pd.DataFrame:
    """Return leakage and how far it scatters from one test set to the next, by threshold and by base model."""
    setting = ["dataset", "n", "n0", "m", "attack.decoder", "attack.queries", "attack.group_sizes"]
    told = rows[rows["attack.threshold"].notna()]
    at = pd.MultiIndex.from_frame(rows[setting]).isin(pd.MultiIndex.from_frame(told[setting]))
    some = rows[at].fillna({"attack.threshold": 0.5, "model": "logistic"})
    return summarise(some, [*setting[:5], "attack.threshold", "model"], ["leakage"]) if len(some) else some
