"""Query defenses: calibration as printed, parameters, seeds, shapes."""

import math

import numpy as np
import pytest
from scipy import stats

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Cauchy, Exact, Gaussian, Laplace
from fairpriv.mechanisms.smooth_sensitivity import smooth_sensitivity
from fairpriv.registry import build, names

NAMES = ["none", "conceal", "conceal_exact", "conceal_laplace", "conceal_tight", "laplace", "gaussian"]
PRIVATE = NAMES[1:]
ODDS = ((5, 5), (30, 60))
SIZES = {"sp": (10, 90), "abs_sp": (10, 90), "eo": (5, 30), "eodds": ODDS, "abs_eodds": ODDS, "prp": (10, 90)}


def made(name, epsilon=0.5, **params):
    if name in ("conceal_tight", "conceal_exact"):
        params = {"nominal_share": 0.1} | params
    return build("defenses", name, {"epsilon": epsilon} | params)


def gaps_of(metric, m=6):
    return np.full((m, 2) if metric.endswith("eodds") else (m,), 0.25)


def test_all_are_registered_and_import():
    found, broken = names("defenses")
    assert set(NAMES) <= set(found)
    assert not broken


@pytest.mark.parametrize("m", [1, 40])
@pytest.mark.parametrize("epsilon", [0.5, 5.0, 100.0])
def test_conceal_is_algorithm_3(m, epsilon):
    n0, n1 = 10, 90
    smooth = max(m / (n1 + 1) + m / n0, math.exp(-(n0 - 2) * epsilon / (6 * m)) * (m / (n0 + n1 - 1) + m / 2))
    law = made("conceal", epsilon).law("sp", n0, n1, m)
    assert isinstance(law, Cauchy)
    assert law.scale == pytest.approx(6 * smooth / epsilon)


def test_conceal_laplace_is_theorem_6():
    n0, n1, m, epsilon, delta = 10, 90, 40, 0.5, 1e-6
    decay = math.exp(-(n0 - 2) * epsilon / (4 * (m + math.log(2 / delta))))
    smooth = max(m / (n1 + 1) + m / n0, decay * (m / (n0 + n1 - 1) + m / 2))
    law = made("conceal_laplace", epsilon, delta=delta).law("sp", n0, n1, m)
    assert isinstance(law, Laplace)
    assert law.scale == pytest.approx(2 * smooth / epsilon)


def test_laplace_is_theorem_4():
    law = made("laplace", 2.0).law("sp", 10, 90, 40)
    assert isinstance(law, Laplace)
    assert law.scale == pytest.approx((40 / 2 + 40 / 99) / 2)


def test_gaussian_uses_the_l2_sensitivity():
    one, many = (made("gaussian", 2.0).law("sp", 10, 90, m) for m in (1, 49))
    assert isinstance(one, Gaussian)
    assert many.scale == pytest.approx(7 * one.scale)
    classic = made("gaussian", 0.5, calibration="classic", delta=1e-5).law("sp", 10, 90, 1)
    assert classic.scale == pytest.approx((0.5 + 1 / 99) * math.sqrt(2 * math.log(1.25e5)) / 0.5)


@pytest.mark.parametrize("metric", ["sp", "abs_sp"])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("epsilon", [0.1, 5.0, 100.0, 1000.0])
@pytest.mark.parametrize("m", [1, 40, 400])
def test_tight_noise_is_at_least_five_times_smaller(metric, share, epsilon, m):
    n = 200
    n0 = round(share * n)
    printed, tight, exact = (
        made(name, epsilon, **params).law(metric, n0, n - n0, m).scale
        for name, params in (
            ("conceal", {}),
            ("conceal_tight", {"nominal_share": share}),
            ("conceal_exact", {"nominal_share": share}),
        )
    )
    assert printed >= 5 * tight * (1 - 1e-12)
    assert tight >= exact * (1 - 1e-3)  # the grid of conceal_exact is finite


@pytest.mark.parametrize("epsilon", [0.3, 5.0, 40.0, 300.0])
@pytest.mark.parametrize("n0", [2, 3, 10, 50])
def test_tight_split_is_the_minimum(epsilon, n0):
    n, m = 100, 20
    b = np.linspace(0, epsilon, 20_001)[:-1]
    grid = min(m * smooth_sensitivity("sp", n0, n - n0, x / m) / (epsilon - x) for x in b)
    scale = made("conceal_tight", epsilon, nominal_share=n0 / n).law("sp", n0, n - n0, m).scale
    assert scale == pytest.approx(grid, rel=1e-3)
    assert scale <= grid * (1 + 1e-11)  # room for rounding included


@pytest.mark.parametrize("name", ["conceal_tight", "conceal_exact"])
def test_neighbours_share_the_split_and_scales_are_smooth(name):
    defense = made(name, 5.0)
    scales = np.log([defense.law("sp", k, 100 - k, 40).scale for k in range(1, 100)])
    beta = defense.split("sp", 100, 40, 5.0) / (40 if name == "conceal_tight" else 1)
    assert np.abs(np.diff(scales)).max() <= beta + 1e-12


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("metric", SIZES)
def test_infinite_epsilon_is_exact(name, metric):
    defense = made(name, math.inf)
    assert isinstance(defense.law(metric, *SIZES[metric], 6), Exact)
    answers = defense.answer(gaps_of(metric), metric, *SIZES[metric], np.random.default_rng(0))
    np.testing.assert_array_equal(answers, gaps_of(metric))
    assert defense.guarantee().protects.startswith("nothing")


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("metric", SIZES)
def test_same_seed_same_answers(name, metric):
    defense = made(name)
    first, again, other = (
        defense.answer(gaps_of(metric), metric, *SIZES[metric], np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert first.shape == gaps_of(metric).shape
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize("name", PRIVATE)
def test_answers_follow_the_law(name):
    # Kolmogorov-Smirnov: false alarm once in 1000 seeds; the seed is fixed
    gaps = np.linspace(-1, 1, 5000)
    answers = made(name).answer(gaps, "sp", 10, 90, np.random.default_rng(11))
    assert stats.kstest(answers - gaps, made(name).law("sp", 10, 90, 5000).cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", PRIVATE)
def test_equalized_odds_is_calibrated_in_each_class(name):
    both = made(name).law("eodds", (5, 20), (30, 60), 6).scale
    alone = [made(name).law("eo", n0, n1, 6).scale for n0, n1 in ((5, 30), (20, 60))]
    np.testing.assert_allclose(both, alone)


@pytest.mark.parametrize("name", ["conceal", "conceal_tight", "conceal_exact", "laplace"])
def test_truncation_is_calibrated_at_half_the_budget(name):
    truncated, half = made(name, 4.0, bounding="truncate"), made(name, 2.0)
    assert truncated.law("sp", 10, 90, 5).scale == half.law("sp", 10, 90, 5).scale


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, "5", None, True])
def test_bad_epsilon_is_refused(name, epsilon):
    with pytest.raises(BadRequest, match="epsilon"):
        made(name, epsilon)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("none", {"epsilon": 5.0}, "epsilon must be inf for defense none"),
        (
            "conceal",
            {"bounding": "wrap"},
            "one of none, clip, truncate, boundary_inflated, got 'wrap'",
        ),
        ("conceal", {"delta": 0.1}, "unknown parameter of defense conceal 'delta'"),
        (
            "conceal_laplace",
            {"epsilon": 1.0},
            "epsilon must be < 1 for conceal_laplace, got 1.0: Theorem 6",
        ),
        ("conceal_laplace", {"delta": 0.0}, "delta must be > 0, got 0.0"),
        ("conceal_laplace", {"delta": 1.0}, "delta must be < 1, got 1.0"),
        ("conceal_laplace", {"bounding": "truncate"}, "where delta > 0, got 'truncate'"),
        ("gaussian", {"bounding": "truncate"}, "where delta > 0, got 'truncate'"),
        ("gaussian", {"delta": math.nan}, "delta must be a number"),
        ("gaussian", {"calibration": "classic", "epsilon": 2.0}, "epsilon must be < 1 for the classic calibration"),
        ("gaussian", {"calibration": "zcdp"}, "calibration must be one of analytic, classic, got 'zcdp'"),
        ("conceal_tight", {"nominal_share": 0.0}, "nominal_share must be > 0"),
        ("conceal_tight", {"nominal_share": 0.6}, "nominal_share must be <= 0.5"),
        ("conceal_tight", {"nominal_share": None}, "defense conceal_tight needs nominal_share"),
        ("conceal_exact", {"nominal_share": math.nan}, "nominal_share must be a number"),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_line(name, params, message):
    with pytest.raises(BadRequest, match=message) as refused:
        made(name, **({"epsilon": 0.5} | params))
    assert "\n" not in str(refused.value)


def test_epsilon_has_no_default_that_means_no_privacy():
    with pytest.raises(BadRequest, match="defense conceal needs epsilon"):
        build("defenses", "conceal")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.law("sp", 10, 90, 0), "m must be >= 1, got 0"),
        (lambda d: d.law("sp", 0, 90, 1), "n0 must be >= 1, got 0"),
        (lambda d: d.law("spd", 10, 90, 1), "metric must be one of"),
        (lambda d: d.law("eodds", 10, 90, 1), "needs group sizes of both classes"),
        (
            lambda d: d.answer(np.zeros((3, 2)), "sp", 10, 90, np.random.default_rng(0)),
            r"got shape \(3, 2\)",
        ),
        (lambda d: d.answer(np.zeros(3), "eodds", (5, 5), (5, 5), np.random.default_rng(0)), r"shape \(m, 2\)"),
        (lambda d: d.answer(np.zeros(0), "sp", 10, 90, np.random.default_rng(0)), "m must be >= 1"),
        (lambda d: d.answer([np.nan], "sp", 10, 90, np.random.default_rng(0)), "finite"),
    ],
)
def test_bad_queries_are_refused(call, message):
    for defense in (made("conceal"), made("none", math.inf)):
        with pytest.raises(BadRequest, match=message):
            call(defense)


def test_guarantee_says_what_holds():
    plain, smooth = made("laplace").guarantee(), made("conceal").guarantee()
    assert (plain.epsilon, plain.delta) == (0.5, 0.0)
    assert made("gaussian").guarantee().delta == 1e-6
    assert any("group sizes stay secret" in a for a in smooth.assumes)
    assert not any("group sizes stay secret" in a for a in plain.assumes)
