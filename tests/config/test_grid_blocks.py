"""Blocks of a grid that make no sense with another's values."""

import pytest

from fairpriv import config
from fairpriv.errors import BadRequest


@pytest.fixture(scope="module", autouse=True)
def conf():
    config.start()


def plan(*overrides):
    return config.plan(["experiment=attribute_conceal", "dataset=synthetic", "seeds=1", *overrides])


def test_a_block_that_keeps_its_defense_is_left_out_where_another_is_picked():
    """Candidate laws stand in for defense=none: they say nothing about a defense that no block knows."""
    assert any(cell.get("candidate") for cell in plan().cells)
    own = plan("defense=gaussian").cells
    assert own
    assert not any(cell.get("candidate") for cell in own)
    assert {cell["defense"] for cell in own} == {"gaussian"}


def test_what_a_block_keeps_must_be_an_axis():
    with pytest.raises(BadRequest, match=r"sweep\.grid\.table2_n1000\.keeps must be one of"):
        plan("+sweep.grid.table2_n1000.keeps=[colour]")
