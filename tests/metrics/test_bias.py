"""Predictive rate parity against a slow obvious count, and the other metrics as they were."""

import numpy as np
import pytest

from fairpriv.metrics.bias import METRICS, bias, predictive_gap
from fairpriv.metrics.gaps import GAPS, fairness_gap


def counted(h, group, label):
    """Return the gap in predictive values by going through the people one by one."""
    values = []
    for a in (1, 0):
        accepted = [y for x, g, y in zip(h, group, label) if x == 1 and g == a]
        values.append(sum(accepted) / len(accepted) if accepted else 0.0)
    return values[0] - values[1]


def test_predictive_gap_is_the_difference_of_precisions():
    rng = np.random.default_rng(0)
    for _ in range(50):
        h, group, label = rng.integers(0, 2, (4, 12)), rng.integers(0, 2, 12), rng.integers(0, 2, 12)
        expected = [counted(row, group, label) for row in h]
        np.testing.assert_allclose(predictive_gap(h, group, label), expected)
        np.testing.assert_allclose(bias("abs_prp", h, group, label), np.abs(expected))


@pytest.mark.parametrize("metric", GAPS)
def test_other_metrics_are_the_linear_gaps(metric):
    rng = np.random.default_rng(1)
    h, group, label = rng.random((3, 40)), np.arange(40) % 2, np.arange(40) // 2 % 2
    assert metric in METRICS
    np.testing.assert_array_equal(bias(metric, h, group, label), fairness_gap(metric, h, group, label))
