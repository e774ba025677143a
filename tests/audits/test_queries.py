"""Audited privacy of every query defense, and of mechanisms known to break their claim."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from fairpriv.audits.queries import audit
from fairpriv.audits.sampled import clopper_pearson
from fairpriv.audits.worst import worst_gaps
from fairpriv.defenses.query.base import QueryDefense
from fairpriv.mechanisms.noise import Cauchy, Laplace, Law
from fairpriv.mechanisms.smooth_sensitivity import local_sensitivity
from fairpriv.registry import build


def made(name, epsilon, **params):
    if name in ("conceal_tight", "conceal_exact"):
        params = {"nominal_share": 0.1} | params
    return build("defenses", name, {"epsilon": epsilon} | params)


def hyperbolic(shift, s, t):
    """Supremum of the log density ratio of two Cauchy laws: the distance of their points in the upper half-plane."""
    return np.arccosh(1 + (shift**2 + (s - t) ** 2) / (2 * s * t))


@pytest.mark.parametrize("name", ["conceal", "conceal_tight", "conceal_exact"])
@pytest.mark.parametrize("epsilon", [0.5, 5.0, 100.0])
@pytest.mark.parametrize("n", [3, 4, 20, 100])
def test_cauchy_audit_agrees_with_hyperbolic_distance(name, epsilon, n):
    m, defense = 10, made(name, epsilon)
    scale = [defense.law("sp", k, n - k, m).scale for k in range(1, n)]
    exact = [m * hyperbolic(1 / k + 1 / (n + 1 - k), scale[k - 1], scale[k - 2]) for k in range(2, n)]
    found = audit(defense, n, m, samples=100, rng=np.random.default_rng(0))
    assert found.exact == pytest.approx(max(exact), rel=1e-6)  # arccosh near 1 loses half the digits
    assert found.exact <= (epsilon / 3 if name == "conceal" else epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("name", ["conceal", "conceal_tight", "conceal_exact", "laplace"])
@pytest.mark.parametrize("metric", ["sp", "abs_sp", "eodds", "abs_eo"])
@pytest.mark.parametrize("bounding", ["none", "clip", "truncate", "boundary_inflated"])
@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_pure_defenses_keep_their_claim(name, metric, bounding, epsilon):
    # sampled bounds are wrong once in 1000 seeds; the seed is fixed
    found = audit(made(name, epsilon, bounding=bounding), 12, 4, metric, samples=200, rng=np.random.default_rng(0))
    assert found.verdict == "holds"
    assert found.sampled_lower <= epsilon


def test_the_printed_constants_are_loose_and_the_tight_ones_are_not():
    exact = {
        (name, epsilon): audit(made(name, epsilon), 100, 40, samples=100, rng=np.random.default_rng(0)).exact
        for name in ("conceal", "conceal_tight", "conceal_exact")
        for epsilon in (5.0, 100.0)
    }
    assert exact["conceal", 5.0] < 5 / 3
    assert exact["conceal", 100.0] < 100 / 3
    assert 0.99 * 5 < exact["conceal_tight", 5.0] <= 5
    assert 0.75 * 100 < exact["conceal_tight", 100.0] <= 100
    assert exact["conceal_exact", 100.0] == pytest.approx(100, rel=1e-6)


@pytest.mark.parametrize("nominal", [0.05, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("name", ["conceal_tight", "conceal_exact"])
def test_a_wrong_declared_share_costs_no_privacy(name, nominal):
    for epsilon in (0.5, 30.0):
        defense = made(name, epsilon, nominal_share=nominal)
        assert audit(defense, 40, 5, samples=100, rng=np.random.default_rng(0)).verdict == "holds"


def test_laplace_is_exactly_epsilon():
    found = audit(made("laplace", 3.0), 50, 7, samples=1500, rng=np.random.default_rng(0))
    assert found.exact == pytest.approx(3.0, rel=1e-9)
    assert found.worst in ("(2, 48) and (1, 49)", "(49, 1) and (48, 2)")
    assert 0.5 < found.sampled_lower < 3.0


@pytest.mark.parametrize(("calibration", "epsilon"), [("analytic", 0.5), ("analytic", 20.0), ("classic", 0.5)])
def test_gaussian_needs_no_more_than_its_delta(calibration, epsilon):
    found = audit(
        made("gaussian", epsilon, calibration=calibration, delta=1e-5), 30, 6, samples=300, rng=np.random.default_rng(0)
    )
    assert found.verdict == "holds"
    assert found.exact == np.inf
    if calibration == "analytic":
        assert found.exact_delta == pytest.approx((1e-5, 1e-5), rel=1e-6)


@pytest.mark.parametrize("delta", [1e-6, 1e-2, 0.5])
@pytest.mark.parametrize("epsilon", [0.1, 0.99])
def test_conceal_laplace_needs_no_more_than_its_delta(epsilon, delta):
    for m in (1, 3, 10):
        found = audit(made("conceal_laplace", epsilon, delta=delta), 20, m, samples=200, rng=np.random.default_rng(0))
        assert found.verdict == "holds"
        assert found.exact_delta[1] <= delta


@dataclass(frozen=True)
class LocalNoise(QueryDefense):
    """Noise on local sensitivity: the classic mistake, the change of scale is not paid for."""

    name: ClassVar[str] = "local"
    family: ClassVar[type[Law]] = Cauchy

    def noise_scale(self, metric, n0, n1, m, epsilon):
        return m * local_sensitivity(metric, n0, n1) / epsilon


@dataclass(frozen=True)
class Forgetful(LocalNoise):
    """Noise for one query whatever m."""

    family: ClassVar[type[Law]] = Laplace

    def noise_scale(self, metric, n0, n1, m, epsilon):
        return 0.6 / epsilon


@dataclass(frozen=True)
class FullBudgetTruncation(LocalNoise):
    """Truncation calibrated at the whole budget (it is halved before it comes here)."""

    family: ClassVar[type[Law]] = Laplace

    def noise_scale(self, metric, n0, n1, m, epsilon):
        return m * (0.5 + 1 / (n0 + n1 - 1)) / (2 * epsilon)


@dataclass(frozen=True)
class PrintedAtOne(LocalNoise):
    """Theorem 5's closed form taken at a group of one too."""

    def noise_scale(self, metric, n0, n1, m, epsilon):
        low, n = min(n0, n1), n0 + n1
        tail = np.exp(-(low - 2) * epsilon / (6 * m)) * (1 / (n - 1) + 1 / 2)
        return 6 * m * max(1 / (n - low + 1) + 1 / low, tail) / epsilon


@dataclass(frozen=True)
class PrintedAbsolute(LocalNoise):
    """Theorem 7 as printed: Laplace noise on m/2."""

    family: ClassVar[type[Law]] = Laplace

    def noise_scale(self, metric, n0, n1, m, epsilon):
        return m / 2 / epsilon


def test_the_print_is_caught_where_it_is_wrong():
    found = audit(PrintedAtOne(5.0), 100, 40, samples=100, rng=np.random.default_rng(0))
    assert found.worst in ("(2, 98) and (1, 99)", "(99, 1) and (98, 2)")
    assert 27 < found.exact < 28
    found = audit(PrintedAbsolute(3.0), 4, 5, "abs_sp", samples=100, rng=np.random.default_rng(0))
    assert found.exact == pytest.approx(3.0 * 4 / 3)


def test_broken_mechanisms_are_caught():
    found = audit(LocalNoise(0.5), 50, 40, samples=300, rng=np.random.default_rng(0))
    assert found.verdict == "VIOLATED"
    assert found.exact > 10 * 0.5
    found = audit(Forgetful(0.5), 10, 40, samples=500, rng=np.random.default_rng(0))
    assert found.verdict == "VIOLATED"
    assert found.sampled_lower > 0.5  # by samples alone
    found = audit(FullBudgetTruncation(1.0, "truncate"), 100, 1, samples=100, rng=np.random.default_rng(0))
    assert found.verdict == "VIOLATED"
    assert found.exact > 1.1


def test_exact_answers_have_no_guarantee():
    found = audit(made("none", float("inf")), 10, 3, samples=2000, rng=np.random.default_rng(0))
    assert found.exact == np.inf
    assert found.sampled_lower > 5


@pytest.mark.parametrize("metric", ["sp", "abs_sp"])
def test_worst_gaps_attain_local_sensitivity(metric):
    for n0, n1 in ((2, 9), (3, 3), (7, 40), (9, 9)):
        before, after = worst_gaps(metric, n0, n1)
        assert np.abs(before - after).max() == pytest.approx(local_sensitivity(metric, n0, n1), rel=1e-12)


def test_clopper_pearson_covers():
    rng = np.random.default_rng(0)
    k = rng.binomial(50, 0.1, 20_000)
    lower, upper = clopper_pearson(k, 50, 0.05)
    assert (lower > 0.1).mean() <= 0.05
    assert (upper < 0.1).mean() <= 0.05
    np.testing.assert_array_equal([clopper_pearson(0, 50, 0.05)[0], clopper_pearson(50, 50, 0.05)[1]], [0, 1])


def test_same_seed_same_audit():
    runs = [audit(made("conceal_tight", 2.0), 10, 2, samples=500, rng=np.random.default_rng(4)) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize(("defense", "metric"), [("laplace", "prp"), ("conceal", "abs_prp")])
def test_predictive_rate_parity_is_audited_at_its_worst_model(defense, metric):
    """One person with Y = 1 accepted alone moves the gap over its whole range: Laplace noise for that spends all."""
    built = build("defenses", defense, {"epsilon": 2.0})
    found = audit(built, 20, 2, metric, samples=300, rng=np.random.default_rng(0))
    assert found.verdict == "holds"
    assert found.exact == pytest.approx(2.0, rel=1e-6) if defense == "laplace" else found.exact < 1
