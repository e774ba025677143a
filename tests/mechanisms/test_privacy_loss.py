"""delta of several answers by their privacy loss: against closed forms, against samples, and from both sides."""

import math

import numpy as np
import pytest

from fairpriv.mechanisms.gaussian import gaussian_delta
from fairpriv.mechanisms.noise import Gaussian, Laplace
from fairpriv.mechanisms.privacy_loss import loss_deltas


@pytest.mark.parametrize("m", [1, 4, 20])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
def test_gaussian_answers_are_within_the_bounds(m, epsilon):
    scale = math.sqrt(m)  # all together: one answer at one standard deviation
    low, high = loss_deltas((0.0, 1.0), (Gaussian(scale), Gaussian(scale)), m, epsilon)
    assert low <= gaussian_delta(epsilon, 1.0) <= high
    assert high - low < 0.08 * high


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 0.9])
def test_one_laplace_answer_in_closed_form(epsilon):
    """For shift 1 and scale 1: 1 - e^{(epsilon - 1)/2}."""
    low, high = loss_deltas((0.0, 1.0), (Laplace(1.0), Laplace(1.0)), 1, epsilon)
    truth = -math.expm1((epsilon - 1) / 2)
    assert low <= truth <= high
    assert high - low < 0.01


@pytest.mark.parametrize("order", [1, -1])
def test_laplace_answers_of_two_scales_against_samples(order):
    # 400,000 samples: the mean is within 0.004 (five standard errors)
    gaps, laws, m, epsilon = (0.0, 0.7)[::order], (Laplace(1.0), Laplace(1.3))[::order], 3, 0.5
    x = gaps[0] + laws[0].sample((400_000, m), np.random.default_rng(0))
    loss = (laws[0].logpdf(x - gaps[0]) - laws[1].logpdf(x - gaps[1])).sum(axis=1)
    seen = np.maximum(0, -np.expm1(epsilon - loss)).mean()
    low, high = loss_deltas(gaps, laws, m, epsilon)
    assert low - 0.004 <= seen <= high + 0.004
    assert high - low < 0.03


def test_coarser_steps_widen_the_bounds():
    args = (0.0, 1.0), (Laplace(3.0), Laplace(3.2)), 5, 0.5
    (low, high), (lower, higher) = loss_deltas(*args), loss_deltas(*args, steps=40)
    assert lower <= low <= high <= higher
