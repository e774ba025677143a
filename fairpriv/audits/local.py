"""Audits of local mechanisms: LDP collection as composed, randomizers of representations, noisy counts.

Each is run many times on two inputs that differ as much as inputs can; reports of few kinds are counted, real ones
scored by their declared density and by their last bits. `exact` is the worst ratio of the declared law, over the
reports seen or in closed form.
"""

from collections.abc import Mapping

import numpy as np
from scipy import stats

from fairpriv.audits.queries import has_law
from fairpriv.audits.result import Audit
from fairpriv.audits.sampled import by_low_bits, by_patterns, by_scores, clopper_pearson, on_grid
from fairpriv.defenses.adversarial.dp_postprocess import DpPostprocess
from fairpriv.defenses.collection.ldp_collection import LDPCollection
from fairpriv.defenses.fair_learner.ldp_exponentiated_gradient import LDPExponentiatedGradient
from fairpriv.defenses.representation.base import RepresentationDefense
from fairpriv.mechanisms.budget import split_budget
from fairpriv.mechanisms.ldp import PROTOCOLS
from fairpriv.mechanisms.ldp.base import LDPProtocol
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.release import grid_for

SIZES = {"a": 2, "b": 5}  # domains of two attributes: the smallest, and one where protocols differ
FAR = 1e6  # what an encoder may give before it is clipped


def worst_ratio(protocol: LDPProtocol, rng: np.random.Generator, reports: int = 2000) -> float:
    """Return the worst log-likelihood ratio between values, over reports on every value."""
    seen = [protocol.log_likelihood(protocol.perturb(np.full(reports, v), rng)) for v in range(protocol.k)]
    return max(float((logs.max(axis=1) - logs.min(axis=1)).max()) for logs in seen)


def supports_as_declared(protocol: LDPProtocol, indicators: np.ndarray, value: int, error: float) -> bool:
    """Tell whether each value is supported as often as declared; of real reports, whether their noise is."""
    n, k = indicators.shape
    if indicators.dtype != bool:
        noise = Laplace(2 / protocol.epsilon)
        uniform = noise.cdf(indicators - (np.arange(k) == value))
        return on_grid(indicators, grid_for(noise.scale)) and has_law(uniform, error)
    expected = np.where(np.arange(k) == value, *protocol.pure_probabilities())
    counts = indicators.sum(axis=0)
    tests = [stats.binomtest(int(c), n, float(p)).pvalue for c, p in zip(counts, expected)]
    return min(tests) >= error / k


def audit_collection(
    defense: LDPCollection,
    sizes: Mapping[str, int] = SIZES,
    *,
    samples: int = 100_000,
    rng: np.random.Generator,
    confidence: float = 0.999,
) -> Audit:
    """Audit the reports of one person on several attributes together: every value 0 against every value 1."""
    error = (1 - confidence) / (1 + 3 * len(sizes))  # a bound on all, and a bound and two tests for each attribute
    seen = [defense.collect({a: np.full(samples, v) for a in sizes}, sizes, rng)[0] for v in (0, 1)]
    shares = split_budget(defense.epsilon, sizes, defense.split, defense.protocol).entries
    exact, apart, follows = 0.0, 0.0, True
    for a, k in sizes.items():
        protocol = PROTOCOLS[defense.protocol](k, shares[a])
        exact += worst_ratio(protocol, rng)
        apart += _bound(protocol, [reports[a] for reports in seen], error)
        follows &= all(supports_as_declared(protocol, seen[v][a], v, error) for v in (0, 1))
    together = 0.0
    if seen[0][next(iter(sizes))].dtype == bool:
        together = by_patterns(*(np.concatenate([reports[a] for a in sizes], axis=1) for reports in seen), error)
    worst = "values 0 and 1 of " + ", ".join(f"{a} ({k})" for a, k in sizes.items())
    return Audit(defense.epsilon, 0.0, exact, (0.0, 0.0), max(apart, together), bool(follows), confidence, worst)


def _bound(protocol: LDPProtocol, reports: list[np.ndarray], error: float) -> float:
    if reports[0].dtype == bool:
        return by_patterns(*reports, error)
    logs = [protocol.log_likelihood(r) for r in reports]
    return max(by_scores(*(x[:, 0] - x[:, 1] for x in logs), error / 2), by_low_bits(*reports, error / 2))


def audit_perturbed_groups(
    defense: LDPExponentiatedGradient, *, samples: int = 100_000, rng: np.random.Generator, confidence: float = 0.999
) -> Audit:
    """Audit the groups that `ldp_exponentiated_gradient` learns from."""
    error = (1 - confidence) / 3
    seen = [defense.perturbed(np.full(samples, v), 2, rng) for v in (0, 1)]
    protocol = PROTOCOLS["grr"](2, defense.epsilon)
    lower = by_patterns(*(s[:, None] for s in seen), error)
    follows = all(supports_as_declared(protocol, s[:, None] == np.arange(2), v, error) for v, s in enumerate(seen))
    exact = worst_ratio(protocol, rng)
    return Audit(defense.epsilon, 0.0, exact, (0.0, 0.0), lower, follows, confidence, "groups 0 and 1")


def audit_representation(
    defense: RepresentationDefense, *, samples: int = 100_000, rng: np.random.Generator, confidence: float = 0.999
) -> Audit:
    """Audit what is given away of a representation: of two encoded rows as far apart as can be, beyond truncation."""
    error = (1 - confidence) / 5
    if getattr(defense, "discrete", False):
        seen = [defense.randomize(np.full((samples, defense.d), v), rng) for v in (0, 1)]
        law = defense.randomizer.transition()
        exact = defense.d * float(np.log(law.max(axis=0) / law.min(axis=0)).max())
        single = defense.d * by_patterns(*(s.reshape(-1, 1) for s in seen), error)
        rates = [_within((s == v).ravel(), law[v, v], error) for v, s in enumerate(seen)]
        lower = max(by_patterns(*seen, error), single)
        return Audit(defense.epsilon, 0.0, exact, (0.0, 0.0), lower, all(rates), confidence, "codes 0 and 1")
    seen = [defense.randomize(np.full((samples, defense.d), v), rng) for v in (-FAR, FAR)]
    noise = Laplace(2 * defense.t * defense.d / defense.epsilon)
    exact = defense.d * 2 * defense.t / noise.scale
    scores = [noise.logpdf(z + defense.t) - noise.logpdf(z - defense.t) for z in seen]
    lower = max(
        by_scores(*(s.sum(axis=1) for s in scores), error),
        defense.d * by_scores(*(s.ravel() for s in scores), error),
        by_low_bits(*seen, error),
    )
    ends, grid = (-defense.t, defense.t), grid_for(noise.scale)
    follows = all(on_grid(z, grid) and has_law(noise.cdf(z - end), error) for z, end in zip(seen, ends))
    worst = "every dimension at -t and at t"
    return Audit(defense.epsilon, 0.0, exact, (0.0, 0.0), lower, follows, confidence, worst)


def _within(hits: np.ndarray, p: float, error: float) -> bool:
    low, high = clopper_pearson(np.array(hits.sum()), len(hits), error / 2)
    return bool(low <= p <= high)


def audit_counts(
    defense: DpPostprocess, *, samples: int = 20_000, rng: np.random.Generator, confidence: float = 0.999
) -> Audit:
    """Audit the noisy counts of `dp_postprocess`: one person more in one of them. Its predictor is audited apart."""
    error = (1 - confidence) / 4
    claimed = defense.epsilon * defense.share
    counts = np.zeros((2, 2, 2))
    more = counts.copy()
    more[0, 0, 0] = 1
    seen = [np.array([defense.noisy_counts(c, rng).ravel() for _ in range(samples)]) for c in (counts, more)]
    noise = Laplace(1 / claimed)
    scores = [(noise.logpdf(z[:, 0]) - noise.logpdf(z[:, 0] - 1)) for z in seen]
    grid = grid_for(noise.scale)
    follows = all(on_grid(z, grid) and has_law(noise.cdf(z - c.ravel()), error) for z, c in zip(seen, (counts, more)))
    lower = max(by_scores(*scores, error), by_low_bits(*seen, error))
    return Audit(claimed, 0.0, 1 / noise.scale, (0.0, 0.0), lower, follows, confidence, "one person more in one count")
