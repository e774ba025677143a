"""Attacks on values: Bayes' rule, and beliefs that are as sure as they are right."""

import numpy as np
import pytest

from fairpriv import registry
from fairpriv.attacks.values.base import KnownValues, ValueAttack, posterior
from fairpriv.attacks.values.bayes_values import calibrated, tempered
from fairpriv.protocols.ldp_leakage import calibration_error

ATTACKS = [n for n in registry.names("attacks")[0] if issubclass(registry.find("attacks", n), ValueAttack)]


def people(n=4000, k=4, seed=0, tells=True):
    rng = np.random.default_rng(seed)
    value = rng.choice(k, n, p=np.array([0.55, 0.25, 0.15, 0.05]))
    sign = value if tells else rng.permutation(value)
    return np.column_stack([sign + rng.normal(0, 1.2, n), rng.normal(size=n)]), value


@pytest.mark.parametrize("name", ATTACKS)
def test_beliefs_are_probabilities_and_the_same_for_the_same_seed(name):
    x, value = people()
    known = KnownValues(x[:2000], value[:2000], 4)
    one, two = (registry.build("attacks", name).fit(known, np.random.default_rng(3))(x[2000:]) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one.sum(axis=1), 1)
    assert one.min() > 0  # nobody is ruled out for good
    assert (one.argmax(axis=1) == value[2000:]).mean() > 0.55 + 0.02


def test_beliefs_are_calibrated_and_made_up_of_nothing_where_nothing_is_told():
    x, value = people(tells=True)
    beliefs = registry.build("attacks", "bayes_values").fit(
        KnownValues(x[:2000], value[:2000], 4), np.random.default_rng(0)
    )
    assert calibration_error(beliefs(x[2000:]), value[2000:]) < 0.04
    x, value = people(tells=False)
    known = KnownValues(x[:2000], value[:2000], 4)
    beliefs = registry.build("attacks", "bayes_values").fit(known, np.random.default_rng(0))
    assert np.abs(beliefs(x[2000:]) - known.shares).mean() < 0.02


def test_calibration_finds_the_power_that_was_taken():
    rng = np.random.default_rng(0)
    true = rng.dirichlet(np.ones(3), 4000)
    value = np.array([rng.choice(3, p=row) for row in true])
    shares = np.full(3, 1 / 3)
    power, mix = calibrated(tempered(true, shares, 0.5, 0.0), value, shares)
    assert (power, mix) == (2.0, 0.01)


def test_posterior_is_bayes_rule():
    prior, law = np.array([0.7, 0.3]), np.array([[0.2, 0.9], [0.5, 0.5]])
    expected = prior * law / (prior * law).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.exp(posterior(prior, np.log(law))), expected)
