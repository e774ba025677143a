"""Fairness of the decisions, with intervals: for sampling, and for sampling and the noise of private answers.

Rates of a group are uncertain as shares of a sample are: each has a Jeffreys posterior, Beta(k + 1/2, n − k + 1/2),
whose quantiles are intervals with the right coverage on average, at 0 % and 100 % too (Brown, Cai & DasGupta 2001).
Gaps and ratios are computed on draws from the posteriors of both groups.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpriv.assessment.groups import Comparison
from fairpriv.defenses.query.base import QueryDefense, Question
from fairpriv.errors import BadRequest
from fairpriv.metrics.group_fairness import group_fairness
from fairpriv.metrics.odds import rates

DRAWS = 20_000
LEVEL = 0.95
# what is shown: our name, the metric of metrics.group_fairness, what a desk calls it, and in words
SHOWN = (
    ("selection_rate_gap", "spd", "sp", "selection rate"),
    ("impact_ratio", "di", None, "impact ratio"),
    ("true_positive_gap", "eod", "eo", "selection rate among those with the favourable outcome"),
    ("false_positive_gap", "fpd", "eodds", "selection rate among those without the favourable outcome"),
    ("accuracy_gap", "oad", None, "accuracy"),
)


@dataclass(frozen=True)
class Interval:
    """A 95 % interval."""

    low: float
    high: float


def _draws(hits: np.ndarray, among: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw from the posterior of a share; NaN among nobody."""
    n, k = int(among.sum()), int(hits[among].sum())
    return rng.beta(k + 0.5, n - k + 0.5, DRAWS) if n else np.full(DRAWS, np.nan)


def _interval(draws: np.ndarray) -> Interval:
    tail = (1 - LEVEL) / 2
    return Interval(*(float(q) for q in np.quantile(draws, [tail, 1 - tail])))


def posterior(
    label: np.ndarray, decision: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Return draws of what is shown, given the people at hand."""
    y, h = label == 1, decision == 1
    share = {}
    for a in (0, 1):
        inside = group == a
        share["sp", a] = _draws(h, inside, rng)
        share["tpr", a] = _draws(h, inside & y, rng)
        share["fpr", a] = _draws(h, inside & ~y, rng)
        share["acc", a] = _draws(h == y, inside, rng)
    return {
        "spd": share["sp", 1] - share["sp", 0],
        "di": share["sp", 0] / share["sp", 1],
        "eod": share["tpr", 1] - share["tpr", 0],
        "fpd": share["fpr", 1] - share["fpr", 0],
        "oad": share["acc", 1] - share["acc", 0],
    }


def sampling_deviation(label: np.ndarray, decision: np.ndarray, group: np.ndarray, rng: np.random.Generator) -> float:
    """Return by how much the gap in selection rates would vary between samples of people such as these."""
    return float(posterior(label, decision, group, rng)["spd"].std())


def measures(
    comparison: Comparison,
    label: np.ndarray,
    decision: np.ndarray,
    rng: np.random.Generator,
    defense: QueryDefense,
    models: np.ndarray,
) -> list[dict[str, Any]]:
    """Return a row a metric: its value on these people and the intervals; gaps are reference minus the group looked at.

    A metric that a desk answers has a second interval: what one who sees the answer only can say, as sampling and the
    noise of the defense both blur it, where it answers about all these models (m, n) within its budget.
    """
    values, _ = group_fairness(label, decision, comparison.group)
    false = [rates(decision[comparison.group == a], label[comparison.group == a])[1] for a in (0, 1)]
    values["fpd"] = false[1] - false[0]
    draws = posterior(label, decision, comparison.group, rng)
    rows = []
    for name, key, asked, words in SHOWN:
        known = bool(np.isfinite(values[key]) and np.isfinite(draws[key]).all())
        row = {
            "attribute": comparison.attribute,
            "kind": comparison.kind,
            "group": comparison.looked_at,
            "reference": comparison.reference,
            "metric": name,
            "about": words,
            "value": values[key] if known else None,
            "sampling": vars(_interval(draws[key])) if known else None,
            "sampling_and_noise": None,
        }
        if known and asked:
            noise = _noise(Question(models, asked, comparison.group, label), defense, rng)
            if noise is not None:
                row["sampling_and_noise"] = vars(_interval(np.clip(draws[key] + noise, -1, 1)))
        rows.append(row)
    return rows


def _noise(question: Question, defense: QueryDefense, rng: np.random.Generator) -> np.ndarray | None:
    """Return draws of the noise in one answer; nothing where too few people are asked about."""
    if any(len(np.unique(question.group[people])) < 2 for people in question.classes):
        return None  # a class without one of the groups: a desk cannot answer
    try:
        law = defense.noise_law(question)
    except BadRequest:
        return None
    if question.metric == "eodds":  # answers have two parts; the second is about those without the favourable outcome
        return law.sample((DRAWS, 2), rng)[:, 1]
    return law.sample(DRAWS, rng)
