"""Local hashing by wholly independent hashes: the same guarantee and probabilities, and the law of whole sets.

Statistical tests at 6 standard deviations, or with a false alarm below 1e-6; seeds are fixed besides.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from fairpriv.audits.local import audit_collection
from fairpriv.defenses.collection.ldp_independent_hashing import LDPIndependentHashing
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.ldp.independent_hashing import INDEPENDENT, mixed_hash
from fairpriv.mechanisms.ldp.vulnerability import bayes_vulnerability

GRID = list(itertools.product(INDEPENDENT, ((2, 0.25), (5, 0.5), (5, 12.5), (74, 3.0), (8, 45.0))))


def test_the_mixing_is_splitmix64():
    """The first outputs of the generator from seed 1234567, as its authors' reference prints them."""
    found = mixed_hash(np.full(5, 1234567, np.uint64), np.arange(5))
    assert found.tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize(("name", "point"), GRID)
def test_the_guarantee_holds_given_any_seed(name, point):
    protocol, rng = INDEPENDENT[name](*point), np.random.default_rng(1)
    reports = protocol.perturb(rng.integers(0, protocol.k, 200), rng)
    for heard in range(min(protocol.g, 40)):
        reports[:, 1] = heard
        log = protocol.log_likelihood(reports)
        assert (log.max(axis=1) - log.min(axis=1)).max() <= protocol.epsilon * (1 + 1e-9)


@pytest.mark.parametrize(("name", "point"), GRID)
def test_support_has_the_pure_probabilities(name, point):
    n, protocol, rng = 40_000, INDEPENDENT[name](*point), np.random.default_rng(4)
    own = protocol.k // 2
    seen = protocol.indicator(protocol.perturb(np.full(n, own), rng)).mean(axis=0)
    law = np.where(np.arange(protocol.k) == own, *protocol.pure_probabilities())
    assert (np.abs(seen - law) <= 6 * np.sqrt(law * (1 - law) / n) + 1e-3 * (law < 1e-6)).all()


@pytest.mark.parametrize(("name", "epsilon"), [("blh", 1.0), ("olh", 1.5)])
def test_whole_sets_of_supported_values_have_the_law_of_independent_hashes(name, epsilon):
    """All 2^5 sets by a chi-squared test; the family that is independent in pairs is 0.25 away in total variation."""
    n, k, own, rng = 100_000, 5, 2, np.random.default_rng(0)
    protocol = INDEPENDENT[name](k, epsilon)
    p, q = protocol.pure_probabilities()
    bits = np.array(list(itertools.product((0, 1), repeat=k)))
    chance = np.where(np.arange(k) == own, p, q)
    law = np.where(bits == 1, chance, 1 - chance).prod(axis=1)
    seen = protocol.indicator(protocol.perturb(np.full(n, own), rng))
    counts = np.bincount(seen @ 2 ** np.arange(k)[::-1], minlength=2**k)
    assert stats.chisquare(counts, law * n).pvalue > 1e-6


@pytest.mark.parametrize(("k", "epsilon"), [(7, 0.5), (7, 3.0), (20, 4.0)])
def test_the_closed_form_of_the_vulnerability_is_theirs(k, epsilon):
    n, rng = 40_000, np.random.default_rng(k)
    shares = 0.6 ** np.arange(k) / (0.6 ** np.arange(k)).sum()
    protocol, value = INDEPENDENT["olh"](k, epsilon), rng.choice(k, n, p=shares)
    guess = (protocol.log_likelihood(protocol.perturb(value, rng)) + np.log(shares)).argmax(axis=1)
    expected = bayes_vulnerability(protocol, shares)
    assert (guess == value).mean() == pytest.approx(expected, abs=6 * math.sqrt(expected * (1 - expected) / n))


@pytest.mark.parametrize("protocol", INDEPENDENT)
def test_the_collection_pays_what_it_claims(protocol):
    defense = LDPIndependentHashing(protocol=protocol, split="k_based", epsilon=2.0)
    found = audit_collection(defense, samples=20_000, rng=np.random.default_rng(3))
    assert found.sampled_lower <= found.exact * (1 + 1e-9) <= 2.0 * (1 + 1e-8)
    assert found.follows


def test_what_is_no_local_hashing_is_refused():
    with pytest.raises(BadRequest, match="protocol must be one of"):
        LDPIndependentHashing(protocol="grr")
    with pytest.raises(BadRequest, match="split must be one of"):
        LDPIndependentHashing(split="nondp")
