"""Audits of query defenses: answers are asked of a compliance desk, on the two neighbours that are worst by the law.

Three things are found out. What the declared law costs (`audits.worst`). Whether the answers have that law: they lie on
the public grid, and their probabilities are uniform and independent (Kolmogorov and Smirnov's test). And what answers
alone prove (`audits.sampled`): by all m together and by their last bits, assuming nothing, and by single answers, which
m independent ones are m times as bad as. Where the noise is less than declared, its scale is bounded from the answers
and the law worked out again at that scale.
"""

import math
from dataclasses import replace

import numpy as np
from scipy import stats

from fairpriv import validate
from fairpriv.audits.result import Audit
from fairpriv.audits.sampled import by_low_bits, by_scores, on_grid
from fairpriv.audits.worst import Pair, Worst, pairs, worst
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.desk import ComplianceDesk
from fairpriv.mechanisms.bounding import log_density, metric_range
from fairpriv.mechanisms.noise import Exact, Law


def asked(defense: QueryDefense, found: Worst, side: int, m: int, metric: str, samples: int, rng) -> np.ndarray:
    """Return what a desk answers when the worst model is sent m times, (samples, m), on one side of the pair."""
    (n0, n1), _ = found.pair.sizes
    one, zero, mover = found.pair.models[found.which]
    h = np.tile(np.concatenate([[mover], np.full(n0 - 1, zero), np.full(n1, one)]), (m, 1))
    group = np.concatenate([[side], np.zeros(n0 - 1, int), np.ones(n1, int)])
    view = ComplianceDesk(group, np.ones(n0 + n1, int), defense, rng).view(h[0])
    return np.array([view.ask(h, metric) for _ in range(samples)])


def uniforms(x: np.ndarray, gap: float, law: Law, metric: str, bounding: str, rng: np.random.Generator) -> np.ndarray:
    """Return the probability of a smaller answer under the law: uniform if x has it; ends of a range are spread out."""
    low, high = metric_range(metric)
    u = law.cdf(x - gap)
    if bounding == "none":
        return u
    below, above = law.cdf(low - gap), law.cdf(gap - high)
    if bounding == "truncate":
        return (u - below) / (1 - below - above)
    spread = rng.random(x.shape)
    return np.where(x <= low, spread * below, np.where(x >= high, 1 - spread * above, u))


def has_law(u: np.ndarray, error: float) -> bool:
    """Tell whether rows of uniforms are uniform and independent; says no to such rows with probability `error`."""
    normal = stats.norm.ppf(np.clip(u, 1e-12, 1 - 1e-12)).sum(axis=1) / math.sqrt(u.shape[1])
    tests = [stats.kstest(u.ravel(), "uniform").pvalue, stats.kstest(normal, "norm").pvalue]
    return bool(min(tests) >= error / 2)


def scale_bound(residuals: np.ndarray, law: Law, error: float) -> float:
    """Return a bound from above on the scale of noise of this family, in units of the declared: by the median size."""
    sizes = np.sort(np.abs(residuals.ravel()))
    rank = int(stats.binom.ppf(1 - error, len(sizes), 0.5)) + 1
    return float(sizes[min(rank, len(sizes) - 1)] / law.ppf(0.75))


def _scores(x: np.ndarray, gaps: tuple[float, float], pair: Pair, metric: str, bounding: str) -> np.ndarray:
    logs = [log_density(x, g, law, metric, bounding) for g, law in zip(gaps, pair.laws)]
    return np.clip(logs[0], -1e300, 1e300) - np.clip(logs[1], -1e300, 1e300)


def audit(
    defense: QueryDefense,
    n: int,
    m: int,
    metric: str = "sp",
    *,
    samples: int = 3000,
    rng: np.random.Generator,
    confidence: float = 0.999,
) -> Audit:
    """Audit the claim of a query defense for m answers about n people.

    Parameters
    ----------
    defense : QueryDefense
        What is audited.
    n : int
        People the metric looks at: for `eo` those with Y = 1. Equalized odds is audited within one class of n, since a
        neighbour differs in one only.
    m : int
        Number of queries.
    metric : str
        The gap asked for.
    samples : int
        How often each of the two worst neighbours is asked.
    rng : numpy.random.Generator
        The desk's randomness.
    confidence : float
        Probability that all that is found from answers is right.
    """
    validate.integer("n", n, at_least=3)
    validate.integer("m", m, at_least=1)
    validate.integer("samples", samples, at_least=100)
    validate.number("confidence", confidence, above=0, below=1)
    metric = metric.replace("eodds", "eo")
    found = worst(defense, pairs(defense, n, m, metric), m, metric)
    gaps = tuple(float(gap[found.which]) for gap in found.pair.gaps)
    answers = [asked(defense, found, side, m, metric, samples, rng) for side in (0, 1)]
    error = (1 - confidence) / 6  # three bounds, two tests of the law, one bound on the scale
    lower = _lower(defense, found.pair, gaps, answers, m, metric, error)
    grid = defense.grid(metric, *found.pair.sizes[0], m)
    follows = isinstance(found.pair.laws[0], Exact) or all(
        on_grid(x, grid) and has_law(uniforms(x, gap, law, metric, defense.bounding, rng), error)
        for x, gap, law in zip(answers, gaps, found.pair.laws)
    )
    if not follows and defense.bounding == "none":
        found = _at_scale_seen(defense, found, gaps, answers, m, metric, error)
    return Audit(
        claimed=defense.epsilon,
        delta=0.0 if math.isinf(defense.epsilon) else defense.delta,
        exact=found.exact,
        exact_delta=found.exact_delta,
        sampled_lower=lower,
        follows=follows,
        confidence=confidence,
        worst=f"{found.pair.sizes[0]} and {found.pair.sizes[1]}",
    )


def _lower(defense: QueryDefense, pair: Pair, gaps, answers, m: int, metric: str, error: float) -> float:
    """Return the lower bound on epsilon from all answers together or, if better, from single ones."""
    scores = [_scores(x, gaps, pair, metric, defense.bounding) for x in answers]
    together = max(
        by_scores(*(s.sum(axis=1) for s in scores), error, defense.delta), by_low_bits(*answers, error, defense.delta)
    )
    if defense.delta > 0 or m == 1:
        return together
    return max(together, m * by_scores(*(s.ravel() for s in scores), error))


def _at_scale_seen(defense: QueryDefense, found: Worst, gaps, answers, m: int, metric: str, error: float) -> Worst:
    """Return the cost at the largest scale that fits the answers, where that is below the one declared."""
    factor = max(scale_bound(x - gap, law, error / 2) for x, gap, law in zip(answers, gaps, found.pair.laws))
    if factor >= 1:
        return found
    if factor == 0:
        return replace(found, exact=math.inf, exact_delta=(1.0, 1.0))
    return worst(defense, [found.pair.scaled(factor)], m, metric)
