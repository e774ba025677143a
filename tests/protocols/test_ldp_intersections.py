"""experiment=ldp_intersections: the same learning as ldp_fairness, other groups."""

import dataclasses

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.protocols.ldp_fairness import LdpFairness
from fairpriv.protocols.ldp_intersections import LdpIntersections, crossed
from tests.protocols.test_ldp_fairness import INF, cell, small


def run(protocol, *cells, n=4000):
    data = small(n)
    return [r.metrics for r in protocol().run(cells, lambda _: data)]


def test_without_noise_it_is_ldp_fairness_and_more():
    (ours,), (theirs,) = (run(p, cell("nondp", "nondp", INF)) for p in (LdpIntersections, LdpFairness))
    for metric in ("acc", "auc", "di", "spd", "eod", "oad"):
        assert ours[metric] == theirs[metric]
    assert ours["crossed"] == "sex x town"
    assert ours["groups"] == 6
    assert ours["worst_spd"] >= ours["spd"]


def test_results_do_not_depend_on_companions():
    cells = [cell("oue", epsilon=e) for e in (0.5, 8.0)]
    assert [run(LdpIntersections, c)[0] for c in cells] == run(LdpIntersections, *cells)


def test_groups_need_two_attributes():
    data = small()
    alone = dataclasses.replace(data, sensitive=data.sensitive[["sex"]])
    with pytest.raises(BadRequest, match="needs two sensitive attributes; small has sex alone"):
        LdpIntersections().fits(cell(), alone)
    named = dataclasses.replace(
        data, name="lsac", features=data.features.rename(columns={"town": "gender", "age": "race1"})
    )
    assert list(crossed(named)) == ["gender", "race1"]
    np.testing.assert_array_equal(crossed(named)["race1"], data.features["age"])
