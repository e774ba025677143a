"""Streams: the same name the same numbers, another name others."""

import numpy as np
import pytest

from fairpriv.cells import Cell, expand
from fairpriv.protocols.bias_queries import BiasQueries
from fairpriv.seeds import canonical, stream


def test_stream_is_a_function_of_its_name():
    assert stream("a", {"x": 1}, 0, "noise").random() == stream("a", {"x": 1.0}, 0, "noise").random()


@pytest.mark.parametrize(
    "other",
    [
        ("b", {"x": 1}, 0, "noise"),
        ("a", {"x": 2}, 0, "noise"),
        ("a", {"x": 1}, 1, "noise"),
        ("a", {"x": 1}, 0, "queries"),
    ],
)
def test_any_part_of_the_name_changes_the_stream(other):
    assert stream("a", {"x": 1}, 0, "noise").random() != stream(*other).random()


def test_many_streams_are_uncorrelated():
    # 400 pairs of streams that differ in the seed only: mean correlation of 1000 draws stays within 5 standard errors
    draws = np.stack([stream("e", {}, seed, "r").standard_normal(1000) for seed in range(401)])
    products = (draws[1:] * draws[:-1]).mean(axis=1)
    assert abs(products.mean()) < 5 / np.sqrt(400 * 1000)


def test_named_axes_share_a_stream():
    a = Cell("p", {"x": 1, "y": 1}, {}, 3)
    b = Cell("p", {"x": 1, "y": 2}, {}, 3)
    assert a.rng("r", "x").random() == b.rng("r", "x").random()
    assert a.rng("r").random() != b.rng("r").random()


def test_canonical_text_does_not_depend_on_order_or_kind_of_number():
    assert canonical({"b": 1, "a": 2.0}) == canonical({"a": 2, "b": 1.0})
    assert canonical(float("inf")) == "Infinity"


def test_a_cell_read_back_draws_what_the_cell_that_was_run_drew():
    # an axis that came later stands in no stored text at its default: not the same as one that is null
    block = {"epsilon": [1], "candidate": [None], "audit": [False]}
    (cell,) = expand("attribute_conceal", [(block, [3])], lambda point: {}, BiasQueries.later)
    back = Cell.parse(cell.identity)
    assert back.identity == cell.identity
    noise = ("noise", "epsilon", "candidate")
    assert back.rng(*noise).random() == cell.rng(*noise).random()
