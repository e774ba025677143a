"""The correctors against enumeration of all reconstructions, and against each other."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from fairpriv import correct_reconstruction
from fairpriv.attacks.correction import Proportion, Rate, exact, totals
from fairpriv.attacks.correction.transport import Transport
from fairpriv.metrics.unfairness import unfairness

METRICS = ("SP", "PE", "EO", "EOdds")


def everything(n, groups):
    return np.array(list(itertools.product(range(groups), repeat=n)))


ALL = {(n, 2): everything(n, 2) for n in range(1, 13)} | {(n, 3): everything(n, 3) for n in range(1, 9)}


def brute_slice(guess, weight, pred, tolerance, groups, at_least=Fraction(0), constraints=()):
    """Least cost over all vectors, by integer arithmetic written out from (1)-(5); None: there is no valid one."""
    s = ALL[len(guess), groups]
    n, p = len(guess), int(pred.sum())
    good, unfair_enough = np.ones(len(s), bool), np.zeros(len(s), bool)
    for g in range(groups):
        size, positive = (s == g).sum(axis=1), ((s == g) & (pred == 1)).sum(axis=1)
        good &= size > 0
        gap = np.abs(p * size - positive * n)  # times 1 / (n * size)
        good &= gap * tolerance.denominator <= tolerance.numerator * n * size
        unfair_enough |= (gap * at_least.denominator >= at_least.numerator * n * size) & (size > 0)
        for c in constraints:
            if c.group == g:
                of, among = (size, n) if isinstance(c, Proportion) else (positive, size)
                good &= of * c.low.denominator >= c.low.numerator * among
                good &= of * c.high.denominator <= c.high.numerator * among
    good &= unfair_enough
    if not good.any():
        return None
    return ((s[good] != guess) * weight).sum(axis=1).min()


def brute(guess, weight, pred, tolerance, labels, metric, groups=2, **more):
    total = 0.0
    for wanted in {"SP": (None,), "PE": (0,), "EO": (1,), "EOdds": (0, 1)}[metric]:
        rows = np.ones(len(guess), bool) if wanted is None else labels == wanted
        cost = brute_slice(guess[rows], weight[rows], pred[rows], tolerance, groups, **more)
        if cost is None:
            return None
        total += cost
    return total


def random_case(rng, top=12, groups=2):
    n = int(rng.integers(1, top + 1))
    guess = rng.integers(0, groups, n)
    weight = rng.choice([rng.integers(0, 4, n), rng.integers(0, 64, n)]) / 8  # sums are exact; the first kind has ties
    pred = (rng.random(n) < rng.choice([0, 0.2, 0.5, 0.9, 1])).astype(int)
    labels = (rng.random(n) < rng.choice([0.3, 0.7])).astype(int)
    if rng.random() < 0.15:
        guess[:] = rng.integers(groups)  # one side is empty
    tolerance = Fraction(*(int(v) for v in rng.choice([[0, 1], [1, 20], [1, 10], [1, 3], [1, 1], [123457, 10**7]])))
    metric = str(rng.choice(METRICS))
    needed = {"SP": (), "PE": (0,), "EO": (1,), "EOdds": (0, 1)}[metric]
    if any(not (labels == v).any() for v in needed):
        metric = "SP"
    return guess, weight, pred, tolerance, labels, metric


def hold(found, guess, weight, pred, tolerance, labels, metric, expected, groups=2):
    """What every answer must satisfy, whoever gave it."""
    if expected is None:
        assert found.status == "infeasible"
        np.testing.assert_array_equal(found.group, guess)
        assert np.isnan(found.cost)
        assert found.changes == 0
        return
    assert found.status == "optimal"
    changed = found.group != guess
    assert found.cost == pytest.approx(expected, abs=1e-9)
    assert weight[changed].sum() == pytest.approx(expected, abs=1e-9)
    assert found.changes == changed.sum()
    assert unfairness(metric, pred, found.group, labels) <= tolerance
    for wanted in {"SP": (None,), "PE": (0,), "EO": (1,), "EOdds": (0, 1)}[metric]:
        rows = np.ones(len(guess), bool) if wanted is None else labels == wanted
        assert set(found.group[rows]) == set(range(groups))
        outside = ~rows
    if metric in ("PE", "EO"):
        assert not changed[outside].any()


@pytest.mark.parametrize("block", [1 << 14, 2])
def test_exact_equals_enumeration_on_thousands_of_cases(block, monkeypatch):
    monkeypatch.setattr(exact, "BLOCK", block)
    rng = np.random.default_rng(block)
    infeasible = 0
    for _ in range(2500):
        guess, weight, pred, tolerance, labels, metric = random_case(rng)
        expected = brute(guess, weight, pred, tolerance, labels, metric)
        found = correct_reconstruction(guess, weight, pred, tolerance, labels, metric)
        hold(found, guess, weight, pred, tolerance, labels, metric, expected)
        infeasible += expected is None
    assert 200 < infeasible < 2000  # both kinds were met


@pytest.mark.slow
def test_exact_equals_enumeration_at_14():
    ALL[13, 2], ALL[14, 2] = everything(13, 2), everything(14, 2)
    rng = np.random.default_rng(14)
    for _ in range(1500):
        case = random_case(rng, top=14)
        hold(correct_reconstruction(*case), *case, brute(*case))


def test_exact_with_a_lower_bound_equals_enumeration():
    rng = np.random.default_rng(7)
    for _ in range(1000):
        guess, weight, pred, tolerance, labels, metric = random_case(rng, top=10)
        if metric == "EOdds":
            continue
        low = tolerance * int(rng.integers(0, 3)) / 2
        expected = brute(guess, weight, pred, tolerance, labels, metric, at_least=low)
        found = correct_reconstruction(guess, weight, pred, tolerance, labels, metric, at_least=low)
        hold(found, guess, weight, pred, tolerance, labels, metric, expected)
        if found.status == "optimal":
            assert unfairness(metric, pred, found.group, labels) >= low


def random_constraints(rng, groups=2):
    low = rng.integers(0, 6, 2) / 10
    return [
        Proportion(int(rng.integers(groups)), float(low[0]), float(low[0]) + 0.4),
        Rate(int(rng.integers(groups)), float(low[1]), float(low[1]) + 0.5),
    ][: int(rng.integers(1, 3))]


def test_exact_with_constraints_equals_enumeration():
    rng = np.random.default_rng(8)
    for _ in range(800):
        guess, weight, pred, tolerance, labels, metric = random_case(rng, top=10)
        constraints = random_constraints(rng)
        expected = brute(guess, weight, pred, tolerance, labels, metric, constraints=constraints)
        found = correct_reconstruction(guess, weight, pred, tolerance, labels, metric, constraints=constraints)
        hold(found, guess, weight, pred, tolerance, labels, metric, expected)


@pytest.mark.parametrize("corrector", ["cp_sat_efficient", "cp_sat_general"])
def test_cp_models_equal_enumeration(corrector):
    rng = np.random.default_rng(9)
    for i in range(120):
        groups = 2 if i % 3 else 3
        case = random_case(rng, top=8, groups=groups)
        constraints = random_constraints(rng, groups) if i % 4 == 0 else []
        expected = brute(*case, groups, constraints=constraints)
        found = correct_reconstruction(*case, groups, corrector=corrector, constraints=constraints)
        hold(found, *case, expected, groups)


def test_three_groups_equal_enumeration():
    rng = np.random.default_rng(10)
    for i in range(250):
        case = random_case(rng, top=8, groups=3)
        constraints = random_constraints(rng, 3) if i % 3 == 0 else []
        expected = brute(*case, 3, constraints=constraints)
        hold(correct_reconstruction(*case, 3, constraints=constraints), *case, expected, 3)


def large(n, seed=0, groups=2):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    pred = (rng.random(n) < 0.2 + 0.15 * group).astype(int)
    guess = np.where(rng.random(n) < 0.8, group, rng.integers(0, groups, n))
    return guess, 1 + rng.random(n), pred


def test_correctors_agree_on_hundreds_of_examples():
    guess, weight, pred = large(300)
    costs = [correct_reconstruction(guess, weight, pred, 0.01, corrector=c).cost for c in ("exact", "cp_sat_efficient")]
    costs.append(correct_reconstruction(guess, weight, pred, 0.01, corrector="cp_sat_general").cost)
    assert costs[0] > 0
    np.testing.assert_allclose(costs, costs[0], rtol=1e-9)


def test_five_groups_of_hundreds():
    guess, weight, pred = large(400, groups=5)
    found = correct_reconstruction(guess, weight, pred, 0.02, groups=5)
    assert found.status == "optimal"
    assert unfairness("SP", pred, guess, pred) > Fraction(1, 10)
    assert unfairness("SP", pred, found.group, pred) <= Fraction(1, 50)
    assert correct_reconstruction(guess, weight, pred, 0.03, groups=5).cost < found.cost


def test_own_constraints_reach_the_general_model():
    guess, weight, pred = large(60)
    free = correct_reconstruction(guess, weight, pred, 0.1, corrector="cp_sat_general")
    fixed = int(np.flatnonzero(free.group == 1)[0])

    def first_is_zero(model, member):
        model.add(member[0][fixed] == 1)

    found = correct_reconstruction(guess, weight, pred, 0.1, corrector="cp_sat_general", constraints=[first_is_zero])
    assert found.group[fixed] == 0
    assert found.cost > free.cost


def test_tolerances_are_exact():
    # rates 1/2 overall, 3/5 and 2/5 in the groups: unfairness exactly 1/10
    guess = np.repeat([0, 1], 5)
    pred = np.array([1, 1, 1, 0, 0, 1, 1, 0, 0, 0])
    weight = np.ones(10)
    assert correct_reconstruction(guess, weight, pred, 0.1).changes == 0
    assert correct_reconstruction(guess, weight, pred, "0.09999999999999999999999").changes > 0
    assert correct_reconstruction(guess, weight, pred, 0.1, at_least=Fraction(1, 10)).changes == 0


def test_answer_is_the_same_again_and_leaves_inputs_alone():
    guess, weight, pred = large(5000)
    weight = np.round(weight, 2)  # many ties
    before = guess.copy(), weight.copy()
    one, two = (correct_reconstruction(guess, weight, pred, 0.005) for _ in range(2))
    np.testing.assert_array_equal(one.group, two.group)
    np.testing.assert_array_equal(np.asarray(one), one.group)
    np.testing.assert_array_equal(guess, before[0])
    np.testing.assert_array_equal(weight, before[1])


def test_lists_and_bools_will_do():
    found = correct_reconstruction([True, False, True, False], [1, 1, 1, 1], [1, 1, 0, 0], 0)
    assert found.changes == 0
    assert len(found) == 4


def test_time_limit_returns_the_guess():
    guess, weight, pred = large(20000)
    found = correct_reconstruction(guess, weight, pred, 0, corrector="cp_sat_efficient", seconds=0.05)
    assert found.status in ("unknown", "feasible")
    if found.status == "unknown":
        np.testing.assert_array_equal(found.group, guess)


def brute_of_everyone(guess, weight, pred, tolerance, labels, metric, known, at_least):
    """Least cost over all vectors of a metric on its slices and shares of everyone; None: there is no valid one."""
    s = ALL[len(guess), 2]
    good = np.ones(len(s), bool)
    for c in known:
        size = (s == c.group).sum(axis=1)
        good &= (size * c.low.denominator >= c.low.numerator * len(guess)) & (
            size * c.high.denominator <= c.high.numerator * len(guess)
        )
    costs = [np.inf]
    for vector in s[good]:
        whole = True
        for wanted in {"PE": (0,), "EO": (1,), "EOdds": (0, 1)}[metric]:
            whole &= set(vector[labels == wanted]) == {0, 1}
        if whole and at_least <= unfairness(metric, pred, vector, labels) <= tolerance:
            costs.append(((vector != guess) * weight).sum())
    return None if min(costs) == np.inf else min(costs)


def test_a_size_known_of_everyone_equals_enumeration():
    rng = np.random.default_rng(12)
    met = {}
    for _ in range(900):
        guess, weight, pred, tolerance, labels, metric = random_case(rng, top=9)
        if metric == "SP":
            continue
        low = float(rng.integers(0, 8) / 10)
        known = [Proportion(int(rng.integers(2)), low, min(low + float(rng.choice([0, 0.2, 0.5])), 1), "everyone")]
        at_least = tolerance * int(rng.integers(0, 2)) if metric != "EOdds" else Fraction(0)
        expected = brute_of_everyone(guess, weight, pred, tolerance, labels, metric, known, at_least)
        found = correct_reconstruction(
            guess, weight, pred, tolerance, labels, metric, constraints=known, at_least=at_least
        )
        met[metric, expected is None] = met.get((metric, expected is None), 0) + 1
        if expected is None:
            assert found.status == "infeasible"
            continue
        assert found.status == "optimal"
        assert found.cost == pytest.approx(expected, abs=1e-9)
        assert weight[found.group != guess].sum() == pytest.approx(expected, abs=1e-9)
        assert at_least <= unfairness(metric, pred, found.group, labels) <= tolerance
        (c,) = known
        assert c.low <= Fraction(int((found.group == c.group).sum()), len(guess)) <= c.high
    assert len(met) == 6  # each metric, with and without an answer
    assert min(met.values()) > 20


def test_a_size_of_everyone_may_be_met_outside_the_slice():
    guess, labels = np.zeros(8, int), np.repeat([0, 1], 4)
    guess[[0, 1]] = 1
    pred, weight = np.array([1, 0, 1, 0, 1, 1, 1, 1]), np.r_[np.full(4, 9.0), 1, 2, 3, 4]
    found = correct_reconstruction(
        guess, weight, pred, 0, labels, "PE", constraints=[Proportion(1, 0.5, 0.5, "everyone")]
    )
    np.testing.assert_array_equal(found.group, [1, 1, 0, 0, 1, 1, 0, 0])
    within = [Proportion(1, 0.5, 0.5, "everyone"), Proportion(1, 0.5, 1)]
    assert correct_reconstruction(guess, weight, pred, 0, labels, "PE", constraints=within).cost == 3
    # of SP's slice, which is everyone, both kinds say the same
    one, other = ([Proportion(1, 0.5, 0.5, of)] for of in ("metric", "everyone"))
    costs = [correct_reconstruction(guess, weight, pred, 1, constraints=c).cost for c in (one, other)]
    assert costs[0] == costs[1] == 3


def test_the_least_of_each_window():
    values = np.random.default_rng(0).random(50)
    for width in (1, 2, 7, 50, 60):
        expected = [values[i : i + width].min() for i in range(50)]
        np.testing.assert_array_equal(totals.window_least(values, width), expected)


def brute_destinations(guess, costs, pred, tolerance, groups):
    s = ALL[len(guess), groups]
    n, p, good = len(guess), int(pred.sum()), np.ones(len(s), bool)
    for g in range(groups):
        size, positive = (s == g).sum(axis=1), ((s == g) & (pred == 1)).sum(axis=1)
        good &= (size > 0) & (np.abs(p * size - positive * n) * tolerance.denominator <= tolerance.numerator * n * size)
    return costs[np.arange(n), s[good]].sum(axis=1).min() if good.any() else None


@pytest.mark.parametrize("corrector", ["exact", "cp_sat_general"])
def test_costs_by_destination_equal_enumeration(corrector):
    rng = np.random.default_rng(13)
    solved = 0
    for _ in range(150 if corrector == "exact" else 40):
        guess, _, pred, tolerance, labels, _ = random_case(rng, top=8, groups=3)
        costs = rng.integers(0, rng.choice([4, 64]), (len(guess), 3)) / 8
        costs[np.arange(len(guess)), guess] = 0
        expected = brute_destinations(guess, costs, pred, tolerance, 3)
        found = correct_reconstruction(guess, costs, pred, tolerance, labels, groups=3, corrector=corrector)
        if expected is None:
            assert found.status == "infeasible"
            continue
        solved += 1
        assert found.status == "optimal"
        assert found.cost == pytest.approx(expected, abs=1e-9)
        assert costs[np.arange(len(guess)), found.group].sum() == pytest.approx(expected, abs=1e-9)
        assert unfairness("SP", pred, found.group, labels) <= tolerance
    assert solved > 15


def test_transport_is_the_cheapest_division():
    rng = np.random.default_rng(14)
    for _ in range(60):
        n = int(rng.integers(3, 9))
        start, costs = rng.integers(0, 3, n), rng.integers(0, 16, (n, 3)) / 4
        costs[np.arange(n), start] = 0
        one = Transport(costs, start)
        for _ in range(3):  # from any optimum to the next
            sizes = np.bincount(rng.integers(0, 3, n), minlength=3)
            one.reach(sizes)
            np.testing.assert_array_equal(np.bincount(one.group, minlength=3), sizes)
            every = ALL[n, 3]
            fits = (np.stack([(every == g).sum(axis=1) for g in range(3)], axis=1) == sizes).all(axis=1)
            assert one.cost == costs[np.arange(n), every[fits]].sum(axis=1).min()
            for prices in one.prices():
                assert one.lower(prices) - prices @ sizes == pytest.approx(one.cost)


def test_where_an_example_goes_matters():
    # two of group 0 have to leave; both would rather go to group 2
    guess, pred = np.array([0, 0, 0, 0, 1, 1, 2, 2]), np.array([1, 1, 1, 1, 1, 0, 1, 0])
    costs = np.tile([0.0, 5.0, 1.0], (8, 1))
    costs[np.arange(8), guess] = 0
    costs[4:, :] = 50.0
    costs[np.arange(8), guess] = 0
    assert correct_reconstruction(guess, costs, pred, 0.25, groups=3).cost == brute_destinations(
        guess, costs, pred, Fraction(1, 4), 3
    )
    two = np.array([[0.0, 3.0], [2.0, 0.0], [0.0, 1.0], [4.0, 0.0]])
    a = correct_reconstruction([0, 1, 0, 1], two, [1, 0, 1, 0], 0)
    b = correct_reconstruction([0, 1, 0, 1], [3, 2, 1, 4], [1, 0, 1, 0], 0)
    np.testing.assert_array_equal(a.group, b.group)
