"""Decoders against slow, obvious ones: a general LP solver, box-constrained least squares, all group vectors."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear
from threadpoolctl import threadpool_limits

from fairpriv.attacks.reveal.recovery import DECODERS, Knowledge, Sensing, decide, decode, measurements
from fairpriv.attacks.reveal.recovery.likelihood import cauchy, group_simplex
from fairpriv.attacks.reveal.recovery.noise_aware import clipped_second_moment
from fairpriv.errors import BadRequest
from fairpriv.mechanisms.noise import Cauchy, Exact, Gaussian, Laplace


def problem(n, m, n0, laws, seed=0, binary=True):
    """Queries, groups, answers with noise of each law, and what is public."""
    rng = np.random.default_rng(seed)
    base = rng.random(n)
    h = rng.integers(0, 2, (m, n)).astype(float) if binary else np.clip(base + rng.uniform(-0.1, 0.1, (m, n)), 0, 1)
    group = np.ones(n, dtype=int)
    group[rng.permutation(n)[:n0]] = 0
    gap = h @ np.where(group == 1, 1 / (n - n0), -1 / n0)
    answers = np.stack([gap + law.sample(m, rng) for law in laws], axis=1)
    return Sensing(h), group, answers, [Knowledge(n0, n - n0, law) for law in laws]


def test_sign_of_equation_1():
    sensing, group, answers, known = problem(30, 12, 4, [Exact()])
    np.testing.assert_allclose(measurements(sensing, answers, known)[:, 0], sensing.h @ (group == 0), atol=1e-12)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("n", "m", "n0"), [(40, 15, 4), (60, 40, 20), (80, 10, 3), (50, 49, 10), (320, 160, 20)])
def test_l1_is_the_linear_program(n, m, n0, binary):
    laws = [Exact(), Cauchy(0.01), Cauchy(10.0), Laplace(0.3), Gaussian(1e-4)]
    sensing, _, answers, known = problem(n, m, n0, laws, seed=n, binary=binary)
    ours, reference = (decode(name, sensing, answers, known) for name in ("l1", "lp"))
    eta = measurements(sensing, answers, known)
    np.testing.assert_allclose(np.abs(ours).sum(0), np.abs(reference).sum(0), rtol=1e-6)
    residual = np.linalg.norm(sensing.h @ ours - eta, axis=0)
    assert (residual <= 1e-8 * np.linalg.norm(eta, axis=0)).all()
    if m > 10:  # ten 0/1 queries on 80 people leave several optima, equal in the objective
        assert np.mean((ours > 0.5) == (reference > 0.5)) >= 0.995


@pytest.mark.parametrize("repeated", [0, 4])
def test_l1_is_the_convex_program(repeated):
    sensing, _, answers, known = problem(40, 15, 4, [Exact(), Cauchy(0.01), Laplace(0.3)])
    sensing = Sensing(np.vstack([sensing.h, sensing.h[:repeated]]))
    answers = np.vstack([answers, answers[:repeated]])
    ours, reference = (decode(name, sensing, answers, known) for name in ("l1", "cvxpy"))
    np.testing.assert_allclose(ours, reference, atol=1e-5)
    np.testing.assert_array_equal(decide("l1", ours, known), decide("cvxpy", reference, known))


def test_l1_with_dependent_rows_and_with_as_many_queries_as_people():
    sensing, group, answers, known = problem(30, 12, 3, [Exact(), Cauchy(0.1)])
    double = Sensing(np.vstack([sensing.h, sensing.h[:4]]))
    assert double.rank == 12
    twice = decode("l1", double, np.vstack([answers, answers[:4]]), known)
    np.testing.assert_allclose(twice, decode("l1", sensing, answers, known), atol=1e-8)
    square, group, answers, known = problem(30, 45, 12, [Exact(), Gaussian(0.01)])
    t = decode("l1", square, answers, known)
    np.testing.assert_allclose(t[:, 0], group == 0, atol=1e-9)
    reference = np.linalg.lstsq(square.h, measurements(square, answers, known)[:, 1], rcond=None)[0]
    np.testing.assert_allclose(t[:, 1], reference, atol=1e-9)


def test_degenerate_answers():
    sensing = Sensing(np.zeros((3, 5)))
    known = [Knowledge(2, 3, Exact())]
    for name in ("l1", "lp", "box", "noise_aware"):
        np.testing.assert_array_equal(decode(name, sensing, np.zeros((3, 1)), known), 0)


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("binary", [True, False])
def test_noiseless_recovery_is_exact_with_enough_queries(name, binary):
    sensing, group, answers, known = problem(100, 60, 10, [Exact()], binary=binary)
    t = decode(name, sensing, answers, known)
    np.testing.assert_array_equal(decide(name, t, known)[:, 0], group)
    np.testing.assert_allclose(t[:, 0], group == 0, atol=1e-5)


def test_box_is_box_constrained_least_squares_and_the_program_where_feasible():
    laws = [Cauchy(0.05), Laplace(0.2), Gaussian(0.02), Exact()]
    sensing, _, answers, known = problem(40, 18, 8, laws, seed=3)
    t = decode("box", sensing, answers, known)
    eta = measurements(sensing, answers, known)
    assert t.min() >= 0
    assert t.max() <= 1
    for k in range(len(laws)):
        best = lsq_linear(sensing.h, eta[:, k], (0, 1), tol=1e-14).cost
        ours = 0.5 * np.sum((sensing.h @ t[:, k] - eta[:, k]) ** 2)
        assert ours <= best * (1 + 1e-6) + 1e-10
    program = linprog(np.ones(40), A_eq=sensing.h, b_eq=eta[:, 3], bounds=(0, 1))
    assert t[:, 3].sum() == pytest.approx(program.fun, rel=1e-6)


def test_noise_aware_against_a_general_solver():
    cp = pytest.importorskip("cvxpy")
    sensing, _, answers, known = problem(50, 25, 5, [Gaussian(0.02), Cauchy(0.004), Laplace(0.01)], seed=5)
    t = decode("noise_aware", sensing, answers, known)
    eta = measurements(sensing, np.clip(answers, -1, 1), known)
    for k, who in enumerate(known):
        radius = np.sqrt(25 * clipped_second_moment(who.law)) / who.unit
        variable = cp.Variable(50)
        goal = cp.Problem(cp.Minimize(cp.norm1(variable)), [cp.norm(sensing.h @ variable - eta[:, k]) <= radius])
        best = goal.solve(solver="CLARABEL")
        assert np.abs(t[:, k]).sum() == pytest.approx(best, rel=1e-4)
        assert np.linalg.norm(sensing.h @ t[:, k] - eta[:, k]) <= radius * (1 + 1e-4)


@pytest.mark.parametrize("scale", [0.01, 0.3, 5.0])
def test_clipped_second_moments_have_closed_forms(scale):
    angle = np.arctan(1 / scale)
    exact = 2 / np.pi * (scale - scale**2 * angle) + 1 - 2 / np.pi * angle
    assert clipped_second_moment(Cauchy(scale)) == pytest.approx(exact, rel=1e-3)
    exact = 2 * scale**2 - np.exp(-1 / scale) * (2 * scale**2 + 2 * scale)
    assert clipped_second_moment(Laplace(scale)) == pytest.approx(exact, rel=1e-3)
    assert clipped_second_moment(Exact()) == 0


@pytest.mark.parametrize("law", [Gaussian(0.02), Laplace(0.02), Cauchy(0.01)])
def test_likelihood_is_near_the_best_of_all_group_vectors(law):
    # Asserted: the decided vector is at least as likely as the truth in 16 of 20 cases, and the best of all C(10, 3)
    # vectors in at least 12 of 20. (Relaxing and rounding does not promise the best one.)
    best, beats = 0, 0
    for seed in range(20):
        sensing, group, answers, known = problem(10, 8, 3, [law], seed=seed)

        def score(members, sensing=sensing, answers=answers):
            v = np.full(10, 1 / 7)
            v[list(members)] = -1 / 3
            return law.logpdf(answers[:, 0] - sensing.h @ v).sum()

        decided = decide("maximum_likelihood", decode("maximum_likelihood", sensing, answers, known), known)[:, 0]
        ours = score(np.flatnonzero(decided == 0))
        best += ours >= max(score(c) for c in combinations(range(10), 3)) - 1e-9
        beats += ours >= score(np.flatnonzero(group == 0)) - 1e-9
    assert best >= 12
    assert beats >= 16


def test_likelihood_uses_the_sizes_and_refuses_unknown_laws():
    sensing, _, answers, known = problem(40, 15, 6, [Cauchy(0.5), Laplace(0.5), Gaussian(0.5)])
    t = decode("maximum_likelihood", sensing, answers, known)
    np.testing.assert_allclose(t.sum(axis=0), 6, atol=1e-3)
    assert (decide("maximum_likelihood", t, known) == 0).sum(axis=0).tolist() == [6, 6, 6]

    class Odd:
        scale = 0

    with pytest.raises(BadRequest, match="knows Exact, Gaussian, Laplace, Cauchy"):
        decode("maximum_likelihood", sensing, answers[:, :1], [Knowledge(6, 34, Odd())])


def test_proximal_maps():
    rng = np.random.default_rng(0)
    a = np.concatenate([rng.standard_cauchy(500) * 10, [0.0, 1e6, -1e8, 1e-9]])[:, None]
    for weight in (0.25, 1.0, 100.0):
        r = cauchy(a, np.array([weight]))
        stationary = weight * (r - a) + 2 * r / (1 + r**2)
        assert (np.abs(stationary) <= 1e-12 * (1 + weight * np.abs(a))).all()
    v = rng.normal(size=(30, 4)) * [0.1, 1, 10, 100]
    total = np.array([3.0, 29.0, 1.0, 15.0])
    t = group_simplex(total)(v, np.ones(4))
    np.testing.assert_allclose(t.sum(axis=0), total, atol=1e-9)
    for k in range(4):  # optimality: v − t is one constant on the free entries, beyond it on the bounds
        free = (t[:, k] > 0) & (t[:, k] < 1)
        tau = (v - t)[free, k].mean() if free.any() else None
        if tau is not None:
            np.testing.assert_allclose((v - t)[free, k], tau, atol=1e-9)


@pytest.mark.parametrize("name", [d for d in DECODERS if d not in ("lp", "cvxpy")])
def test_a_column_has_the_same_bytes_whatever_it_is_solved_with(name):
    laws = [Cauchy(s) for s in np.geomspace(1e-4, 1, 12)] + [Laplace(0.1), Gaussian(0.01), Exact(), Exact()] * 2
    sensing, _, answers, known = problem(60, 25, 6, laws)
    with threadpool_limits(1):
        whole = decode(name, sensing, answers, known)
        for chosen in ([0], [4, 11, 7], list(range(12, 20)), [14, 3, 19, 0, 12]):
            part = decode(name, sensing, answers[:, chosen], [known[k] for k in chosen])
            assert part.tobytes() == whole[:, chosen].tobytes()


@pytest.mark.parametrize(("n", "m"), [(60, 25), (301, 77), (1030, 130)])
def test_a_large_problems_column_has_the_same_bytes_whatever_it_is_solved_with(n, m, monkeypatch):
    monkeypatch.setattr("fairpriv.attacks.reveal.recovery.basis_pursuit.EXACT_UP_TO", 0)
    laws = [Cauchy(s) for s in np.geomspace(1e-4, 1, 8)] + [Laplace(0.1), Gaussian(0.01), Exact()]
    sensing, _, answers, known = problem(n, m, 6, laws)
    with threadpool_limits(1):
        whole = decode("l1", sensing, answers, known)
        for chosen in ([0], [4, 10, 7], [9, 3, 8, 0, 1]):
            part = decode("l1", sensing, answers[:, chosen], [known[k] for k in chosen])
            assert part.tobytes() == whole[:, chosen].tobytes()


def test_a_large_problem_without_noise_is_solved_to_the_vertex(monkeypatch):
    sensing, group, answers, known = problem(300, 150, 10, [Exact()])
    monkeypatch.setattr("fairpriv.attacks.reveal.recovery.basis_pursuit.EXACT_UP_TO", 0)
    np.testing.assert_allclose(decode("l1", sensing, answers, known)[:, 0], group == 0, atol=1e-9)


def test_rows_are_the_same_bytes_in_strips(monkeypatch):
    h = np.random.default_rng(0).random((90, 700))
    with threadpool_limits(1):
        whole = Sensing(h).q
        monkeypatch.setattr("fairpriv.attacks.reveal.recovery.sensing.STRIP", 64)
        assert Sensing(h).q.tobytes() == whole.tobytes()
    np.testing.assert_allclose(whole @ whole.T, np.eye(90), atol=1e-12)


def test_unknown_decoder_is_refused():
    with pytest.raises(BadRequest, match="decoder must be one of l1, lp, cvxpy, box"):
        decode("l2", Sensing(np.eye(2)), np.zeros((2, 1)), [Knowledge(1, 1, Exact())])


def test_l1_without_the_simplex_decides_alike(monkeypatch):
    """Beyond EXACT_UP_TO entries of H the splitting alone decides, 99.5 % of the attributes as the vertex does."""
    rng = np.random.default_rng(3)
    n, m, n0 = 400, 240, 40
    h = rng.integers(0, 2, size=(m, n)).astype(float)
    group = np.ones(n)
    group[:n0] = 0
    gaps = h @ np.where(group == 1, 1 / (n - n0), -1 / n0)
    laws = [Cauchy(scale) for scale in (10.0, 1.0, 0.1, 0.01, 1e-3)]
    answers = np.stack([gaps + law.sample(m, rng) for law in laws], axis=1)
    known = [Knowledge(n0, n - n0, law) for law in laws]
    exact = decode("l1", Sensing(h), answers, known) > 0.5
    monkeypatch.setattr("fairpriv.attacks.reveal.recovery.basis_pursuit.EXACT_UP_TO", 0)
    plain = decode("l1", Sensing(h), answers, known) > 0.5
    assert (exact == plain).mean() >= 0.995
