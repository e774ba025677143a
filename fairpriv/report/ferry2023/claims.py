"""The claims of ferry2023's text, held against our rows seed by seed.

All cells of a seed and dataset have the same split, so differences are taken within a seed. A claim fails where a mean
says so, and surely where a paired 95 % t interval does, its level divided by the number of settings asked.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from fairpriv.metrics.unfairness import METRICS
from fairpriv.report.check import Check
from fairpriv.report.ferry2023.tables import ADVERSARIES, SIZES, TITLES, finished, of
from fairpriv.report.summary import surely_below

LEARNERS = ("exponentiated_gradient", "threshold_optimizer", "correlation_remover")  # those of the paper
ALIKE = 0.01  # "almost perfectly identical", "rather constant": the tolerance of the tables
CORRECTIONS = 200  # a cell makes at least so many: 100 exponents for each of two constraints
Setting = tuple[str, np.ndarray]  # its name, and one value a seed that the claim says is >= 0


def _named(key: object) -> str:
    values = key if isinstance(key, tuple) else (key,)
    return " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values if not _missing(v))


def _missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _never_below(claim: str, settings: list[Setting]) -> Check:
    """Check that no setting's mean is below 0, and say of which that is more than chance."""
    if not settings:
        return Check(claim, None, "no such cells in this run")
    level = 1 - 0.05 / len(settings)
    below = sorted(((float(v.mean()), name, v) for name, v in settings if v.mean() < 0), key=lambda found: found[0])
    surely = [name for _, name, v in below if surely_below(v, 0, level)]
    said = f"holds in {len(settings) - len(below)} of {len(settings)}"
    if below:
        named = "; ".join(f"{name}: {mean:+.4f}" for mean, name, _ in below[:4])
        said += f", surely fails in {len(surely)}; not in {named}{' ...' if len(below) > 4 else ''}"
    return Check(claim, not below, said, bool(surely))


def _gains(rows: pd.DataFrame, column: str) -> list[Setting]:
    """Return a column's values, a setting a time."""
    if column not in rows:
        return []
    keys = ["dataset", "defense", "fairness", "tolerance", "attack"]
    rows = rows[rows[column].notna()]
    return [(_named(key), v.to_numpy(float)) for key, v in rows.groupby(keys, dropna=False, observed=True)[column]]


def _paired(rows: pd.DataFrame, keys: list[str], axis: str, column: str) -> Iterator[tuple[object, pd.DataFrame]]:
    """Yield, for each setting, a table of a column with a row a seed and a column a value of the axis."""
    for key, part in rows.groupby(keys, observed=True):
        yield key, part.pivot_table(index="seed", columns=axis, values=column, observed=True).dropna()


def _tightest_against_loosest(spread: pd.DataFrame) -> list[Setting]:
    out = []
    for key, by in _paired(spread, ["dataset", "fairness", "attack"], "tolerance", "improvement"):
        if by.shape[1] > 1 and len(by):
            out.append((_named(key), (by[by.columns.min()] - by[by.columns.max()]).to_numpy()))
    return out


def _others_against_eo(tight: pd.DataFrame) -> list[Setting]:
    out = []
    for key, by in _paired(tight, ["dataset", "defense", "attack"], "fairness", "improvement"):
        if len(by.columns) == len(METRICS) and len(by):
            out += [(f"{_named(key)} {m}", (by[m] - by["EO"]).to_numpy()) for m in METRICS if m != "EO"]
    return out


def _within(values: np.ndarray, limit: float) -> list[np.ndarray]:
    """Return what is >= 0 where a difference is within a limit, on either side."""
    return [limit - values, limit + values]


def _adversaries_alike(spread: pd.DataFrame) -> list[Setting]:
    out = []
    for key, by in _paired(spread, ["dataset", "fairness", "tolerance"], "attack", "corrected"):
        if set(ADVERSARIES) <= set(by) and len(by):
            gap = (by["adversary_xyh"] - by["adversary_xy"]).to_numpy()
            out += [(_named(key), side) for side in _within(gap, ALIKE)]
    return out


def _constant_baseline(spread: pd.DataFrame) -> list[Setting]:
    """Return how far A′'s guess at each tolerance is from its mean over tolerances."""
    out = []
    own = spread[spread["attack"] == "adversary_xyh"]
    for key, by in _paired(own, ["dataset", "fairness"], "tolerance", "baseline"):
        if by.shape[1] > 1 and len(by):
            apart = by.sub(by.mean(axis=1), axis=0)
            out += [(f"{_named(key)} {t:g}", side) for t in by for side in _within(apart[t].to_numpy(), ALIKE)]
    return out


def _up_to_six_hundredths(spread: pd.DataFrame) -> Check:
    """Check the largest improvement the text names: 0.06, statistical parity on ACSIncome, A′, tight constraints."""
    claim = "improvements of up to 0.06 (SP, ACSIncome)"
    named = spread[(spread["dataset"] == "acs_income") & (spread["fairness"] == "SP")]
    by = named[named["attack"] == "adversary_xyh"].groupby("tolerance")["improvement"]
    if not len(by):
        return Check(claim, None, "no such cells in this run")
    best = by.mean().idxmax()
    values = by.get_group(best).to_numpy(float)
    everywhere = spread.groupby(["dataset", "fairness", "tolerance", "attack"], observed=True)["improvement"].mean()
    top = f"the largest of all is {everywhere.max():.3f} ({_named(everywhere.idxmax())})"
    sides = [values - 0.055, 0.065 - values]
    sure = any(surely_below(side, 0, 1 - 0.05 / (2 * len(by))) for side in sides)
    holds = all(side.mean() >= 0 for side in sides)
    return Check(claim, holds, f"{values.mean():.3f} at ε = {best:g}, {len(values)} seeds; {top}", sure)


def _solved_in_time(done: pd.DataFrame) -> Check:
    """Check that all corrections are optimal, and take less than a second: a cell makes hundreds of them."""
    claim = "every correction is optimal, in less than a second on average"
    if "seconds" not in done or done["seconds"].isna().all():
        return Check(claim, None, "no times in these rows")
    states = pd.concat([done[c].dropna() for c in ("correction", "estimated_correction") if c in done])
    optimal = int((states == "optimal").sum())
    longest = float(done["seconds"].mean()) / CORRECTIONS
    said = f"{optimal} of {len(states)} optimal; a cell, training included, takes {done['seconds'].mean():.2g} s for at"
    return Check(
        claim,
        optimal == len(states) and longest < 1,
        f"{said} least {CORRECTIONS} corrections: below {1000 * longest:.2g} ms each",
    )


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Check the claims of the text."""
    done = finished(rows)
    done = done[done["attack"].isin(ADVERSARIES) & done["defense"].isin(LEARNERS)]
    done = done[~done["dataset"].isin(set(SIZES) - set(TITLES))]
    fair = done[done["fairness"].notna()]
    if "improvement" not in fair:
        fair = fair.assign(improvement=np.nan).iloc[:0]
    spread = of(fair, "exponentiated_gradient")
    tight = pd.concat([of(fair, "threshold_optimizer"), spread[spread["tolerance"] == spread["tolerance"].min()]])
    exact = fair.get("corrected_exact", pd.Series(np.nan, fair.index)) - fair.get("corrected", np.nan)
    odds = done[(done["fairness"] == "EOdds") & done["estimated_metric"].notna()]
    return {
        "corrected_not_below_baseline": _never_below("corrected >= baseline", _gains(fair, "improvement")),
        "improvement_grows_as_tolerance_shrinks": _never_below(
            "improvement grows as ε shrinks", _tightest_against_loosest(spread)
        ),
        "improvement_up_to_six_hundredths": _up_to_six_hundredths(spread),
        "adversaries_alike": _never_below(f"A and A′ within {ALIKE} of each other", _adversaries_alike(spread)),
        "baseline_constant_over_tolerances": _never_below(
            f"A′'s guess within {ALIKE} of its mean over ε", _constant_baseline(spread)
        ),
        "eo_improves_least": _never_below("EO improves least", _others_against_eo(tight)),
        "eodds_never_detected": _never_below(
            "EOdds is never the estimated metric",
            [(_named(key), -v.to_numpy(float)) for key, v in odds.groupby(["dataset", "defense"])["metric_detected"]],
        ),
        "estimated_not_below_baseline": _never_below(
            "an estimated constraint still improves the baseline", _gains(done, "improvement_estimated")
        ),
        "exact_unfairness_helps": _never_below(
            "the exact training unfairness helps more than a bound", _gains(fair.assign(more=exact), "more")
        ),
        "solved_in_time": _solved_in_time(done),
    }
