"""The accountant against closed forms and against itself."""

import math

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.accountant import pld_epsilon, rdp_epsilon, steps_within, unsampled_epsilon
from fairpriv.mechanisms.gaussian import gaussian_delta


def test_without_sampling_the_pld_is_the_gaussian_mechanism():
    for multiplier, steps in ((2.0, 1), (5.0, 9), (20.0, 100)):
        exact = unsampled_epsilon(multiplier, steps, 1e-5)
        assert gaussian_delta(exact, math.sqrt(steps) / multiplier) == pytest.approx(1e-5, rel=1e-4)
        assert exact - 1e-6 <= pld_epsilon(multiplier, 1.0, steps, 1e-5) <= exact + 0.02


def test_one_sampled_step_against_its_likelihood_ratio():
    """One step publishes N(0, σ²) or the mixture (1-q) N(0, σ²) + q N(1, σ²): δ(ε) by quadrature, both ways."""
    sigma, q, delta = 0.8, 0.1, 1e-3
    x = np.linspace(-12, 13, 400_001)
    without = np.exp(-(x**2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))
    inside = np.exp(-((x - 1) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))
    with_one = (1 - q) * without + q * inside
    epsilon = pld_epsilon(sigma, q, 1, delta)

    def excess(e):
        ways = ((with_one, without), (without, with_one))
        return max(np.maximum(p - math.exp(e) * r, 0).sum() * (x[1] - x[0]) for p, r in ways)

    assert excess(epsilon) <= delta * 1.001
    assert excess(epsilon - 0.01) > delta


def test_rdp_is_never_below_and_epsilon_grows():
    args = (0.5, 16 / 39_074)
    one, five = pld_epsilon(*args, 2442, 1e-6), pld_epsilon(*args, 12_210, 1e-6)
    assert one < five
    assert five == pytest.approx(4.12, abs=0.02)
    assert rdp_epsilon(*args, 2442, 1e-6) >= one
    assert pld_epsilon(0.25, 16 / 39_074, 2442, 1e-6) > 5 * one  # half the noise


def test_steps_within_ends_just_where_the_budget_does():
    steps = steps_within(4.0, 0.5, 16 / 39_074, 1e-6)
    assert pld_epsilon(0.5, 16 / 39_074, steps, 1e-6) <= 4.0
    assert pld_epsilon(0.5, 16 / 39_074, round(1.01 * steps), 1e-6) > 4.0


def test_budget_below_one_step_is_refused_with_what_it_would_take():
    with pytest.raises(BadRequest, match=r"epsilon must be >= .* single step .* got 0.1"):
        steps_within(0.1, 0.5, 0.5, 1e-6)


@pytest.mark.parametrize(
    "args", [(0.0, 0.1, 1, 1e-6), (1.0, 0.0, 1, 1e-6), (1.0, 1.5, 1, 1e-6), (1.0, 0.1, 0, 1e-6), (1.0, 0.1, 1, 0.0)]
)
def test_nonsense_is_refused(args):
    with pytest.raises(BadRequest):
        pld_epsilon(*args)
