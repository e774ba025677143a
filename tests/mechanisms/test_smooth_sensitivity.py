"""Closed forms against Definition 4.3 as it stands: all group vectors, all binary and many fractional predictions."""

import itertools

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.smooth_sensitivity import global_sensitivity, local_sensitivity, smooth_sensitivity
from fairpriv.metrics.bias import bias
from fairpriv.metrics.gaps import fairness_gap

BETAS = (0.0, 0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 5.0)


def groups_of(n):
    """All group vectors with both groups present."""
    return np.array([a for a in itertools.product((0, 1), repeat=n) if 0 < sum(a) < n])


def predictions_of(n, rng):
    """All binary predictions, random ones, and one level a group with one person aside (the worst of |SP|)."""
    binary = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    levels = []
    for a in groups_of(n):
        for j in np.flatnonzero(a == 0):
            h = np.where(a == 1, 1 - 1 / (n - a.sum()), 1.0)
            h[j] = 0.0
            levels += [h, 1 - h]
    return np.vstack([binary, rng.random((200, n)), np.array(levels)])


def brute_force(metric, n):
    """Local sensitivity of every dataset, and distances between them."""
    groups, h = groups_of(n), predictions_of(n, np.random.default_rng(n))
    gaps = np.array([bias(metric, h, a, np.ones(n)) for a in groups])
    distance = (groups[:, None, :] != groups[None, :, :]).sum(-1)
    local = np.array([np.abs(gaps[d == 1] - gaps[i]).max(initial=0.0) for i, d in enumerate(distance)])
    return groups, local, distance


@pytest.mark.parametrize("metric", ["sp", "abs_sp", "prp", "abs_prp"])
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8])
def test_closed_forms_are_definition_4_3(metric, n):
    groups, local, distance = brute_force(metric, n)
    n1 = groups.sum(axis=1)
    np.testing.assert_allclose(local, [local_sensitivity(metric, n - int(k), int(k)) for k in n1], rtol=1e-12)
    assert global_sensitivity(metric, n) == pytest.approx(local.max(), rel=1e-12)
    for beta in BETAS:
        smooth = (local[None, :] * np.exp(-beta * distance)).max(axis=1)
        ours = [smooth_sensitivity(metric, n - int(k), int(k), beta) for k in n1]
        np.testing.assert_allclose(ours, smooth, rtol=1e-12)


@pytest.mark.parametrize("metric", ["sp", "abs_sp", "eo", "abs_eo", "eodds", "abs_eodds", "prp"])
@pytest.mark.parametrize("n", [3, 4, 11, 100])
def test_bounds_local_sensitivity_and_is_smooth(metric, n):
    for beta in BETAS:
        s = np.array([smooth_sensitivity(metric, k, n - k, beta) for k in range(1, n)])
        assert (s >= [local_sensitivity(metric, k, n - k) for k in range(1, n)]).all()
        assert np.abs(np.diff(np.log(s))).max() <= beta + 1e-12
        np.testing.assert_array_equal(s, s[::-1])  # roles swap


def test_theorem_5_as_printed_where_it_holds():
    for n0, n1, beta in itertools.product((2, 3, 10, 50), (50, 90), (0.01, 0.1, 1.0)):
        n = n0 + n1
        printed = max(1 / (n1 + 1) + 1 / n0, np.exp(-(n0 - 2) * beta) * (1 / (n - 1) + 1 / 2))
        assert smooth_sensitivity("sp", n0, n1, beta) == pytest.approx(printed, rel=1e-14)


def test_theorem_5_at_a_group_of_one_would_not_be_smooth():
    n, beta = 100, 0.01
    printed = [max(1 / (n - n0 + 1) + 1 / n0, np.exp(-(n0 - 2) * beta) * (1 / (n - 1) + 1 / 2)) for n0 in (1, 2)]
    assert np.log(printed[0] / printed[1]) > 0.68 > beta


def test_theorem_7_is_too_small():
    h, label = np.array([[0.0, 1.0, 0.0, 1.0]]), np.ones(4)
    before, after = (fairness_gap("abs_sp", h, np.array(a), label)[0] for a in ([0, 0, 1, 1], [1, 0, 1, 1]))
    assert abs(after - before) == pytest.approx(2 / 3)
    assert global_sensitivity("abs_sp", 4) == pytest.approx(2 / 3)


def test_equal_opportunity_counts_people_with_positive_label():
    label = np.array([1, 1, 1] + [0] * 9)
    group = np.array([0, 0, 1] + [0, 1, 1] * 3)
    moved = np.array([1, *group[1:]])
    h = np.array([[0.0, 1.0, 1.0] + [0.5] * 9])
    shift = abs(fairness_gap("eo", h, group, label) - fairness_gap("eo", h, moved, label))[0]
    assert shift == pytest.approx(1.0)
    assert shift > 1 / 2 + 1 / (len(label) - 1)  # the print, with n the test set
    assert global_sensitivity("eo", 3) == pytest.approx(shift)


def test_equalized_odds_moves_one_class_only():
    rng = np.random.default_rng(0)
    label, group, h = np.repeat([1, 0], 6), np.tile([0, 1], 6), rng.random((7, 12))
    moved = group.copy()
    moved[2] = 1 - moved[2]
    change = fairness_gap("eodds", h, group, label) - fairness_gap("eodds", h, moved, label)
    assert change[:, 0].all()
    assert not change[:, 1].any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smooth_sensitivity("sp", 0, 5, 0.1), "n0 must be >= 1, got 0"),
        (lambda: smooth_sensitivity("sp", 5, 2.5, 0.1), "n1 must be a whole number"),
        (lambda: smooth_sensitivity("sp", 5, 5, -0.1), "beta must be >= 0"),
        (lambda: smooth_sensitivity("sp", 5, 5, np.nan), "beta must be a number"),
        (lambda: local_sensitivity("sp", 1, 1), "n must be >= 3"),
        (lambda: global_sensitivity("spd", 10), "metric must be one of sp"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(BadRequest, match=message):
        call()
