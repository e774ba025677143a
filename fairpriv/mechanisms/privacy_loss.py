r"""delta(epsilon) of m independent answers whose laws have two scales, by the distribution of their privacy loss.

The loss of an answer x under p against q is L(x) = log p(x)/q(x); m answers lose the sum, and need
delta = E[max(0, 1 - e^{epsilon - L})] under p. L is monotone between -inf, g, g' and inf for Laplace laws. The line is
cut into cells there and finely elsewhere; all of a cell is given its largest loss (an upper bound on delta) or its
smallest (a lower bound), rounded to a grid in the same direction. Sums of losses are convolutions, by the fast Fourier
transform, whose rounding of some 1e-14 is added to the upper bound.
"""

import math

import numpy as np

from fairpriv.mechanisms.noise import Law

STEPS = 500  # of the loss grid, to the largest loss that a shift causes; cells are ten times finer
FOURIER = 1e-13  # more than the transforms' rounding errors add up to
TAIL = 1e-17  # mass of one answer that is given an infinite loss, or none


def _cells(gaps: tuple[float, float], laws: tuple[Law, Law], steps: int) -> np.ndarray:
    """Return cell ends: fine around both gaps, out to where hardly any mass is left."""
    far = [law.ppf(TAIL) for law in laws]
    ends = [gap + f * np.linspace(1, -1, 10 * steps) for gap in gaps for f in far]
    return np.unique(np.concatenate([*ends, gaps]))


def loss_deltas(
    gaps: tuple[float, float], laws: tuple[Law, Law], m: int, epsilon: float, steps: int = STEPS
) -> tuple[float, float]:
    """Return bounds from below and above on the delta that m answers to the first gap need against the second."""
    x = _cells(gaps, laws, steps)
    logs = [law.logpdf(x - gap) for gap, law in zip(gaps, laws)]
    loss = logs[0] - logs[1]
    # differences of small numbers: in the tail that is small
    below, above = laws[0].cdf(x - gaps[0]), laws[0].cdf(gaps[0] - x)
    mass = np.where(x[:-1] < gaps[0], np.diff(below), -np.diff(above))
    outside = float(below[0] + above[-1])
    grid = max(abs(gaps[0] - gaps[1]) / min(law.scale for law in laws), 1e-12) / steps
    found = []
    for pick, rounded, upper in ((np.minimum, np.floor, False), (np.maximum, np.ceil, True)):
        at = rounded(pick(loss[:-1], loss[1:]) / grid)
        found.append(_composed(at, mass, grid, m, epsilon, upper))
    lost = -math.expm1(m * math.log1p(-outside)) if outside > 0 else 0.0
    return max(0.0, found[0] - FOURIER), min(1.0, found[1] + lost + FOURIER)


def _composed(at: np.ndarray, mass: np.ndarray, grid: float, m: int, epsilon: float, upper: bool) -> float:
    """Return delta of m losses, each `at` (in grid steps) with its mass; far ones are cut in the safe direction."""
    # a loss so low that no sum of m recovers counts as low as can be; one so high counts as infinite, or as the cut
    reach = int((4 * epsilon + 8) / grid) + 1
    infinite = float(mass[at > reach].sum()) if upper else 0.0
    keep = at <= reach if upper else np.ones(len(at), bool)
    at = np.clip(at[keep], -reach, reach).astype(int)
    pmf = np.bincount(at + reach, weights=mass[keep], minlength=2 * reach + 1)
    low = np.flatnonzero(pmf)[0]
    pmf = np.trim_zeros(pmf)
    size = 1 << (m * (len(pmf) - 1) + 1).bit_length()
    total = np.maximum(np.fft.irfft(np.fft.rfft(pmf, size) ** m, size), 0.0)
    losses = grid * (np.arange(size) + m * (low - reach))
    spent = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float(total @ spent) + (-math.expm1(m * math.log1p(-infinite)) if infinite > 0 else 0.0)
