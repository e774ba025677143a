"""The Gaussian mechanism's delta against integration, and its calibrations."""

import numpy as np
import pytest
from scipy import stats

from fairpriv.mechanisms.gaussian import analytic_sigma, classic_sigma, gaussian_delta


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("ratio", [0.1, 1.0, 3.0])
def test_delta_is_the_hockey_stick(epsilon, ratio):
    x = np.linspace(-40, 40, 400_001)
    excess = np.maximum(stats.norm.pdf(x, ratio) - np.exp(epsilon) * stats.norm.pdf(x), 0)
    assert gaussian_delta(epsilon, ratio) == pytest.approx(np.trapezoid(excess, x), rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 10.0, 100.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2, 0.5])
def test_analytic_calibration_is_tight(epsilon, delta):
    sigma = analytic_sigma(epsilon, delta)
    assert gaussian_delta(epsilon, 1 / sigma) <= delta
    assert gaussian_delta(epsilon, 1.001 / sigma) > delta


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 0.99])
def test_classic_calibration_holds_and_is_larger(epsilon):
    sigma = classic_sigma(epsilon, 1e-6)
    assert gaussian_delta(epsilon, 1 / sigma) <= 1e-6
    assert sigma > analytic_sigma(epsilon, 1e-6)
