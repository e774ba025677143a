"""Poisson sampling is what the accountant takes it for; shuffling visits everyone once an epoch."""

import numpy as np
from scipy import stats

from fairpriv.defenses.adversarial.sampling import Batches, one_sided, poisson, shuffled


def test_every_row_enters_every_step_independently():
    n, batch, steps = 50, 5, 8000
    rows, real = poisson(n, batch, steps, np.random.default_rng(0))
    assert rows.shape == real.shape
    assert rows.shape[1] % 8 == 0
    inside = np.zeros((steps, n), int)
    for step in range(steps):
        members = rows[step][real[step] > 0]
        assert len(set(members)) == len(members)  # a row enters a step once
        inside[step, members] = 1
    # 50 rows, each binomial(8000, 0.1): chi-square at one in ten thousand
    counts = inside.sum(axis=0)
    assert stats.chi2.sf(((counts - 800) ** 2 / (800 * 0.9)).sum(), n) > 1e-4
    sizes = inside.sum(axis=1)
    observed = np.bincount(sizes, minlength=51)[:13]
    expected = steps * stats.binom.pmf(np.arange(13), n, 0.1)
    assert stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), 12) > 1e-4
    pairs = np.corrcoef(inside.T)[np.triu_indices(n, 1)]
    assert np.abs(pairs).max() < 5.5 / np.sqrt(steps)  # 1225 pairs: below one in ten thousand
    assert abs(np.corrcoef(sizes[1:], sizes[:-1])[0, 1]) < 4.5 / np.sqrt(steps)


def test_small_batches_may_be_empty_and_none_is_cut_off():
    rows, real = poisson(100, 1, 3000, np.random.default_rng(1))
    sizes = real.sum(axis=1)
    assert (sizes == 0).any()
    assert sizes.max() <= rows.shape[1]
    assert abs((sizes == 0).mean() - 0.99**100) < 5 * np.sqrt(0.23 / 3000)


def test_the_whole_data_each_step_at_rate_one():
    rows, real = poisson(12, 12, 4, np.random.default_rng(0))
    assert (real.sum(axis=1) == 12).all()
    assert (np.sort(rows[:, :12], axis=1) == np.arange(12)).all()


def test_shuffling_visits_each_row_once_an_epoch():
    rows, real = shuffled(20, 5, 8, np.random.default_rng(0))
    assert real.all()
    for epoch in (rows[:4], rows[4:]):
        assert sorted(epoch.ravel()) == list(range(20))
    assert shuffled(20, 6, 10, np.random.default_rng(0)).rows.shape == (10, 6)


def test_same_stream_same_batches():
    a, b = (poisson(40, 4, 30, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(a.rows, b.rows)


def test_a_batch_that_lacks_a_group_is_told():
    groups = np.array([[0, 0], [1, 0], [1, 1]], np.float32)
    rows = np.array([[0, 1], [1, 2], [0, 0]], np.int32)
    real = np.array([[1, 1], [1, 1], [1, 0]], np.float32)
    assert one_sided(groups, Batches(rows, real)).tolist() == [[False, True], [True, False], [True, True]]
