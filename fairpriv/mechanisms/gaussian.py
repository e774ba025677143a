"""The Gaussian mechanism: what (epsilon, delta) a standard deviation gives, exactly, and the reverse."""

import math

from scipy.special import log_ndtr


def gaussian_delta(epsilon: float, ratio: float) -> float:
    """Return the smallest delta at epsilon of Gaussian noise; `ratio` is l2 sensitivity over standard deviation.

    Balle & Wang 2018, Theorem 8: Phi(r/2 - epsilon/r) - e^epsilon Phi(-r/2 - epsilon/r), taken in logarithms.
    """
    if ratio == 0:
        return 0.0
    first = log_ndtr(ratio / 2 - epsilon / ratio)
    second = epsilon + log_ndtr(-ratio / 2 - epsilon / ratio)
    return float(math.exp(first) * -math.expm1(min(second - first, 0.0))) if first > -math.inf else 0.0


def analytic_sigma(epsilon: float, delta: float) -> float:
    """Return the smallest standard deviation per unit of l2 sensitivity (Balle & Wang 2018, Algorithm 1), any epsilon.

    delta falls as sigma grows: bisection on log sigma, keeping the end that satisfies delta.
    """
    low, high = 0.0, 0.0
    while gaussian_delta(epsilon, math.exp(-high)) > delta:
        high += 1
    while gaussian_delta(epsilon, math.exp(-low)) <= delta:
        low -= 1
    for _ in range(60):  # from a width of some units to below the rounding of log sigma
        middle = (low + high) / 2
        if gaussian_delta(epsilon, math.exp(-middle)) > delta:
            low = middle
        else:
            high = middle
    return math.exp(high + 1e-12)  # a hair above, so that rounding does not exceed delta


def classic_sigma(epsilon: float, delta: float) -> float:
    """Return the textbook deviation per unit of l2 sensitivity (Dwork & Roth 2014, Theorem A.1), for epsilon < 1."""
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon
