"""The claims of arcolezi2023 (experiments/arcolezi2023/paper.yaml) as checks on our rows."""

from dataclasses import replace

import pandas as pd

from fairpriv.report.arcolezi2023.paired import claimed, paired_tests
from fairpriv.report.arcolezi2023.rows import (
    FAIRNESS,
    GENERALLY,
    PAPER,
    POINT,
    RETURNED,
    SLIGHT,
    UTILITY,
    against_nondp,
    distances,
    k_based_minus_uniform,
    title,
)
from fairpriv.report.check import Check
from fairpriv.report.summary import surely_below


def _share(holds: pd.Series, detail: str, least: float = 1.0, sure: bool | None = None) -> Check:
    if not len(holds):
        return Check("", None, "no such cells")
    return Check("", bool(holds.mean() >= least), f"{int(holds.sum())} of {len(holds)} settings; {detail}", sure)


def _not_worse(rows: pd.DataFrame, detail: str) -> Check:
    """Check that the distance from fair grows in few settings; surely where the t interval over seeds says so."""
    seeds = rows.groupby(POINT)[SLIGHT]
    apart = seeds.mean().stack()
    worse = seeds.agg(lambda change: surely_below(-change, 0)).stack()
    words = f"{int(worse.sum())} worse by more than chance; {detail}"
    return _share(apart <= 0, words, GENERALLY, bool(len(worse) and worse.mean() > 1 - GENERALLY))


def _fairness(rows: pd.DataFrame) -> Check:
    apart = against_nondp(distances(rows))
    by = apart.groupby("dataset")[SLIGHT].mean().mean(axis=1)
    words = ", ".join(f"{title(d)} {v:+.3f}" for d, v in by.items())
    return _not_worse(apart, f"mean change of the distance from fair (DI, SPD, EOD): {words}")


def _oad_exception(rows: pd.DataFrame) -> Check:
    acs = against_nondp(rows[(rows["dataset"] == "acs_public_coverage") & (rows["epsilon"].isin([0.25, float("inf")]))])
    change = acs.groupby(POINT)["oad"].mean()
    return _share(change < -0.05, f"OAD changes by {change.mean():+.3f} on average at ε = 0.25" if len(change) else "")


def _utility_minor(rows: pd.DataFrame) -> Check:
    adult = against_nondp(rows[rows["dataset"] == "adult_reconstructed"])
    change = adult.groupby(POINT)[list(UTILITY)].mean()
    if not len(change):
        return Check("", None, "no such cells")
    worst = change.min()
    words = ", ".join(f"{UTILITY[m]} {100 * v:+.1f}" for m, v in worst.items())
    level = 1 - 0.05 / change.size  # the worst of many settings is asked for
    sure = adult.groupby(POINT)[list(UTILITY)].agg(lambda loss: surely_below(loss, -0.02, level)).any(axis=None)
    return Check("", bool((worst >= -0.02).all()), f"largest loss in percentage points: {words}", bool(sure))


def _splits(rows: pd.DataFrame, datasets: list[str], metrics: list[str], sign: int) -> Check:
    """Check that k-based minus uniform, over all protocols and ε, has this sign in each dataset."""
    both = k_based_minus_uniform(rows[rows["dataset"].isin(datasets)])
    both = both[both["defense.protocol"].isin(PAPER)]
    if set(both["dataset"]) != set(datasets):
        return Check("", None, "needs both splits on " + ", ".join(map(title, datasets)))
    change = both.groupby("dataset")[metrics].mean().stack()
    words = ", ".join(f"{title(d)} {m} {v:+.4f}" for (d, m), v in change.items())
    by_seed = sign * both.groupby(["dataset", "seed"])[metrics].mean()
    sure = by_seed.groupby("dataset").agg(lambda gain: surely_below(gain, 0, 1 - 0.05 / change.size)).any(axis=None)
    holds = bool((sign * change >= 0).all())
    return Check("", holds, f"k-based minus uniform over all protocols and ε: {words}", bool(sure))


def _alike(rows: pd.DataFrame) -> Check:
    both = k_based_minus_uniform(rows[rows["dataset"] == "lsac"])
    if both.empty:
        return Check("", None, "needs both splits on LSAC")
    change = both[both["defense.protocol"].isin(PAPER)][["acc", "f1", "di", "spd"]].mean()
    words = ", ".join(f"{m} {v:+.4f}" for m, v in change.items())
    return Check("", bool((change.abs() <= 0.01).all()), f"k-based minus uniform over all protocols and ε: {words}")


def _kept_by_k_based(rows: pd.DataFrame) -> Check:
    adult = against_nondp(distances(rows[rows["dataset"] == "adult_reconstructed"]))
    return _not_worse(adult[adult["defense.split"] == "k_based"], "k-based on Adult, every ε up to 50")


def _ranks(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a dataset's protocols with the mean rank (1 is best) of utility and of fairness over ε and splits."""
    apart = against_nondp(distances(rows))
    apart = apart[apart["defense.protocol"].isin(PAPER)]
    mean = apart.groupby(["dataset", "defense.protocol"])[[*UTILITY, *SLIGHT, "oad"]].mean()
    groups = mean.groupby(level=0)
    useful = groups[list(UTILITY)].rank(ascending=False).mean(axis=1)
    fair = groups[[*SLIGHT, "oad"]].rank().mean(axis=1)
    return pd.DataFrame({"utility": useful, "fairness": fair, "both": (useful + fair) / 2})


def _best_tradeoff(rows: pd.DataFrame) -> Check:
    ranks = _ranks(rows)
    full = ranks.groupby(level=0).size() == len(PAPER) if len(ranks) else pd.Series(dtype=bool)
    if not len(full) or not full.all():
        return Check("", None, "needs all seven protocols")
    first = {d: list(r.droplevel(0)["both"].sort_values(kind="stable").index[:2]) for d, r in ranks.groupby(level=0)}
    words = "; ".join(f"{title(d)}: {' and '.join(names)}" for d, names in first.items())
    return Check("", all(set(names) == {"grr", "ss"} for names in first.values()), f"best two by mean rank: {words}")


def _blh_worst(rows: pd.DataFrame) -> Check:
    ranks = _ranks(rows)
    full = ranks.groupby(level=0).size() == len(PAPER) if len(ranks) else pd.Series(dtype=bool)
    if not len(full) or not full.all():
        return Check("", None, "needs all seven protocols")
    last = {d: r.droplevel(0)["utility"].idxmax() for d, r in ranks.groupby(level=0)}
    words = ", ".join(f"{title(d)} {name}" for d, name in last.items())
    return Check("", all(name == "blh" for name in last.values()), f"worst utility by mean rank: {words}")


def _fairest(rows: pd.DataFrame) -> Check:
    """Check that on ACSCoverage BLH comes nearest to fair, over all splits and ε, in DI, SPD and EOD."""
    apart = against_nondp(distances(rows[rows["dataset"] == "acs_public_coverage"]))
    mean = apart.groupby("defense.protocol")[[*SLIGHT, "oad"]].mean()
    if not set(PAPER) <= set(mean.index):
        return Check("", None, "needs all seven protocols on ACSCoverage")
    words = ", ".join(f"{FAIRNESS[m][0]} {mean[m].idxmin()} {mean[m].min():+.3f}" for m in SLIGHT)
    oad = f"OAD, the exception: blh {mean['oad']['blh']:+.3f}, the others {mean['oad'].drop('blh').mean():+.3f}"
    holds = bool((mean.loc["blh", SLIGHT] < mean.drop("blh")[SLIGHT].min()).all())
    return Check("", holds, f"nearest to fair: {words}; {oad}")


def _returns(rows: pd.DataFrame) -> Check:
    """Check that with the uniform split fairness is back at NonDP at the largest ε, and nearer to it than k-based."""
    high = against_nondp(rows[rows["epsilon"].isin([50, float("inf")])])
    change = high.groupby(["defense.split", "dataset", "defense.protocol"])[list(FAIRNESS)].mean().abs()
    if not {"uniform", "k_based"} <= set(change.index.get_level_values(0)):
        return Check("", None, "needs both splits at ε = 50")
    near = change.loc["uniform"].stack() <= RETURNED
    away = {s: change.loc[s].groupby("dataset").mean().mean(axis=1) for s in ("uniform", "k_based")}
    words = ", ".join(f"{title(d)} {away['uniform'][d]:.3f} ({away['k_based'][d]:.3f})" for d in away["uniform"].index)
    two = [d for d in ("adult_reconstructed", "acs_public_coverage") if d in away["uniform"]]
    nearer = bool((away["uniform"][two] < away["k_based"][two]).all())
    found = _share(near, f"mean distance from NonDP, uniform (k-based): {words}", GENERALLY)
    return replace(found, holds=bool(found.holds) and nearer)


def _appendix_utility(rows: pd.DataFrame) -> Check:
    """Check that on each dataset no utility metric loses more than two points, over all protocols, splits and ε."""
    lost = against_nondp(rows)
    if lost.empty:
        return Check("", None, "no such cells")
    by_seed = lost.groupby(["dataset", "seed"])[list(UTILITY)].mean()
    mean = by_seed.groupby("dataset").mean()
    level = 1 - 0.05 / mean.size
    sure = by_seed.groupby("dataset").agg(lambda loss: surely_below(loss, -0.02, level)).any(axis=None)
    parts = {d: ", ".join(f"{UTILITY[m]} {100 * v:+.1f}" for m, v in line.items()) for d, line in mean.iterrows()}
    words = "; ".join(f"{title(str(d))} {part}" for d, part in parts.items())
    return Check("", bool((mean >= -0.02).all(axis=None)), f"mean change in percentage points: {words}", bool(sure))


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Return the checks by their id in paper.yaml: judged by a rule on means, with the paired test beside it."""
    main, appendix = claimed(rows)
    found = {
        "fairness_not_worse": _fairness(main),
        "oad_exception_acs": _oad_exception(main),
        "utility_minor": _utility_minor(main),
        "k_based_utility_adult": _splits(main, ["adult_reconstructed"], list(UTILITY), +1),
        "uniform_utility_acs": _splits(main, ["acs_public_coverage"], list(UTILITY), -1),
        "k_based_fairness": _splits(distances(main), ["adult_reconstructed", "acs_public_coverage"], SLIGHT, -1),
        "k_based_stays_fair": _kept_by_k_based(main),
        "splits_alike_lsac": _alike(main),
        "uniform_returns": _returns(main),
        "grr_ss_best": _best_tradeoff(main),
        "blh_worst_utility": _blh_worst(main),
        "blh_fairest_acs": _fairest(main),
        "appendix_fairness": _fairness(appendix),
        "appendix_utility": _appendix_utility(appendix),
    }
    tests = paired_tests(main, appendix)
    return {
        claim: replace(check, detail=f"by the means: {check.detail}; {tests[claim].words}")
        if check.holds is not None and claim in tests
        else check
        for claim, check in found.items()
    }
