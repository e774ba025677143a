"""Audits of a query defense: what the answers really cost, next to what is claimed.

All pairs of neighbouring sizes (n0, n1) and (n0 - 1, n1 + 1) are scanned, each with the gaps that part them most. A
developer may send one model m times, so all m answers can move by the worst case, and for independent noise the worst
log density ratio of m answers is m times that of one.

*Exact*, delta = 0: the supremum over answers of the log density ratio, on a grid refined around its maximum; a lower
bound that converges. Bounded answers are audited as they are given, with masses at the ends or conditioned, at the
corner cases of `worst_gaps`.
*Exact*, delta > 0: the delta needed at the claimed epsilon. For noise of one scale (Gaussian) in closed form for any m;
for scales that differ (`conceal_laplace`) by numeric integration for m = 1, and not at all (nan) for m > 1.
*Sampled*: a lower bound on epsilon from samples alone: an event chosen on one half of them, its two probabilities
bounded on the other half (Clopper-Pearson). Answers are drawn from `defense.law` and its bounding; densities only
choose the event, so a wrong one weakens the bound and cannot falsify it. It cannot exceed log(samples) or so.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import betaincinv

from fairpriv import validate
from fairpriv.mechanisms.bounding import log_density, metric_range, noisy
from fairpriv.mechanisms.gaussian import gaussian_delta
from fairpriv.mechanisms.noise import Exact, Gaussian, Law

if TYPE_CHECKING:
    from fairpriv.defenses.base import QueryDefense

_GRID = np.sinh(np.linspace(-10, 10, 1601))  # in units of the scale: fine at the centre, out to 1e4 (rounding beyond)


@dataclass(frozen=True)
class AuditResult:
    """What was claimed and what was found; `worst_sizes` are the (n0, n1) of the worst pair of neighbours."""

    claimed: float
    delta: float
    exact: float
    exact_delta: float
    sampled_lower: float
    confidence: float
    worst_sizes: tuple[tuple[int, int], tuple[int, int]]

    @property
    def passed(self) -> bool:
        """Whether nothing that was computed contradicts the claim.

        That is no proof: `exact_delta` = nan was not computed and cannot contradict; samples give a lower bound only,
        which errs with probability 1 - confidence.
        """
        if self.delta > 0:
            exact = not self.exact_delta > self.delta * (1 + 1e-9)
        else:
            exact = self.exact <= self.claimed * (1 + 1e-9)
        return exact and self.sampled_lower <= self.claimed


class _Pair(NamedTuple):
    """Neighbours: sizes, noise laws and the candidate gaps of the one and of the other."""

    sizes: tuple[tuple[int, int], tuple[int, int]]
    laws: tuple[Law, Law]
    gaps: tuple[np.ndarray, np.ndarray]


def worst_gaps(metric: str, n0: int, n1: int) -> tuple[np.ndarray, np.ndarray]:
    """Return gaps before and after one of n0 people moves to the other group, at the corners of what models can do.

    With t the prediction for that person and the others of each group predicted alike, both gaps are linear in the
    three predictions, so extremes are at 0 and 1; absolute gaps also bend where one of the two is zero.
    """
    one, zero, t = (x.ravel() for x in np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]))
    if metric.startswith("abs_"):
        one = np.append(one, [(n0 - 1) / n0, 1.0])  # gap before = 0; gap after = 0
        zero = np.append(zero, [1.0, n1 / (n1 + 1)])
        t = np.append(t, [0.0, 0.0])
    before = one - (zero * (n0 - 1) + t) / n0
    after = (one * n1 + t) / (n1 + 1) - zero
    return (np.abs(before), np.abs(after)) if metric.startswith("abs_") else (before, after)


def _pairs(defense: "QueryDefense", n: int, m: int, metric: str) -> list[_Pair]:
    laws = [defense.law(metric, n0, n - n0, m) for n0 in range(1, n)]
    return [
        _Pair(((n0, n - n0), (n0 - 1, n - n0 + 1)), (laws[n0 - 1], laws[n0 - 2]), worst_gaps(metric, n0, n - n0))
        for n0 in range(2, n)
    ]


def _log_ratio(x: np.ndarray, pair: _Pair, metric: str, bounding: str) -> np.ndarray:
    """Return |log density ratio| of one answer, for candidate gaps (rows) and answers x (one row each)."""
    first, second = (log_density(x, gap[:, None], law, metric, bounding) for gap, law in zip(pair.gaps, pair.laws))
    seen = np.isfinite(first) | np.isfinite(second)  # both minus infinity: an answer neither can give
    return np.abs(np.subtract(first, second, out=np.zeros(np.broadcast(first, second).shape), where=seen))


def _supremum(pair: _Pair, metric: str, bounding: str) -> tuple[float, int]:
    """Return the worst log density ratio of one answer, and which candidate gaps attain it."""
    if isinstance(pair.laws[0], Exact):
        return math.inf, int(np.argmax(np.abs(pair.gaps[0] - pair.gaps[1])))
    x = np.concatenate([gap[:, None] + law.scale * _GRID for gap, law in zip(pair.gaps, pair.laws)], axis=1)
    if bounding != "none":
        low, high = metric_range(metric)
        x = np.concatenate([np.clip(x, low, high), np.broadcast_to(np.linspace(low, high, 401), (len(x), 401))], axis=1)
    x.sort(axis=1)
    for _ in range(3):  # zoom in on the maximum of each row
        ratio = _log_ratio(x, pair, metric, bounding)
        best = ratio.argmax(axis=1)
        rows = np.arange(len(x))
        value = ratio[rows, best]
        left, right = x[rows, np.maximum(best - 1, 0)], x[rows, np.minimum(best + 1, x.shape[1] - 1)]
        x = np.concatenate([np.linspace(left, right, 201, axis=1), x[rows, best][:, None]], axis=1)
        x.sort(axis=1)
    return float(value.max()), int(value.argmax())


def _delta(pair: _Pair, epsilon: float) -> tuple[float, int]:
    """Return the delta one answer needs at epsilon, by integration, and the candidate gaps that need it."""
    worst, which = 0.0, 0
    grid = np.sinh(np.linspace(-16, 16, 16001))
    for i, gaps in enumerate(zip(*pair.gaps)):
        x = np.sort(np.concatenate([gap + law.scale * grid for gap, law in zip(gaps, pair.laws)]))
        mass = [np.diff(law.cdf(x - gap)) for gap, law in zip(gaps, pair.laws)]
        for p, q in (mass, mass[::-1]):
            needed = np.maximum(p - math.exp(epsilon) * q, 0).sum()  # data processing: cells can only lower it
            if needed > worst:
                worst, which = float(needed), i
    return worst, which


def _exact(defense: "QueryDefense", pairs: list[_Pair], m: int, metric: str) -> tuple[float, float, _Pair, int]:
    """Return the exact epsilon and delta, and the pair and candidate gaps that are worst."""
    if defense.delta == 0 or math.isinf(defense.epsilon):
        found = [_supremum(pair, metric, defense.bounding) for pair in pairs]
        at = max(range(len(pairs)), key=lambda i: found[i][0])
        return m * found[at][0], 0.0, pairs[at], found[at][1]
    shifts = [np.abs(pair.gaps[0] - pair.gaps[1]) for pair in pairs]
    ratios = [shift.max() / min(law.scale for law in pair.laws) for pair, shift in zip(pairs, shifts)]
    at = int(np.argmax(ratios))
    if isinstance(pairs[at].laws[0], Gaussian):
        needed, which = gaussian_delta(defense.epsilon, math.sqrt(m) * ratios[at]), int(shifts[at].argmax())
    elif m == 1:
        found = [_delta(pair, defense.epsilon) for pair in pairs]
        at = max(range(len(pairs)), key=lambda i: found[i][0])
        needed, which = found[at]
    else:
        needed, which = math.nan, int(shifts[at].argmax())
    return math.inf, needed, pairs[at], which


def clopper_pearson(successes: np.ndarray, trials: int, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on a probability, each wrong with probability at most `error`."""
    k = np.asarray(successes, dtype=float)
    lower = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, error), 0.0)
    upper = np.where(k < trials, betaincinv(k + 1, np.maximum(trials - k, 1), 1 - error), 1.0)
    return lower, upper


def _bound(scores: tuple[np.ndarray, np.ndarray], cuts: np.ndarray, error: float, delta: float) -> np.ndarray:
    """Return lower bounds on epsilon from the events {score >= cut} under the one and the other."""
    trials = len(scores[0])
    counts = [trials - np.searchsorted(np.sort(s), cuts, side="left") for s in scores]
    p, q = clopper_pearson(counts[0], trials, error)[0], clopper_pearson(counts[1], trials, error)[1]
    return np.log(np.maximum(p - delta, 1e-300) / q)


def _sampled(
    defense: "QueryDefense",
    pair: _Pair,
    which: int,
    m: int,
    metric: str,
    samples: int,
    error: float,
    rng: np.random.Generator,
) -> float:
    """Return the lower bound on epsilon from `samples` answers to each of two neighbours."""
    gaps = [gap[which] for gap in pair.gaps]
    scores = []
    for gap, law in zip(gaps, pair.laws):
        x = noisy(
            np.full((samples, m), gap), law, metric, defense.bounding, defense.grid(metric, *pair.sizes[0], m), rng
        )
        logs = [log_density(x, g, w, metric, defense.bounding).sum(axis=1) for g, w in zip(gaps, pair.laws)]
        scores.append(np.clip(logs[0], -1e300, 1e300) - np.clip(logs[1], -1e300, 1e300))
    chosen, tested = ([s[half] for s in scores] for half in (slice(None, samples // 2), slice(samples // 2, None)))
    options = []
    for sign in (1, -1):  # the event may be likelier under the one or under the other
        a, b = (tuple(sign * s for s in side[::sign]) for side in (chosen, tested))
        cuts = np.quantile(np.concatenate(a), np.linspace(0, 1, 401), method="lower")
        bounds = _bound(a, cuts, error, defense.delta)
        options.append((bounds.max(), b, cuts[[bounds.argmax()]]))
    _, side, cut = max(options, key=lambda option: option[0])
    return max(0.0, float(_bound(side, cut, error, defense.delta)[0]))


def audit(
    defense: "QueryDefense",
    n: int,
    m: int,
    metric: str = "sp",
    *,
    samples: int = 20_000,
    rng: np.random.Generator,
    confidence: float = 0.999,
) -> AuditResult:
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
        Answers drawn from each of the two worst neighbours for the sampled bound.
    rng : numpy.random.Generator
        Source of those.
    confidence : float
        Probability that the sampled bound holds.
    """
    validate.integer("n", n, at_least=3)
    validate.integer("m", m, at_least=1)
    validate.integer("samples", samples, at_least=100)
    validate.number("confidence", confidence, above=0, below=1)
    metric = metric.replace("eodds", "eo")
    exact, exact_delta, pair, which = _exact(defense, _pairs(defense, n, m, metric), m, metric)
    return AuditResult(
        claimed=defense.epsilon,
        delta=0.0 if math.isinf(defense.epsilon) else defense.delta,
        exact=exact,
        exact_delta=exact_delta,
        sampled_lower=_sampled(defense, pair, which, m, metric, samples, (1 - confidence) / 2, rng),
        confidence=confidence,
        worst_sizes=pair.sizes,
    )
