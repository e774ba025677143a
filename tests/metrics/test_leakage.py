import numpy as np
import pytest

from fairpriv.metrics.leakage import leakage, number_recovered, sp_error

TRUTH = np.array([1, 1, 1, 1, 0, 0])


def test_leakage_is_balanced_accuracy_in_percent():
    assert leakage(TRUTH, TRUTH) == 100
    assert leakage(1 - TRUTH, TRUTH) == 0
    assert leakage(np.ones(6), TRUTH) == 50
    assert leakage(np.array([1, 1, 1, 0, 0, 1]), TRUTH) == pytest.approx(50 * (3 / 4 + 1 / 2))


def test_people_not_recovered_count_against_unless_masked():
    recovered = np.array([1, 1, -1, -1, 0, -1])
    assert leakage(recovered, TRUTH) == pytest.approx(50)
    mask = recovered >= 0
    assert leakage(recovered, TRUTH, mask) == 100
    assert number_recovered(recovered, TRUTH) == 3
    assert number_recovered(recovered, TRUTH, ~mask) == 0
    assert np.isnan(leakage(recovered, TRUTH, TRUTH == 1))


def test_sp_error():
    error = sp_error(np.array([0.1, -0.2, 9.0]), np.array([0.0, 0.0, 0.0]))
    assert error == {
        "clipped_mean": pytest.approx(1.3 / 3),
        "median": pytest.approx(0.2),
        "raw_mean": pytest.approx(9.3 / 3),
        "signed_mean": pytest.approx(8.9 / 3),
    }
    assert sp_error(np.array([-5.0]), np.array([0.5]), bounds=(0, 1))["clipped_mean"] == 0.5
    assert set(sp_error(np.zeros(3), np.zeros(3)).values()) == {0.0}
