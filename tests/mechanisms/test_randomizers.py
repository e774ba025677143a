"""The randomizers of representations keep the ε they promise, by their likelihood ratios, and work at ε = 0 and ∞."""

import itertools

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Laplace
from fairpriv.mechanisms.randomizers import LaplaceRandomizer, ResponseRandomizer


@pytest.mark.parametrize(("epsilon", "d", "t"), [(0.5, 1, 0.5), (5, 2, 0.5), (8, 13, 2.0)])
def test_laplace_likelihood_ratio(epsilon, d, t):
    randomizer = LaplaceRandomizer(epsilon, d, t)
    law = Laplace(randomizer.scale)
    z = np.random.default_rng(0).normal(0, 3 * t, (500, d))
    corner = np.full(d, t)
    ratio = (law.logpdf(z - corner) - law.logpdf(z + corner)).sum(axis=1)
    assert np.abs(ratio).max() <= epsilon + 1e-9
    outside = np.full((1, d), 10 * t)  # all of z beyond the corner: the bound is met
    assert (law.logpdf(outside - corner) - law.logpdf(outside + corner)).sum() == pytest.approx(epsilon)


def test_laplace_truncates_before_noise():
    rng = np.random.default_rng(0)
    far, edge = (LaplaceRandomizer(1.0, 2).perturb(np.full((4, 2), v), np.random.default_rng(1)) for v in (99.0, 0.5))
    assert np.array_equal(far, edge)
    draws = LaplaceRandomizer(4.0, 2).perturb(np.zeros((200_000, 2)), rng)
    assert np.abs(draws).mean() == pytest.approx(2 * 0.5 * 2 / 4, rel=0.01)  # E|Laplace(b)| = b; 4.5 sd


def test_laplace_without_noise_and_without_value():
    values = np.array([[0.2, -3.0]])
    rng = np.random.default_rng(0)
    assert np.array_equal(LaplaceRandomizer(float("inf"), 2).perturb(values, rng), [[0.2, -0.5]])
    a, b = (LaplaceRandomizer(0, 2).perturb(v, np.random.default_rng(3)) for v in (values, values + 1))
    assert np.array_equal(a, b)
    assert np.isfinite(a).all()


@pytest.mark.parametrize(("epsilon", "d", "k"), [(0, 1, 2), (1.0, 1, 2), (5.0, 2, 4), (3.0, 3, 3)])
def test_response_likelihood_ratio(epsilon, d, k):
    one = ResponseRandomizer(epsilon, d, k).transition()
    np.testing.assert_allclose(one.sum(axis=1), 1)
    worst = 0.0
    for u, v, z in itertools.product(itertools.product(range(k), repeat=d), repeat=3):
        ratio = sum(np.log(one[a, c] / one[b, c]) for a, b, c in zip(u, v, z))
        worst = max(worst, ratio)
    assert worst == pytest.approx(epsilon, abs=1e-9)


def test_response_draws_follow_the_transition():
    randomizer = ResponseRandomizer(3.0, 2, 4)
    n = 100_000
    for value in range(4):
        drawn = randomizer.perturb(np.full((n, 2), value), np.random.default_rng(value))
        found = np.bincount(drawn.ravel(), minlength=4) / (2 * n)
        np.testing.assert_allclose(found, randomizer.transition()[value], atol=5 * 0.5 / np.sqrt(2 * n))


def test_response_at_the_ends():
    codes = np.random.default_rng(0).integers(0, 5, (2000, 3))
    assert np.array_equal(ResponseRandomizer(float("inf"), 3, 5).perturb(codes, np.random.default_rng(1)), codes)
    forgotten = ResponseRandomizer(0, 3, 5).perturb(codes, np.random.default_rng(1))
    counts = np.bincount((5 * codes + forgotten).ravel(), minlength=25)
    assert abs(counts - 240).max() < 5 * np.sqrt(240)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LaplaceRandomizer(-1, 2), "epsilon must be >= 0, got -1"),
        (lambda: LaplaceRandomizer(1, 0), "d must be >= 1, got 0"),
        (lambda: LaplaceRandomizer(1, 2, 0), "t must be > 0, got 0"),
        (lambda: LaplaceRandomizer(float("nan"), 2), "epsilon must be a number"),
        (lambda: ResponseRandomizer(1, 2, 1), "k must be >= 2, got 1"),
        (lambda: ResponseRandomizer(-0.1, 2, 2), "epsilon must be >= 0"),
    ],
)
def test_refused(make, said):
    with pytest.raises(BadRequest, match=said):
        make()
