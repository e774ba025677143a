import numpy as np
import pytest

from fairpriv import correct_reconstruction
from fairpriv.attacks.correction import Proportion, Rate, parse_constraints, read_constraints
from fairpriv.errors import BadRequest

GOOD = {
    "guess": np.array([0, 1, 0, 1]),
    "confidence": np.ones(4),
    "predictions": np.array([0, 1, 1, 0]),
    "tolerance": 0.1,
    "labels": np.array([0, 1, 0, 1]),
    "metric": "SP",
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guess": []}, "guess must have at least one"),
        ({"guess": [0, 1, 2, 1]}, r"guess must be in \{0, ..., 1\}, got 2"),
        ({"guess": [0, 1, 0.5, 1]}, "guess must be in"),
        ({"guess": [0, 1, np.nan, 1]}, "guess must be in"),
        ({"guess": [[0, 1], [0, 1]]}, "one-dimensional"),
        ({"guess": list("abcd")}, "array of numbers"),
        ({"confidence": np.ones(3)}, r"confidence must be as long as guess \(4\)"),
        ({"confidence": [1, 1, np.nan, 1]}, "confidence must be finite and >= 0, got nan"),
        ({"confidence": [1, 1, -0.5, 1]}, "confidence must be finite and >= 0, got -0.5"),
        ({"confidence": [1, 1, np.inf, 1]}, "confidence must be finite"),
        ({"confidence": list("abcd")}, "confidence must be an array of numbers"),
        ({"predictions": [0, 1, 1]}, "predictions must be as long as guess"),
        ({"predictions": [0, 1, 1, -1]}, "predictions must be in"),
        ({"labels": [0, 1, 1]}, "labels must be as long as guess"),
        ({"labels": [0, 1, 1, 2]}, "labels must be in"),
        ({"labels": None, "metric": "EO"}, "metric EO needs labels"),
        ({"labels": np.zeros(4), "metric": "EO"}, "the labels have no positives"),
        ({"labels": np.ones(4), "metric": "PE"}, "the labels have no negatives"),
        ({"labels": np.ones(4), "metric": "EOdds"}, "the labels have no negatives"),
        ({"metric": "sp"}, "metric must be one of SP, PE, EO, EOdds"),
        ({"tolerance": -0.1}, r"tolerance must be in \[0, 1\], got -0.1"),
        ({"tolerance": 1.5}, r"tolerance must be in \[0, 1\]"),
        ({"tolerance": float("nan")}, "tolerance must be a number"),
        ({"tolerance": float("inf")}, "tolerance must be a number"),
        ({"tolerance": "tight"}, "tolerance must be a number"),
        ({"tolerance": None}, "tolerance must be a number"),
        ({"tolerance": True}, "tolerance must be a number"),
        ({"groups": 1}, "groups must be >= 2"),
        ({"corrector": "magic"}, "corrector must be one of exact, cp_sat_efficient, cp_sat_general"),
        ({"at_least": 0.2}, "at_least must be <= the tolerance 0.1"),
        ({"at_least": 0.1, "corrector": "cp_sat_general"}, "at_least must be 0 unless"),
        ({"seconds": 0}, "seconds must be > 0"),
        ({"constraints": [lambda model, member: None]}, "cp_sat_general"),
        ({"constraints": [3], "corrector": "cp_sat_general"}, "must be Proportion, Rate or functions"),
        (
            {"confidence": np.ones((4, 2))},
            "confidence with a column a group must be 0 where the guess is",
        ),
        (
            {"guess": [0, 1, 2, 1], "groups": 3, "confidence": np.zeros((4, 3)), "corrector": "cp_sat_efficient"},
            "needs corrector='exact' or 'cp_sat_general'",
        ),
        (
            {"constraints": [Proportion(1, of="everyone")], "metric": "PE", "corrector": "cp_sat_efficient"},
            "a proportion of everyone with metric PE needs corrector='exact'",
        ),
        ({"constraints": [Proportion(2, of="everyone")], "metric": "PE"}, "constraint on group 2: there are groups"),
        ({"constraints": [Rate(2)]}, "constraint on group 2: there are groups 0 to 1"),
    ],
)
def test_refused_in_one_line(change, message):
    with pytest.raises(BadRequest, match=message) as error:
        correct_reconstruction(**(GOOD | change))
    assert "\n" not in str(error.value)


def test_good_input_is_not_refused():
    assert correct_reconstruction(**GOOD).status == "optimal"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"rate": {}}, "must be a list"),
        ([3], "must look like"),
        ([{"share": {"group": 1}}], "unknown constraint 'share'"),
        ([{"rate": {"group": 1, "most": 0.5}}], "unknown field"),
        ([{"rate": {"at_most": 0.5}}], "needs group"),
        ([{"rate": {"group": 1, "of": "everyone"}}], "unknown field"),
        ([{"proportion": {"group": 1, "of": "some"}}], "of must be one of metric, everyone"),
        ([{"rate": {"group": -1}}], "group must be >= 0"),
        ([{"rate": {"group": 1, "at_most": 2}}], "at_most must be in"),
        ([{"rate": {"group": 1, "at_least": 0.5, "at_most": 0.4}}], "at_most must be >= at_least"),
    ],
)
def test_bad_constraints_are_refused(entries, message):
    with pytest.raises(BadRequest, match=message):
        parse_constraints(entries)


def test_constraint_file(tmp_path):
    path = tmp_path / "known.yaml"
    path.write_text("constraints:\n  - proportion: {group: 1, at_least: 0.5}\n  - rate: {group: 0, at_most: 0.3}\n")
    assert read_constraints(path) == (Proportion(1, 0.5), Rate(0, 0, 0.3))
    path.write_text("rules: []\n")
    with pytest.raises(BadRequest, match="the one key constraints"):
        read_constraints(path)
    with pytest.raises(BadRequest, match="cannot read constraints"):
        read_constraints(tmp_path / "none.yaml")
