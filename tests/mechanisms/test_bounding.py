"""Bounded answers: their laws, and what truncation costs."""

import numpy as np
import pytest
from scipy import stats

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.bounding import log_density, log_mass, metric_range, noisy
from fairpriv.mechanisms.noise import Cauchy, Exact, Gaussian, Laplace
from fairpriv.mechanisms.release import release

GRID = 2.0**-20
LAWS = [Cauchy(0.4), Laplace(0.4), Gaussian(0.4)]


def total(x, density):
    return np.trapezoid(density, x)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("metric", ["sp", "abs_sp"])
@pytest.mark.parametrize("bounding", ["clip", "truncate", "boundary_inflated"])
def test_answers_stay_in_range_and_densities_add_to_one(law, metric, bounding):
    low, high = metric_range(metric)
    answers = noisy(np.full(5000, 0.3), law, metric, bounding, GRID, np.random.default_rng(0))
    assert answers.min() >= low
    assert answers.max() <= high
    x = np.linspace(low, high, 200_001)[1:-1]
    mass = total(x, np.exp(log_density(x, 0.3, law, metric, bounding)))
    if bounding != "truncate":
        mass += np.exp(log_density(np.array([low, high]), 0.3, law, metric, bounding)).sum()
    assert mass == pytest.approx(1, abs=1e-4)
    cells = np.arange(round(low / GRID), round(high / GRID) + 1) * GRID
    assert np.exp(log_mass(cells, 0.3, law, metric, bounding, GRID)).sum() == pytest.approx(1, abs=1e-9)
    assert np.isneginf(log_density(np.array([low - 0.1, high + 0.1]), 0.3, law, metric, bounding)).all()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("gap", [-1.0, 0.2, 1.0])
def test_truncated_answers_follow_the_conditioned_law(law, gap):
    # Kolmogorov-Smirnov: false alarm once in 1000 seeds; the seed is fixed
    answers = noisy(np.full(20_000, gap), law, "sp", "truncate", GRID, np.random.default_rng(3))
    left, right = law.cdf(-1 - gap), law.cdf(1 - gap)
    assert stats.kstest(answers, lambda x: (law.cdf(x - gap) - left) / (right - left)).pvalue > 1e-3


@pytest.mark.parametrize("law", LAWS)
def test_boundary_inflated_truncation_is_the_law_of_clipping(law):
    gap, trials = 0.6, 40_000
    draws = {
        b: noisy(np.full(trials, gap), law, "sp", b, GRID, np.random.default_rng(7))
        for b in ("clip", "boundary_inflated")
    }
    np.testing.assert_array_equal(draws["clip"], draws["boundary_inflated"])
    # Liu's definition: the mass out of bounds sits on the bounds; binomial tests, false alarm once in 1000 seeds each
    for end, mass in ((-1.0, law.cdf(-1 - gap)), (1.0, law.cdf(gap - 1))):
        assert stats.binomtest(int((draws["clip"] == end).sum()), trials, float(mass)).pvalue > 1e-3
        assert np.exp(log_density(end, gap, law, "sp", "boundary_inflated")) == pytest.approx(mass)


def test_truncation_costs_up_to_twice_the_budget():
    """A lone Laplace answer at scale 1/t: raw loss t; conditioned on [-1, 1] above t, within 2t."""
    t = 1.0
    law, x = Laplace(1 / t), np.linspace(-1, 1, 2001)
    raw = np.abs(law.logpdf(x - 1.0) - law.logpdf(x - 0.0)).max()
    conditioned = np.abs(log_density(x, 1.0, law, "sp", "truncate") - log_density(x, 0.0, law, "sp", "truncate")).max()
    assert raw == pytest.approx(t)
    assert 1.3 * t < conditioned <= 2 * t


def test_none_is_gap_plus_noise_and_exact_is_exact():
    gaps = np.array([0.1, -0.9])
    answers = noisy(gaps, Cauchy(1.0), "sp", "none", GRID, np.random.default_rng(1))
    np.testing.assert_array_equal(answers, release(gaps, Cauchy(1.0), GRID, np.random.default_rng(1)))
    for bounding in ("none", "clip", "truncate", "boundary_inflated"):
        np.testing.assert_array_equal(noisy(gaps, Exact(), "sp", bounding, GRID, np.random.default_rng(1)), gaps)
    with pytest.raises(BadRequest, match="bounding must be one of none, clip, truncate, boundary_inflated, got 'wrap'"):
        noisy(gaps, Exact(), "sp", "wrap", GRID, np.random.default_rng(1))
