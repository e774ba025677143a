import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.models.tune import tune

SPACE = {"x": (-5.0, 5.0), "rate": (1e-4, 1.0, "log"), "depth": (1, 20, "int"), "kind": ["a", "b", None]}


def loss(p):
    return -((p["x"] - 1) ** 2) - (np.log10(p["rate"]) + 2) ** 2 - (p["depth"] - 7) ** 2 / 10 - (p["kind"] != "b")


def test_finds_a_good_point_of_the_right_types():
    best = tune(loss, SPACE, 80, seed=0)
    assert loss(best) > -1.5
    assert isinstance(best["depth"], int)


def test_same_seed_same_answer_and_other_seed_another():
    assert tune(loss, SPACE, 15, seed=3) == tune(loss, SPACE, 15, seed=3)
    assert tune(loss, SPACE, 15, seed=3) != tune(loss, SPACE, 15, seed=4)


def test_first_of_equals_wins():
    seen = []

    def flat(p):
        seen.append(p)
        return 1.0

    assert tune(flat, {"x": (0, 9, "int")}, 5, seed=0) == seen[0]


@pytest.mark.parametrize(
    ("space", "trials", "message"),
    [
        ({}, 1, "at least one parameter"),
        ({"x": []}, 1, "at least one choice"),
        ({"x": (2, 1)}, 1, "high of x must be >= 2"),
        ({"x": (0, 1, "log")}, 1, "low of x must be > 0"),
        ({"x": (0, 1.5, "int")}, 1, "whole number"),
        ({"x": (0, 1, "cubic")}, 1, "must be one of linear, log, int, log-int"),
        ({"x": 3}, 1, "must be"),
        ({"x": (0, 1)}, 0, "trials must be >= 1"),
    ],
)
def test_bad_input_is_refused_in_one_line(space, trials, message):
    with pytest.raises(BadRequest, match=message) as error:
        tune(lambda p: 0.0, space, trials, seed=0)
    assert "\n" not in str(error.value)
