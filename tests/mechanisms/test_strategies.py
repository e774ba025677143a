"""Strategies: B·A = H, no pair of people exceeds the budget, errors as promised, optima as brute force finds them."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from fairpriv.mechanisms import strategies
from fairpriv.mechanisms.convex_strategy import best_scales, convex, least_squares
from fairpriv.mechanisms.strategies import base_people, candidates, choose, deviations, sensitivity


def models(m, n, seed=0, width=0.1):
    rng = np.random.default_rng(seed)
    return np.clip(rng.random(n) + rng.uniform(-width, width, (m, n)), 0, 1)


CASES = {
    "variants": models(6, 9),
    "many": models(30, 7),
    "one": models(1, 8),
    "twice the same": np.repeat(models(1, 8), 2, axis=0),
    "of rank 2": models(9, 2).dot(models(2, 30)) / 2,
    "constant": np.full((3, 5), 0.4),
    "binary": (models(5, 8, 3) > 0.5).astype(float),
}


def strategies_of(h):
    found = candidates(h)
    return [*found, convex(h)] if len(h) > 1 and np.ptp(h) > 0 else found


def matrix(rows, n):
    return np.eye(n) if rows is None else rows


@pytest.mark.parametrize("case", CASES)
def test_answers_are_unbiased(case):
    h = CASES[case]
    for strategy in strategies_of(h):
        product = sum(back @ matrix(rows, h.shape[1]) for rows, _, back in strategy.parts)
        off = product - h
        np.testing.assert_allclose(off - off.mean(axis=1, keepdims=True), 0, atol=1e-9, err_msg=strategy.name)


@pytest.mark.parametrize("case", CASES)
def test_no_swap_exceeds_the_budget_and_the_worst_spends_it(case):
    h = CASES[case]
    n = h.shape[1]
    for strategy in strategies_of(h):
        lost = []
        for j, k in itertools.combinations(range(n), 2):
            total = 0.0
            for rows, scales, _ in strategy.parts:
                a = matrix(rows, n)
                used = scales > 0
                total += (np.abs(a[used, j] - a[used, k]) / scales[used]).sum()
            lost.append(total)
        assert max(lost) <= 1 + 1e-12, strategy.name
        if np.ptp(h) > 0:
            assert max(lost) > 0.6, strategy.name  # shares of a budget may be reached by different pairs


def test_errors_are_those_of_the_noise():
    # 4000 draws: the mean of squares is within 12 % (five standard errors)
    h, rng = models(5, 8), np.random.default_rng(1)
    for strategy in strategies_of(h):
        off = sum(
            back @ (scales[:, None] * rng.laplace(size=(len(scales), 4000))) for _, scales, back in strategy.parts
        )
        np.testing.assert_allclose((off**2).mean(axis=1), strategy.variances, rtol=0.2)
        assert np.sqrt((off**2).mean()) == pytest.approx(strategy.error, rel=0.06)


def test_sensitivity_against_all_pairs_and_its_bound(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(7, 11))
    slow = max(np.abs(rows[:, j] - rows[:, k]).sum() for j in range(11) for k in range(11))
    assert sensitivity(rows) == pytest.approx(slow, rel=1e-12)
    assert sensitivity(rows[:1]) == np.ptp(rows[0])
    monkeypatch.setattr(strategies, "LARGE", 1)
    assert slow <= sensitivity(rows) <= 2 * slow


def test_the_split_between_mean_and_deviations_is_the_best():
    h = models(8, 12)
    h = h - h.mean(axis=1, keepdims=True)
    base = h.mean(axis=0, keepdims=True)
    wide, far = np.ptp(base), sensitivity(h - base)
    x = np.linspace(0.001, 0.999, 9999)
    assert deviations(h, base).error == pytest.approx(
        np.sqrt(np.min(2 * (wide / x) ** 2 + 2 * (far / (1 - x)) ** 2)), rel=1e-6
    )


def test_mean_and_people_are_combined_by_least_squares():
    h = models(4, 7)
    h = h - h.mean(axis=1, keepdims=True)
    found = base_people(h, h.mean(axis=0, keepdims=True))
    rows = np.concatenate([matrix(r, 7) for r, _, _ in found.parts])
    scales = np.concatenate([s for _, s, _ in found.parts])
    best = least_squares(rows, scales, h)
    assert found.error == pytest.approx(np.sqrt((2 * best**2 @ scales**2).mean()), rel=0.1)  # that knows v adds to zero
    assert found.error >= np.sqrt((2 * best**2 @ scales**2).mean()) * (1 - 1e-9)


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")  # of SciPy before 1.16
@pytest.mark.parametrize("seed", range(3))
def test_best_scales_are_the_optimum(seed):
    """Against a general solver that sees every pair of people."""
    rng = np.random.default_rng(seed)
    rows, cost = rng.normal(size=(4, 6)), rng.uniform(0.1, 1, 4)
    apart = np.array([np.abs(rows[:, j] - rows[:, k]) for j, k in itertools.combinations(range(6), 2)])
    ours = (cost * best_scales(rows, cost) ** 2).sum()
    slow = minimize(
        lambda w: (cost / w**2).sum(),
        np.full(4, 0.5 / apart.sum(axis=1).max()),
        bounds=[(1e-4, None)] * 4,
        constraints={"type": "ineq", "fun": lambda w: 1 - apart @ w},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-10},
    )
    assert ours == pytest.approx(slow.fun, rel=1e-3)


def test_the_convex_program_beats_the_closed_forms():
    h = models(10, 20)
    best = min(s.error for s in candidates(h))
    assert convex(h).error < 0.95 * best
    assert choose(h).error <= convex(h).error * (1 + 1e-9)


def test_choice_follows_the_models():
    assert choose(models(1, 300)).name == "rows"
    assert choose(models(4, 300)).name == "deviations"
    assert choose(models(200, 300)).name == "base_people"
    assert choose(CASES["of rank 2"]).error <= min(s.error for s in candidates(CASES["of rank 2"]))


def test_models_that_cancel_out_are_answered_all_the_same():
    """One model a person: their mean says the same of everyone, and what rounding leaves of it must not be measured."""
    strategy = choose(np.eye(20))
    back = sum(b @ (np.eye(20) if rows is None else rows) for rows, _, b in strategy.parts)
    back -= back.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(back, np.eye(20) - 1 / 20, atol=1e-8)
