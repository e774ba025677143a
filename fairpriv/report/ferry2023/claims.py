"""The claims of ferry2023's text."""

import pandas as pd

from fairpriv.metrics.unfairness import METRICS
from fairpriv.report.check import Check
from fairpriv.report.ferry2023.tables import ADVERSARIES, finished, of

LEARNERS = ("exponentiated_gradient", "threshold_optimizer", "correlation_remover")  # those of the paper


def _check(claim: str, bad: list[str], tried: int) -> Check:
    if tried == 0:
        return Check(claim, None, "no such cells in this run")
    said = f"holds in {tried - len(bad)} of {tried}"
    return Check(
        claim, not bad, said + (f"; not in {'; '.join(bad[:4])}{' ...' if len(bad) > 4 else ''}" if bad else "")
    )


def checks(rows: pd.DataFrame) -> dict[str, Check]:
    """Check the claims of the text on means over seeds."""
    done = finished(rows)
    done = done[done["attack"].isin(ADVERSARIES) & done["defense"].isin(LEARNERS)]
    out = {}
    fair = done[done["fairness"].notna()]
    keys = ["dataset", "defense", "fairness", "tolerance", "attack"]
    gain = (
        fair.groupby(keys, dropna=False, observed=True)["improvement"].mean() if "improvement" in fair else pd.Series()
    )
    bad = [f"{' '.join(map(str, key))}: {value:+.4f}" for key, value in gain.items() if value < 0]
    out["corrected_not_below_baseline"] = _check("corrected >= baseline in every cell", bad, len(gain))
    spread, bad, tried = of(fair, "exponentiated_gradient"), [], 0
    for key, part in spread.groupby(["dataset", "fairness", "attack"]):
        by = part.groupby("tolerance")["improvement"].mean()
        if len(by) > 1:
            tried += 1
            if by.iloc[0] < by.iloc[-1]:
                bad.append(
                    f"{' '.join(key)}: {by.iloc[0]:.4f} at {by.index[0]:g}, {by.iloc[-1]:.4f} at {by.index[-1]:g}"
                )
    out["improvement_grows_as_tolerance_shrinks"] = _check("improvement grows as ε shrinks", bad, tried)
    bad, tried = [], 0
    tight = pd.concat([of(fair, "threshold_optimizer"), spread[spread["tolerance"] == spread["tolerance"].min()]])
    for key, part in tight.groupby(["dataset", "defense", "attack"]):
        by = part.groupby("fairness", observed=True)["improvement"].mean()
        if "EO" in by and len(by) == len(METRICS):
            tried += 1
            if by.idxmin() != "EO":
                bad.append(f"{' '.join(key)}: {by.idxmin()} {by.min():.4f}, EO {by['EO']:.4f}")
    out["eo_improves_least"] = _check("EO improves least", bad, tried)
    estimated = done[done["estimated_metric"].notna()]
    odds = estimated[(estimated["fairness"] == "EOdds") & (estimated["metric_detected"] > 0)]
    named = [" ".join(map(str, r)) for r in odds[["dataset", "defense", "tolerance", "seed"]].itertuples(index=False)]
    tried = int((estimated["fairness"] == "EOdds").sum())
    out["eodds_never_detected"] = _check("EOdds is never the estimated metric", named, tried)
    by = done.groupby(keys, dropna=False, observed=True)["improvement_estimated"].mean()
    bad = [f"{' '.join(map(str, key))}: {value:+.4f}" for key, value in by.items() if value < 0]
    out["estimated_not_below_baseline"] = _check("an estimated constraint still improves the baseline", bad, len(by))
    known = fair[fair["corrected_exact"].notna()] if "corrected_exact" in fair else fair.iloc[:0]
    known_by = known.groupby(["dataset", "defense", "fairness"], observed=True)[["corrected", "corrected_exact"]].mean()
    bad = [
        f"{' '.join(k)}: {r.corrected_exact - r.corrected:+.4f}"
        for k, r in known_by.iterrows()
        if r.corrected_exact < r.corrected
    ]
    out["exact_unfairness_helps"] = _check("the exact training unfairness helps more than a bound", bad, len(known_by))
    return out
