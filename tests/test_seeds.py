"""Streams: the same name the same numbers, another name others."""

import numpy as np
import pytest

from fairpriv import config
from fairpriv.cells import GROUPS, Cell, expand
from fairpriv.protocols.bias_queries import BiasQueries
from fairpriv.registry import essential, find
from fairpriv.seeds import canonical, stream
from tests.conftest import ROOT


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


def _streams(cell, axes):
    """Return the first words of every stream a protocol may ask a cell for: of the whole of it, and of any axis."""
    return [cell.rng("role", *named).integers(2**63) for named in [(), *((axis,) for axis in sorted(axes))]]


@pytest.mark.parametrize("experiment", sorted(path.stem for path in (ROOT / "conf" / "experiment").glob("*.yaml")))
def test_every_cell_read_back_draws_what_the_cell_that_was_run_drew(experiment):
    config.start()
    plan = config.plan([f"experiment={experiment}", "seeds=1"])
    axes = {axis for cell in plan.cells for axis in cell.axes} | {*GROUPS, "attack.metric"}
    for cell in plan.cells[:: max(1, len(plan.cells) // 150)]:
        back = Cell.parse(cell.identity)
        assert back.identity == cell.identity
        assert _streams(back, axes) == _streams(cell, axes)


def test_a_later_parameter_at_its_default_draws_the_same_whether_its_axis_is_said_or_not():
    def resolve(point):
        given = {axis.split(".")[1]: value for axis, value in point.items() if "." in axis}
        return {"attack": {"name": "reveal_partition"} | essential(find("attacks", "reveal_partition"), given)}

    def cell_of(**axes):
        block = {"n": [100], "attack": ["reveal_partition"]} | {a.replace("_", "."): [v] for a, v in axes.items()}
        return expand("attribute_reveal", [(block, [3])], resolve, BiasQueries.later)[0]

    plain, said, changed = cell_of(), cell_of(attack_metric="abs_sp"), cell_of(attack_metric="abs_eo")
    assert plain.identity == said.identity != changed.identity
    axes = {"n", "attack", "attack.metric"}
    assert _streams(plain, axes) == _streams(said, axes) == _streams(Cell.parse(said.identity), axes)
    assert _streams(changed, axes) == _streams(Cell.parse(changed.identity), axes)
    assert _streams(changed, axes) != _streams(said, axes)
