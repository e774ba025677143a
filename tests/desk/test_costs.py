"""What answers cost, against dp-accounting."""

import dp_accounting
import numpy as np
import pytest
from dp_accounting.rdp import RdpAccountant

from fairpriv.desk.costs import DELTA_UNIT, UNIT, Budget, Cost, charge, pure_rdp, up
from fairpriv.mechanisms.gaussian import analytic_sigma


def test_costs_count_as_they_are_written():
    assert up(0.1) == 100_000_000
    assert 50 * charge("laplace", 0.1, 0.0, 10, 1, 0.0).epsilon == 5 * UNIT
    assert Budget(5.0).left(Cost(5 * UNIT)) == 0
    assert Budget(5.0).left(Cost(5 * UNIT + 1)) < 0
    assert Budget(5.0).left(Cost(delta=1)) < 0
    assert up(1e-12) == 1  # nothing is free


def test_two_moves_cost_twice():
    one, two = (charge("gaussian", 0.5, 1e-8, 10, moves, 8.0) for moves in (1, 2))
    assert two.epsilon == 2 * one.epsilon
    assert two.delta == pytest.approx((1 + np.exp(0.5)) * one.delta, rel=1e-9)
    assert two.rdp == pytest.approx(4 * one.rdp, rel=1e-6)
    assert charge("conceal_aware", 0.5, 0.0, 10, 1, 8.0).epsilon == UNIT // 2


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 10.0])
@pytest.mark.parametrize("order", [1.25, 2, 8, 64])
def test_no_pure_mechanism_diverges_more(epsilon, order):
    p = 1 / (1 + np.exp([-epsilon, epsilon]))
    q = p[::-1]
    slow = np.log((p**order * q ** (1 - order)).sum()) / (order - 1)
    assert pure_rdp(epsilon, order) == pytest.approx(min(slow, epsilon), rel=1e-6, abs=1e-14)
    laplace = RdpAccountant([order]).compose(dp_accounting.LaplaceDpEvent(1 / epsilon)).rdp[0]
    assert laplace <= pure_rdp(epsilon, order) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("event", ["laplace", "gaussian"])
def test_a_desk_with_delta_composes_as_dp_accounting_does_and_gives_more_answers(event):
    budget = Budget(2.0, 1e-6)
    epsilon, m, delta = 0.2, 20, 1e-8 if event == "gaussian" else 0.0
    cost = charge(event, epsilon, delta, m, 1, budget.order)
    spent, number = Cost(), 0
    while budget.left(spent + cost) >= 0:
        spent, number = spent + cost, number + 1
    assert number > 2 * budget.epsilon / epsilon  # where epsilon only added up, there were ten
    if event == "laplace":
        one = dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(m / epsilon), m)
    else:
        one = dp_accounting.GaussianDpEvent(analytic_sigma(epsilon, delta))
    at = [RdpAccountant([budget.order]).compose(one, k).get_epsilon(0.5e-6) for k in (number, number + 1)]
    assert at[0] <= budget.epsilon < at[1] * (1 + 1e-6)
    # and the tightest account of the same answers agrees that it is within
    from dp_accounting.pld import PLDAccountant

    assert PLDAccountant().compose(one, number).get_epsilon(1e-6) <= budget.epsilon


def test_basic_composition_still_holds_where_it_is_tighter():
    budget = Budget(5.0, 1e-6)
    cost = charge("conceal_exact", 5.0, 0.0, 1, 1, budget.order)
    assert budget.left(cost) == 0
    assert budget.left(cost + Cost(1)) < 0
    half = round(0.5e-6 * DELTA_UNIT)
    assert budget.left(Cost(0, half)) == 5 * UNIT


def test_shares_are_shares_of_every_sum():
    budget = Budget(2.0, 1e-6)
    assert budget.left(Cost(), 0.25) == UNIT // 2
    assert budget.left(Cost(UNIT // 2, 0, 10 * UNIT), 0.25) == 0
    assert budget.left(Cost(UNIT // 2 + 1, 0, 10 * UNIT), 0.25) < 0
