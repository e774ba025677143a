"""experiment=ldp_leakage: who is guessed, from what, and that nothing else is looked at."""

import numpy as np
import pytest

from fairpriv.cells import Cell
from fairpriv.errors import BadRequest
from fairpriv.protocols.ldp_leakage import LdpLeakage, balanced, calibration_error, gained_bits
from tests.protocols.test_ldp_fairness import small


def cell(protocol="grr", split="uniform", epsilon=1.0, attribute="sex", seed=0):
    axes = {"dataset": "small", "defense.protocol": protocol, "defense.split": split, "epsilon": epsilon}
    plugins = {
        "dataset": {"name": "small"},
        "defense": {"name": "ldp_collection", "protocol": protocol, "split": split},
        "attack": {"name": "bayes_values", "trees": 10, "leaf": 5, "held_out": 0.25},
    }
    return Cell("ldp_leakage", axes | {"attribute": attribute, "attack": "bayes_values"}, plugins, seed)


def run(*cells, n=4000):
    data = small(n)
    return [r.metrics for r in LdpLeakage().run(cells, lambda _: data)]


def test_results_do_not_depend_on_companions():
    cells = [cell("oue", epsilon=e, attribute=a) for e in (0.5, 8.0) for a in ("sex", "town", "protected")]
    together = run(*cells, n=1000)
    assert [run(c, n=1000)[0] for c in reversed(cells)] == together[::-1]
    assert together[0] == together[2]  # "protected" is the protected attribute


def test_more_budget_tells_more_and_both_tell_no_less_than_either():
    few, many = run(cell(epsilon=0.2), cell(epsilon=20.0))
    assert few["bits_reports"] < 0.05 < 0.9 < many["bits_reports"]
    assert many["acc_reports"] > 0.99
    for found in (few, many):
        assert found["bits_both"] > max(found["bits_reports"], found["bits_features"]) - 0.02
        assert found["adv_both"] == pytest.approx(found["acc_both"] - found["guess"])
    assert few["acc_features"] == many["acc_features"]  # reports are no part of it
    assert few["acc_features"] > few["guess"] + 0.05  # the label and age tell


def test_accuracy_is_the_closed_form():
    for found in run(*(cell(p, epsilon=3.0, attribute="town") for p in ("grr", "ss", "oue", "rappor", "the"))):
        assert found["acc_reports"] == pytest.approx(found["acc_closed_form"], abs=0.04)
        assert found["bal_reports"] <= found["bal_most"] + 0.04


def test_the_budget_of_an_attribute_is_its_share():
    one, two = run(cell(epsilon=6.0), cell(split="k_based", epsilon=6.0), n=500)
    assert (one["epsilon_attribute"], one["k"]) == (3.0, 2)
    assert two["epsilon_attribute"] == pytest.approx(6 * 2 / 6)


def test_bad_cells_are_refused_before_anything_runs():
    for bad, said in (
        (cell(epsilon=-1.0), "epsilon must be > 0"),
        (cell("nope"), "protocol must be one of"),
        (cell("nondp", "nondp", float("inf")), "needs the law of the reports"),
    ):
        with pytest.raises(BadRequest, match=said):
            LdpLeakage().validate(bad)
    with pytest.raises(BadRequest, match="attribute must be one of protected, sex, town, got height"):
        LdpLeakage().fits(cell(attribute="height"), small())


def test_balanced_accuracy_and_bits_are_the_slow_ones():
    rng = np.random.default_rng(0)
    posterior = np.log(rng.dirichlet(np.ones(3), 300))
    value, shares = rng.choice(3, 300, p=[0.7, 0.2, 0.1]), np.array([0.7, 0.2, 0.1])
    guess = (np.exp(posterior) / shares).argmax(axis=1)
    assert balanced(posterior, value, shares) == pytest.approx(
        np.mean([(guess[value == v] == v).mean() for v in range(3)])
    )
    slow = np.mean([np.log2(np.exp(posterior[i, v]) / shares[v]) for i, v in enumerate(value)])
    assert gained_bits(posterior, value, shares) == pytest.approx(slow)


def test_calibration_error_tells_the_sure_from_the_right():
    value = np.zeros(100, int)
    assert calibration_error(np.tile([0.75, 0.25], (100, 1)), value) == pytest.approx(0.25)
    assert calibration_error(np.tile([1.0, 0.0], (100, 1)), value) == pytest.approx(0.0)
