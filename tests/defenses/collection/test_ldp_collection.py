"""LDP collection of several attributes at once."""

import math

import numpy as np
import pytest

from fairpriv.defenses.collection.ldp_collection import LDPCollection
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.budget import SPLITS
from fairpriv.mechanisms.ldp import PROTOCOLS

SIZES = {"a": 2, "b": 5, "c": 30}


def people(n=400):
    rng = np.random.default_rng(0)
    return {name: rng.integers(0, k, n) for name, k in SIZES.items()}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("split", SPLITS)
def test_every_attribute_is_collected_and_paid_for(protocol, split):
    seen, ledger = LDPCollection(protocol, split, 2.0).collect(people(), SIZES, np.random.default_rng(1))
    assert {name: block.shape for name, block in seen.items()} == {name: (400, k) for name, k in SIZES.items()}
    assert ledger.spent == pytest.approx(2.0)
    again, _ = LDPCollection(protocol, split, 2.0).collect(people(), SIZES, np.random.default_rng(1))
    assert all((seen[name] == again[name]).all() for name in SIZES)


def test_attributes_are_perturbed_independently():
    """Two equal columns get different noise."""
    codes = np.zeros(2000, int)
    seen, _ = LDPCollection("oue", "uniform", 1.0).collect(
        {"a": codes, "b": codes}, {"a": 9, "b": 9}, np.random.default_rng(1)
    )
    agree = (seen["a"] == seen["b"]).mean()
    assert agree < 0.9


def test_without_dp_the_values_are_seen():
    seen, ledger = LDPCollection("nondp", "nondp", math.inf).collect(people(), SIZES, np.random.default_rng(1))
    for name, codes in people().items():
        np.testing.assert_array_equal(seen[name].argmax(axis=1), codes)
        assert (seen[name].sum(axis=1) == 1).all()
    assert math.isinf(ledger.epsilon)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        (("rr", "uniform", 1.0), "protocol must be one of nondp, grr"),
        (("grr", "equal", 1.0), "split must be one of nondp, uniform"),
        (("grr", "uniform", -1), "epsilon must be > 0"),
        (("grr", "uniform", math.inf), "epsilon must be inf for protocol nondp"),
        (("nondp", "nondp", 1.0), "epsilon must be inf for protocol nondp"),
        (("nondp", "uniform", math.inf), "split must be nondp"),
    ],
)
def test_bad_parameters_are_refused(params, said):
    with pytest.raises(BadRequest, match=said):
        LDPCollection(*params)
