r"""Answers within the metric's range (hamman2023, Remark 3): [-1, 1], or [0, 1] for absolute gaps.

`none`               gap + noise as it is.
`clip`               out-of-range answers moved to the nearer end: post-processing, costs no privacy.
`boundary_inflated`  boundary-inflated truncation (Liu 2019): the out-of-range mass is put on the two ends. Written out,
                     P(lo) = F(lo - gap), P(hi) = 1 - F(hi - gap) and the density unchanged between: the law of `clip`.
`truncate`           noise conditioned on the answer being in range, drawn exactly by the inverse distribution function.

Truncation is not post-processing: the normalising constant depends on the data. Let f and f' be the joint densities of
the raw answers on neighbours, f <= e^t f' everywhere and the reverse; R the range to the power m, Z = P(R), Z' = P'(R).
Integrating over R, Z' <= e^t Z, so the conditioned densities obey f/Z <= e^t f' / (e^-t Z') = e^{2t} f'/Z'. Noise
calibrated at t = epsilon/2 thus gives epsilon, which is what defenses do. With delta > 0 the same step divides delta by
P(R), which falls exponentially in m: no useful bound follows, and defenses refuse it.
"""

import numpy as np

from fairpriv import validate
from fairpriv.mechanisms.noise import Exact, Law

BOUNDINGS = ("none", "clip", "truncate", "boundary_inflated")


def metric_range(metric: str) -> tuple[float, float]:
    """Return the range of a gap."""
    return (0.0, 1.0) if metric.startswith("abs_") else (-1.0, 1.0)


def noisy(gaps: np.ndarray, law: Law, metric: str, bounding: str, rng: np.random.Generator) -> np.ndarray:
    """Return gaps with noise of a law, bounded as asked."""
    validate.choice("bounding", bounding, BOUNDINGS)
    gaps = np.asarray(gaps, dtype=float)
    if isinstance(law, Exact):
        return gaps.copy()
    if bounding == "none":
        return gaps + law.sample(gaps.shape, rng)
    low, high = metric_range(metric)
    if bounding == "truncate":
        left, right = law.cdf(low - gaps), law.cdf(high - gaps)
        return np.clip(gaps + law.ppf(rng.uniform(left, right)), low, high)  # the clip takes off rounding only
    return np.clip(gaps + law.sample(gaps.shape, rng), low, high)


def log_density(x: np.ndarray, gap: np.ndarray, law: Law, metric: str, bounding: str) -> np.ndarray:
    """Return the log density of an answer x to a true gap; at the ends of a clipped range, the log mass there."""
    x, gap = np.asarray(x, dtype=float), np.asarray(gap, dtype=float)
    inside = law.logpdf(x - gap)
    if bounding == "none" or isinstance(law, Exact):
        return inside
    low, high = metric_range(metric)
    below, above = law.cdf(low - gap), law.cdf(gap - high)  # symmetric laws: P(noise > t) = cdf(-t)
    if bounding == "truncate":
        inside = inside - np.log1p(-(below + above))
    else:
        with np.errstate(divide="ignore"):  # a mass below the smallest float
            inside = np.where(x == low, np.log(below), np.where(x == high, np.log(above), inside))
    return np.where((x < low) | (x > high), -np.inf, inside)
