r"""Answers within the metric's range (hamman2023, Remark 3): [-1, 1], or [0, 1] for absolute gaps.

`none`               gap + noise, rounded to the public grid (`fairpriv.mechanisms.release`) as all of these.
`clip`               out-of-range answers moved to the nearer end: post-processing, costs no privacy.
`boundary_inflated`  boundary-inflated truncation (Liu 2019): the out-of-range mass is put on the two ends. Written out,
                     P(lo) = F(lo - gap), P(hi) = 1 - F(hi - gap) and the density unchanged between: the law of `clip`.
`truncate`           noise conditioned on the answer being in range, drawn by the inverse distribution function.

Truncation is not post-processing: the normalising constant depends on the data. Let f and f' be the joint densities of
the raw answers on neighbours, f <= e^t f' everywhere and the reverse; R the range to the power m, Z = P(R), Z' = P'(R).
Integrating over R, Z' <= e^t Z, so the conditioned densities obey f/Z <= e^t f' / (e^-t Z') = e^{2t} f'/Z'. Noise
calibrated at t = epsilon/2 thus gives epsilon, which is what defenses do. With delta > 0 the same step divides delta by
P(R), which falls exponentially in m: no useful bound follows, and defenses refuse it.
"""

import numpy as np

from fairpriv import validate
from fairpriv.mechanisms.noise import Exact, Law
from fairpriv.mechanisms.release import Randomness, release

BOUNDINGS = ("none", "clip", "truncate", "boundary_inflated")


def metric_range(metric: str) -> tuple[float, float]:
    """Return the range of a gap."""
    return (0.0, 1.0) if metric.startswith("abs_") else (-1.0, 1.0)


def noisy(
    gaps: np.ndarray, law: Law, metric: str, bounding: str, grid: float | np.ndarray, rng: Randomness
) -> np.ndarray:
    """Return gaps with noise of a law, bounded as asked, on a public grid; exact answers stay as they are."""
    validate.choice("bounding", bounding, BOUNDINGS)
    gaps = np.asarray(gaps, dtype=float)
    if isinstance(law, Exact):
        return gaps.copy()
    if bounding == "truncate":
        return release(gaps, law, grid, rng, within=metric_range(metric))
    answers = release(gaps, law, grid, rng)
    return answers if bounding == "none" else np.clip(answers, *metric_range(metric))


def log_density(x: np.ndarray, gap: np.ndarray, law: Law, metric: str, bounding: str) -> np.ndarray:
    """Return the log density of an answer x to a true gap; at the ends of a clipped range, the log mass there.

    It is that of the answer before it is rounded to the grid; `log_mass` is that of the answer given.
    """
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


def log_mass(x: np.ndarray, gap: np.ndarray, law: Law, metric: str, bounding: str, grid: float) -> np.ndarray:
    """Return the log probability of the answer x, a multiple of the grid, to a true gap: the law of its cell."""
    x, gap = np.asarray(x, dtype=float), np.asarray(gap, dtype=float)
    low, high = metric_range(metric) if bounding != "none" else (-np.inf, np.inf)
    ends = [x - grid / 2, x + grid / 2]
    if bounding == "truncate":
        ends = [np.clip(end, low, high) for end in ends]
    else:  # the cells at the ends of the range reach on for ever
        ends = [np.where(x <= low, -np.inf, ends[0]), np.where(x >= high, np.inf, ends[1])]
    left, right = (end - gap for end in ends)
    flip = left + right > 0  # differences of small numbers: by symmetry, always in the left tail
    mass = np.where(flip, law.cdf(-left) - law.cdf(-right), law.cdf(right) - law.cdf(left))
    if bounding == "truncate":
        mass = mass / (1 - law.cdf(low - gap) - law.cdf(gap - high))
    with np.errstate(divide="ignore"):
        return np.where((x < low) | (x > high), -np.inf, np.log(mass))
