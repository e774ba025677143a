import numpy as np
import pytest
from scipy import stats

from fairpriv.report.chance import allowed_by_chance, deviation, of_means, of_rates


def test_welch_by_hand():
    # s² = 4 over 4 seeds, S² = 9 over 9 runs: se = sqrt(1 + 1), f = (1 + 1)² / (1/3 + 1/8) = 8.7273
    ours = np.array([-1.0, -1.0, 1.0, 1.0]) * np.sqrt(3)
    assert np.var(ours, ddof=1) == pytest.approx(4)
    assert allowed_by_chance(ours, 9, 3.0) == pytest.approx(stats.t.ppf(0.975, 96 / 11) * np.sqrt(2))


def test_welch_is_scipys():
    rng = np.random.default_rng(1)
    for _ in range(50):
        ours, theirs = rng.normal(0, 1, 5), rng.normal(0.8, 3, 12)
        p = stats.ttest_ind(ours, theirs, equal_var=False).pvalue
        assert of_means(ours, theirs.mean(), 0.0, 12, theirs.std(ddof=1)).more == (p < 0.05)


def test_prediction_interval_by_hand():
    ours = np.array([1.0, 2.0, 3.0])  # s = 1; t(.975, 2) = 4.3027
    assert allowed_by_chance(ours, 6) == pytest.approx(4.30265 * np.sqrt(1 / 3 + 1 / 6), rel=1e-5)
    assert allowed_by_chance(ours, 1) == pytest.approx(4.30265 * np.sqrt(4 / 3), rel=1e-5)


@pytest.mark.parametrize("seeds", [1, 4])
def test_no_spread_allows_nothing_but_rounding(seeds):
    same = np.full(seeds, 0.1)
    assert allowed_by_chance(same, 10) == 0.0
    assert not of_means(same, 0.15, 0.05, 10).more
    assert of_means(same, 0.1501, 0.05, 10).more
    assert ("one seed" in of_means(same, 0.15, 0.05, 10).rule) == (seeds == 1)


def test_one_side_without_spread():
    same, apart = np.full(4, 0.7), np.array([0.6, 0.7, 0.8])
    assert allowed_by_chance(same, 10, 0.2) == pytest.approx(stats.t.ppf(0.975, 9) * 0.2 / np.sqrt(10))
    assert allowed_by_chance(apart, 10, 0.0) == pytest.approx(stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3))
    assert allowed_by_chance(same, 10, 0.0) == 0.0


def test_one_seed_scatters_like_the_papers_runs():
    assert allowed_by_chance(np.array([0.3]), 10, 0.2) == pytest.approx(stats.t.ppf(0.975, 9) * 0.2 * np.sqrt(1.1))
    assert "the paper's deviation" in of_means(np.array([0.3]), 0.3, 0.0, 10, 0.2).rule


def test_printed_spreads_are_brought_to_one_kind():
    runs = np.random.default_rng(2).normal(0, 1, 16)
    sd, se = runs.std(ddof=1), stats.sem(runs)
    low, high = stats.t.interval(0.95, 15, loc=runs.mean(), scale=se)
    for printed, kind in ((sd, "sd"), (se, "se"), ((high - low) / 2, "ci")):
        assert deviation(printed, 16, kind) == pytest.approx(sd)


def test_rates_are_counts():
    ours = np.array([1.0, 0.0, 0.0])
    p = stats.fisher_exact([[1, 2], [80, 20]]).pvalue
    assert not of_rates(ours, 0.80, 100).more
    assert f"p = {p:.2g}" in of_rates(ours, 0.80, 100).rule
    assert not of_rates(np.ones(3), 0.95, 100).more  # no spread, and yet no more than chance
    assert of_rates(np.zeros(20), 0.80, 100).more


@pytest.mark.parametrize(
    ("n", "runs", "told", "ratio"),
    [(3, 10, True, 1), (10, 10, True, 3), (5, 100, True, 0.3), (1, 10, True, 1), (3, 10, False, 1), (20, 1, False, 1)],
)
def test_false_alarms_are_one_in_twenty(n, runs, told, ratio):
    """Under the null 5 % of pairs of means are called more than chance.

    4,000 pairs: the test itself fails by chance in 1e-4 of seeds (3.9 sd), Welch's approximation granted half a point.
    """
    rng, pairs = np.random.default_rng(n * runs), 4000
    alarms = 0
    for _ in range(pairs):
        ours, theirs = rng.normal(0, 1, n), rng.normal(0, ratio, runs)
        alarms += of_means(ours, theirs.mean(), 0.0, runs, theirs.std(ddof=1) if told else None).more
    assert abs(alarms / pairs - 0.05) < 3.9 * np.sqrt(0.05 * 0.95 / pairs) + 0.005
