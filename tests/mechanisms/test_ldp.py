"""LDP protocols: the guarantee, the probabilities, the estimates, each against something slow and obvious.

Statistical tests: each compares at most a few hundred numbers with their law at 6 standard deviations, so that a false
alarm has probability below 1e-6 a test; seeds are fixed besides.
"""

import itertools
import math

import numpy as np
import pytest

from fairpriv.audits.sampled import clopper_pearson
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.ldp import BLH, GRR, OLH, OUE, PROTOCOLS, SHE, THE, BestLH, Rappor, SubsetSelection
from fairpriv.mechanisms.ldp.coins import coins
from fairpriv.mechanisms.ldp.histogram_encoding import best_threshold
from fairpriv.mechanisms.ldp.local_hashing import PRIME, best_range, hash_variance, universal_hash
from fairpriv.mechanisms.ldp.subset_selection import random_subsets

GRID = list(itertools.product((2, 3, 5, 8), (0.01, 0.25, 1.0, 4.0, 12.0, 50.0)))
ENUMERABLE = ("grr", "rappor", "oue", "ss", "the")
PURE = [name for name in PROTOCOLS if name != "she"]


def every_report(protocol):
    """All reports a protocol can make."""
    if protocol.name == "grr":
        return np.arange(protocol.k)
    bits = np.array(list(itertools.product([False, True], repeat=protocol.k)))
    return bits if protocol.name != "ss" else bits[bits.sum(axis=1) == protocol.omega]


def column(n, k, rng):
    return np.minimum(rng.geometric(0.4, n) - 1, k - 1)  # skewed


@pytest.mark.parametrize("name", ENUMERABLE)
@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_likelihood_ratio_is_bounded_over_all_reports(name, k, epsilon):
    protocol = PROTOCOLS[name](k, epsilon)
    log = protocol.log_likelihood(every_report(protocol))
    np.testing.assert_allclose(np.exp(log).sum(axis=0), 1, rtol=1e-9)  # all reports, each once
    worst = (log.max(axis=1) - log.min(axis=1)).max()
    assert worst <= epsilon * (1 + 1e-9)
    if name != "the":  # thresholding loses a little; the others spend it all
        assert worst == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("name", ["blh", "olh", "best_lh"])
@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_local_hashing_is_bounded_given_any_function(name, k, epsilon):
    protocol = PROTOCOLS[name](k, epsilon)
    rng = np.random.default_rng(1)
    reports = protocol.perturb(rng.integers(0, k, 200), rng)
    few = min(protocol.g, 40)
    for heard in range(few):  # every hash that could be heard, for 200 functions
        reports[:, 2] = heard
        log = protocol.log_likelihood(reports)
        assert (log.max(axis=1) - log.min(axis=1)).max() <= epsilon * (1 + 1e-9)
    p, q = protocol.hash_probabilities()
    assert p + (protocol.g - 1) * q == pytest.approx(1)
    assert p / q == pytest.approx(math.exp(epsilon))


@pytest.mark.parametrize(("k", "epsilon"), GRID)
def test_noisy_histograms_are_bounded(k, epsilon):
    protocol = SHE(k, epsilon)
    rng = np.random.default_rng(2)
    reports = np.vstack([protocol.perturb(rng.integers(0, k, 500), rng), rng.normal(scale=30 / epsilon, size=(500, k))])
    log = protocol.log_likelihood(reports)
    spread = log.max(axis=1) - log.min(axis=1)
    assert spread.max() <= epsilon * (1 + 1e-6)
    assert spread.max() == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_samples_do_not_contradict_the_budget(name, epsilon):
    """A lower bound on ε from the reports alone: an event chosen on one half, its odds bounded on the other.

    Each bound errs with probability 1e-7 (Clopper-Pearson), so all together raise a false alarm in fewer than 1e-5.
    The event may also be about the hash function, in case it told something about the value.
    """
    n, k = 40_000, 4
    protocol, rng = PROTOCOLS[name](k, epsilon), np.random.default_rng(13)
    reports = [protocol.perturb(np.full(n, value), rng) for value in (0, 1)]
    log = [protocol.log_likelihood(r) for r in reports]
    scores = [[one[:, 0] - one[:, 1] for one in log]]
    if name.endswith("lh"):
        scores.append([r[:, 0].astype(float) for r in reports])
    found = []
    for first, second in scores:
        cuts = np.quantile(first[: n // 2], np.linspace(0, 1, 51), method="higher")
        hits = [(s[: n // 2, None] >= cuts).sum(axis=0) for s in (first, second)]
        lower, upper = clopper_pearson(hits[0], n // 2, 1e-7)[0], clopper_pearson(hits[1], n // 2, 1e-7)[1]
        cut = cuts[np.argmax(np.log(np.maximum(lower, 1e-300) / upper))]
        hits = [(s[n // 2 :] >= cut).sum() for s in (first, second)]
        lower, upper = clopper_pearson(hits[0], n // 2, 1e-7)[0], clopper_pearson(hits[1], n // 2, 1e-7)[1]
        found.append(float(np.log(max(lower, 1e-300) / upper)))
    assert max(found) <= epsilon
    assert found[0] > 0.25 * epsilon  # the bound has power: a protocol that spends four times its claim is caught
    if len(found) > 1:
        assert found[1] < 0.1  # the function alone tells nothing


@pytest.mark.parametrize("name", PROTOCOLS)
def test_reports_follow_the_stated_likelihood(name):
    """Empirical frequency of each report against its likelihood; of real reports the moments, of hashes the truth."""
    k, epsilon, n = 4, 1.3, 60_000
    protocol, rng = PROTOCOLS[name](k, epsilon), np.random.default_rng(3)
    reports = protocol.perturb(np.full(n, 2), rng)
    if name in ENUMERABLE:
        possible = every_report(protocol)
        law = np.exp(protocol.log_likelihood(possible)[:, 2])
        if name == "grr":
            seen = (reports[:, None] == possible).mean(axis=0)
        else:
            code = 2 ** np.arange(k)
            seen = (reports @ code)[:, None] == possible @ code
            seen = seen.mean(axis=0)
        assert (np.abs(seen - law) < 6 * np.sqrt(law * (1 - law) / n)).all()
    elif name == "she":
        assert abs(reports[:, 2].mean() - 1) < 6 * math.sqrt(8 / epsilon**2 / n)
        assert (np.abs(reports[:, [0, 1, 3]].mean(axis=0)) < 6 * math.sqrt(8 / epsilon**2 / n)).all()
        assert np.abs(reports[:, 0]).mean() == pytest.approx(2 / epsilon, rel=0.03)
    else:
        truth = universal_hash(reports[:, 0], reports[:, 1], np.full(n, 2, np.uint64)) % np.uint64(protocol.g)
        p = protocol.hash_probabilities()[0]
        assert abs((truth == reports[:, 2]).mean() - p) < 6 * math.sqrt(p * (1 - p) / n)


@pytest.mark.parametrize("name", PURE)
@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.01), (2, 1.0), (2, 50.0), (5, 0.25), (41, 2.0), (74, 8.0), (74, 0.5)])
def test_support_has_the_pure_probabilities(name, k, epsilon):
    n, protocol, rng = 20_000, PROTOCOLS[name](k, epsilon), np.random.default_rng(4)
    seen = protocol.indicator(protocol.perturb(np.full(n, k // 2), rng)).mean(axis=0)
    p, q = protocol.pure_probabilities()
    law = np.full(k, q)
    law[k // 2] = p
    assert seen.shape == (k,)
    assert (np.abs(seen - law) <= 6 * np.sqrt(law * (1 - law) / n) + 1e-3 * (law < 1e-6)).all()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_estimates_are_unbiased_with_the_variance_of_the_literature(name):
    k, epsilon, n, runs = 6, 1.0, 1_000, 400
    protocol, rng = PROTOCOLS[name](k, epsilon), np.random.default_rng(5)
    values = column(n, k, rng)
    true = np.bincount(values, minlength=k) / n
    found = np.array([protocol.estimate_frequencies(protocol.perturb(values, rng)) for _ in range(runs)])
    variance = np.array([protocol.variance(n, f) for f in true])
    assert (np.abs(found.mean(axis=0) - true) < 6 * np.sqrt(variance / runs)).all()
    np.testing.assert_allclose(found.var(axis=0, ddof=1), variance, rtol=6 * math.sqrt(2 / runs))


def test_variances_match_the_printed_formulas():
    """Wang et al. 2017, Table 2 (rare values, n = 1)."""
    for epsilon in (0.1, 1.0, 3.0):
        e, k = math.exp(epsilon), 20
        half = math.exp(epsilon / 2)
        assert GRR(k, epsilon).variance() == pytest.approx((k - 2 + e) / (e - 1) ** 2)
        assert Rappor(k, epsilon).variance() == pytest.approx(half / (half - 1) ** 2)
        assert OUE(k, epsilon).variance() == pytest.approx(4 * e / (e - 1) ** 2)
        assert BLH(k, epsilon).variance() == pytest.approx((e + 1) ** 2 / (e - 1) ** 2)
        assert SHE(k, epsilon).variance() == pytest.approx(8 / epsilon**2)


def test_subset_selection_with_one_value_is_grr():
    for k, epsilon in ((2, 0.3), (5, 4.0), (74, 10.0)):
        assert SubsetSelection(k, epsilon).omega == 1
        assert SubsetSelection(k, epsilon).pure_probabilities() == pytest.approx(GRR(k, epsilon).pure_probabilities())


def test_subset_selection_takes_the_best_size():
    for k, epsilon in ((74, 0.5), (41, 1.0), (24, 2.0)):

        def variance(omega, k=k, epsilon=epsilon):
            e = math.exp(epsilon)
            p = omega * e / (omega * e + k - omega)
            q = (p * (omega - 1) + (1 - p) * omega) / (k - 1)
            return q * (1 - q) / (p - q) ** 2

        ours = SubsetSelection(k, epsilon)
        assert ours.variance() == pytest.approx(variance(ours.omega))
        assert ours.omega == pytest.approx(min(range(1, k), key=variance), abs=1)


def test_random_subsets_are_uniform():
    """Each of the 20 subsets of 3 in 6, and of the 15 subsets of 2, equally often."""
    n, rng = 60_000, np.random.default_rng(6)
    sizes = np.where(np.arange(n) < n // 2, 3, 2)
    drawn = random_subsets(6, sizes, rng)
    np.testing.assert_array_equal(drawn.sum(axis=0), sizes)
    codes = 2 ** np.arange(6) @ drawn
    for part, number in ((codes[: n // 2], 20), (codes[n // 2 :], 15)):
        _, counts = np.unique(part, return_counts=True)
        assert len(counts) == number
        expected = n // 2 / number
        assert (np.abs(counts - expected) < 6 * math.sqrt(expected)).all()


def test_random_subsets_of_all_sizes_and_a_large_domain():
    rng = np.random.default_rng(7)
    for m, sizes in ((5, np.arange(6)), (5000, np.array([0, 1, 2500, 5000]))):
        np.testing.assert_array_equal(random_subsets(m, sizes, rng).sum(axis=0), sizes)


def test_universal_hash_is_the_slow_one():
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, PRIME, (2, 3000), dtype=np.uint64)
    x = rng.integers(0, 2**29, 3000, dtype=np.uint64)
    a[:2], b[:2], x[:2] = PRIME - 1, PRIME - 1, 2**29 - 1
    slow = [(int(i) * int(k) + int(j)) % PRIME for i, j, k in zip(a, b, x)]
    assert universal_hash(a, b, x).tolist() == slow


@pytest.mark.parametrize("g", [2, 3, 7])
def test_hashes_are_pairwise_independent(g):
    n, rng = 60_000, np.random.default_rng(9)
    a, b = rng.integers(0, PRIME, (2, n), dtype=np.uint64)
    one, two = (universal_hash(a, b, np.full(n, v, np.uint64)) % np.uint64(g) for v in (3, 11))
    pairs = np.bincount((one * np.uint64(g) + two).astype(int), minlength=g * g) / n
    assert (np.abs(pairs - 1 / g**2) < 6 * math.sqrt(1 / g**2 / n)).all()


def test_indicator_of_local_hashing_is_the_slow_one():
    rng = np.random.default_rng(10)
    for protocol in (BLH(9, 1.0), OLH(9, 3.0), OLH(9, 45.0)):
        reports = protocol.perturb(rng.integers(0, 9, 200), rng)
        slow = [[(int(a) * v + int(b)) % PRIME % protocol.g == z for v in range(9)] for a, b, z in reports]
        np.testing.assert_array_equal(protocol.indicator(reports), slow)


def test_best_local_hashing_is_the_best_and_never_worse():
    for k, epsilon in itertools.product((2, 5, 74), (0.05, 0.4, 0.6, 1.0, 2.5, 6.0)):
        g = best_range(k, epsilon)
        slow = min(range(2, 4000), key=lambda g: hash_variance(k, epsilon, g))
        assert hash_variance(k, epsilon, g) <= hash_variance(k, epsilon, slow) * (1 + 1e-12)
        for other in (BLH, OLH):
            assert BestLH(k, epsilon).total_variance() <= other(k, epsilon).total_variance() * (1 + 1e-12)


def test_thresholded_bits_have_the_law_of_thresholded_laplace_noise():
    n, k, epsilon, rng = 40_000, 3, 1.5, np.random.default_rng(11)
    protocol = THE(k, epsilon)
    slow = np.eye(k)[1] + rng.laplace(scale=2 / epsilon, size=(n, k)) > protocol.threshold
    p, q = protocol.pure_probabilities()
    law = np.array([q, p, q])
    assert (np.abs(slow.mean(axis=0) - law) < 6 * np.sqrt(law * (1 - law) / n)).all()
    assert abs((slow[:, 0] & slow[:, 1]).mean() - p * q) < 6 * math.sqrt(p * q / n)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_threshold_minimises_the_printed_objective(epsilon):
    grid = np.linspace(0.5, 1, 20_001)[1:-1]
    up = np.exp(epsilon * grid / 2)
    printed = (2 * up - 1) / (1 + np.exp(epsilon * (grid - 0.5)) - 2 * up) ** 2
    assert best_threshold(epsilon) == pytest.approx(grid[printed.argmin()], abs=1e-4)


def test_coins_are_fair_to_their_bias():
    rng = np.random.default_rng(12)
    for p in (0.0, 1e-4, 0.003, 0.25, 0.5, 0.7001, 1 - 1e-4, 1.0):
        seen = coins(p, (4, 50_000), rng)
        assert seen.shape == (4, 50_000)
        assert abs(seen.mean() - p) <= 6 * math.sqrt(p * (1 - p) / seen.size)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_same_seed_same_reports_and_empty_columns(name):
    protocol = PROTOCOLS[name](7, 1.0)
    values = column(100, 7, np.random.default_rng(0))
    before = values.copy()
    one, two = (protocol.perturb(values, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(values, before)
    assert protocol.indicator(one).shape == (100, 7)
    assert protocol.indicator(protocol.perturb(values[:0], np.random.default_rng(5))).shape == (0, 7)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_bad_parameters_and_values_are_refused(name):
    kind, rng = PROTOCOLS[name], np.random.default_rng(0)
    for k, epsilon, what in (
        (1, 1.0, "k must be >= 2"),
        (3, 0.0, "epsilon must be > 0"),
        (3, math.inf, "epsilon must be"),
    ):
        with pytest.raises(BadRequest, match=what):
            kind(k, epsilon)
    for values in (np.array([3]), np.array([-1]), np.array([0.5]), np.zeros((2, 2), int)):
        with pytest.raises(BadRequest, match="values must be"):
            kind(3, 1.0).perturb(values, rng)


def test_she_has_no_pure_probabilities():
    with pytest.raises(BadRequest, match="not a pure protocol"):
        SHE(3, 1.0).pure_probabilities()
