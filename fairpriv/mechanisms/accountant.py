"""What a Poisson-sampled Gaussian mechanism spends over many steps: dp-accounting's PLD, with RDP beside it."""

import math
from functools import lru_cache
from typing import Any

from scipy.optimize import brentq

from fairpriv import validate
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.gaussian import gaussian_delta

# Losses are rounded up to a grid, so that ε comes out too large, never too small: by less than 0.01 after ten thousand
# steps. With much noise the losses themselves are small and want a finer grid, which is then cheap.
GRID, FINE, MUCH_NOISE = 1e-3, 1e-4, 0.9


def _check(multiplier: float, rate: float, steps: int, delta: float) -> None:
    validate.number("noise multiplier", multiplier, above=0)
    validate.number("sampling rate", rate, above=0, at_most=1)
    validate.integer("steps", steps, at_least=1)
    validate.number("delta", delta, above=0, below=1)


@lru_cache(maxsize=32)
def _loss(multiplier: float, rate: float) -> Any:
    """Return the privacy loss distribution of one step (adding or removing one example)."""
    from dp_accounting.pld import privacy_loss_distribution

    return privacy_loss_distribution.from_gaussian_mechanism(
        multiplier, sampling_prob=rate, value_discretization_interval=FINE if multiplier >= MUCH_NOISE else GRID
    )


@lru_cache(maxsize=512)
def pld_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Return ε by the privacy loss distribution, rounded up: each example enters a step with probability `rate`."""
    _check(multiplier, rate, steps, delta)
    return float(_loss(multiplier, rate).self_compose(steps).get_epsilon_for_delta(delta))


@lru_cache(maxsize=512)
def rdp_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Return ε by Rényi divergences (the moments accountant's successor): never below the PLD's."""
    _check(multiplier, rate, steps, delta)
    import dp_accounting
    from dp_accounting.rdp import RdpAccountant

    event = dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(multiplier))
    orders = [2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, *range(6, 65), 80, 128, 256, 512]
    return float(RdpAccountant(orders).compose(event, steps).get_epsilon(delta))


def unsampled_epsilon(multiplier: float, steps: int, delta: float) -> float:
    """Return ε of `steps` Gaussian mechanisms on the whole data: exact, one Gaussian of multiplier / √steps."""
    _check(multiplier, 1.0, steps, delta)
    mu = math.sqrt(steps) / multiplier
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    high = mu**2 / 2 + mu * math.sqrt(2 * math.log(1 / delta))
    return float(brentq(lambda epsilon: gaussian_delta(epsilon, mu) - delta, 0.0, high, xtol=1e-9 * high))


@lru_cache(maxsize=128)
def steps_within(epsilon: float, multiplier: float, rate: float, delta: float, most: int = 10_000_000) -> int:
    """Return the largest number of steps that spends at most epsilon; refuses where even one spends more."""
    validate.number("epsilon", epsilon, above=0)
    one = pld_epsilon(multiplier, rate, 1, delta)
    if one > epsilon:
        raise BadRequest(
            f"epsilon must be >= {one:.3g}, which a single step spends at noise multiplier {multiplier:g}, "
            f"sampling rate {rate:.3g} and delta {delta:g}, got {epsilon:g}"
        )
    low, high = 1, 2
    while high < most and pld_epsilon(multiplier, rate, high, delta) <= epsilon:
        low, high = high, 4 * high
    high = min(high, most)
    while high - low > max(1, low // 500):  # to 0.2 % of the steps, never above epsilon
        middle = (low + high) // 2
        low, high = (middle, high) if pld_epsilon(multiplier, rate, middle, delta) <= epsilon else (low, middle)
    return low


def pld_delta(multiplier: float, rate: float, steps: int, epsilon: float) -> float:
    """Return δ at epsilon by the privacy loss distribution, rounded up."""
    _check(multiplier, rate, steps, 0.5)
    return float(_loss(multiplier, rate).self_compose(steps).get_delta_for_epsilon(epsilon))
