"""Budget splits and the ledger."""

import itertools

import pytest

from fairpriv.errors import BadRequest
from fairpriv.mechanisms import budget
from fairpriv.mechanisms.budget import SPLITS, Ledger, least_variance, split_budget
from fairpriv.mechanisms.ldp import PROTOCOLS

ADULT = {"gender": 2, "race": 5, "native-country": 41, "age": 74}


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("epsilon", [0.01, 0.25, 1, 10, 50])
@pytest.mark.parametrize("sizes", [ADULT, {"only": 3}, {"a": 2, "b": 2, "c": 2}])
def test_the_parts_add_up_to_the_budget(split, epsilon, sizes):
    ledger = split_budget(epsilon, sizes, split, "grr")
    assert list(ledger.entries) == list(sizes)
    assert ledger.spent == pytest.approx(epsilon, rel=1e-12)
    assert min(ledger.entries.values()) > 0


def test_uniform_and_k_based_are_the_papers():
    assert list(split_budget(2, ADULT, "uniform", "grr").entries.values()) == [0.5] * 4
    shares = split_budget(122, ADULT, "k_based", "grr").entries
    assert list(shares.values()) == pytest.approx([2, 5, 41, 74])


def test_binary_attributes_make_both_splits_equal():
    binary = {"a": 2, "b": 2, "c": 2}
    assert split_budget(1, binary, "uniform", "ss").entries == split_budget(1, binary, "k_based", "ss").entries


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("epsilon", [0.3, 3.0])
def test_least_variance_is_the_best_of_all_splits(name, epsilon, monkeypatch):
    """Against brute force over every split into 24ths."""
    monkeypatch.setattr(budget, "PARTS", 24)
    sizes, protocol = [2, 9, 30], PROTOCOLS[name]

    def total(parts):
        return sum(protocol(k, epsilon * m / 24).total_variance() for k, m in zip(sizes, parts))

    every = [p for p in itertools.product(range(1, 23), repeat=3) if sum(p) == 24]
    found = [round(share * 24 / epsilon) for share in least_variance(epsilon, sizes, protocol)]
    assert sum(found) == 24
    assert total(found) == pytest.approx(min(map(total, every)), rel=1e-12)


@pytest.mark.parametrize("name", ["grr", "oue", "ss", "olh"])
def test_least_variance_is_no_worse_than_the_others(name):
    def total(split):
        shares = split_budget(4.0, ADULT, split, name).entries
        return sum(PROTOCOLS[name](ADULT[a], e).total_variance() for a, e in shares.items())

    assert total("least_variance") <= 1.001 * min(total("uniform"), total("k_based"))


def test_the_ledger_refuses_what_it_cannot_pay():
    ledger = Ledger(1.0)
    ledger.spend("a", 0.6)
    with pytest.raises(BadRequest, match="would exceed the budget"):
        ledger.spend("b", 0.5)
    with pytest.raises(BadRequest, match="collected already"):
        ledger.spend("a", 0.1)
    with pytest.raises(BadRequest, match="epsilon of b must be > 0"):
        ledger.spend("b", 0)
    assert ledger.spent == 0.6


def test_bad_requests_are_refused():
    for epsilon, sizes, split, protocol, what in (
        (1, ADULT, "equal", "grr", "split must be one of uniform"),
        (1, ADULT, "uniform", "rr", "protocol must be one of grr"),
        (0, ADULT, "uniform", "grr", "epsilon must be > 0"),
        (1, {}, "uniform", "grr", "at least one sensitive attribute"),
        (1, dict.fromkeys(range(300), 2), "least_variance", "grr", "at most 240 attributes"),
    ):
        with pytest.raises(BadRequest, match=what):
            split_budget(epsilon, sizes, split, protocol)
