"""Pivots by factors against pivots by the inverse, byte for byte, and both against a general LP solver."""

import numpy as np
import pytest
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

from fairpriv.attacks.reveal.recovery import simplex
from fairpriv.attacks.reveal.recovery.factored import Doubt
from fairpriv.attacks.reveal.recovery.simplex import Simplex


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


def problem(n, m, seed):
    """Orthonormal rows, a right-hand side without structure, and weights that are right about some columns only."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(n, m)))[0].T.copy()
    b = q @ rng.normal(size=n)
    t = linprog(np.ones(2 * n), A_eq=np.hstack([q, -q]), b_eq=b, bounds=(0, None)).x
    return q, b, t[:n] - t[n:] + 0.05 * rng.normal(size=n)


def likely(q, weight):
    """The columns that are priced, in the order of their weights."""
    return np.argsort(-np.abs(weight), kind="stable")[: 2 * len(q)]


def by_inverse(q, b, weight, pivots):
    return Simplex(q)._by_inverse(b, weight, likely(q, weight), pivots)


def by_factors(q, b, weight, pivots):
    return Simplex(q)._by_factors(b, likely(q, weight), pivots)


@pytest.mark.parametrize(("n", "m"), [(60, 20), (90, 60), (200, 150), (170, 169), (400, 160)])
def test_factors_give_the_bytes_of_the_inverse_and_the_optimum(n, m):
    for seed in range(3):
        q, b, weight = problem(n, m, seed)
        ours = by_factors(q, b, weight, m)
        assert ours.tobytes() == by_inverse(q, b, weight, m).tobytes()
        best = linprog(np.ones(2 * n), A_eq=np.hstack([q, -q]), b_eq=b, bounds=(0, None)).fun
        assert np.abs(ours).sum() == pytest.approx(best, rel=1e-8)
        np.testing.assert_allclose(q @ ours, b, atol=1e-9)


def test_factors_find_columns_that_seemed_unlikely():
    starts = []
    start = simplex.Factored.start
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simplex.Factored, "start", lambda self, *given: starts.append(given) or start(self, *given))
        for seed in range(3):
            q, b, weight = problem(600, 40, seed)
            assert by_factors(q, b, weight, 40).tobytes() == by_inverse(q, b, weight, 40).tobytes()
    assert len(starts) > 3


def test_one_simplex_solves_one_column_after_the_other():
    q, first, weight = problem(200, 150, 0)
    together = Simplex(q)
    for seed in range(4):
        b = first + 0.05 * np.random.default_rng(seed).normal(size=150)
        found = together._by_factors(b, likely(q, weight), 150)
        assert found.tobytes() == by_inverse(q, b, weight, 150).tobytes()


def test_too_many_pivots_give_up_alike():
    q, b, weight = problem(200, 150, 0)
    assert by_factors(q, b, weight, 3) is None
    assert by_inverse(q, b, weight, 3) is None


@pytest.mark.parametrize("structure", ["degenerate vertex", "columns twice", "dependent basis", "ill conditioned"])
def test_where_rounding_might_choose_the_inverse_decides(structure):
    q, b, weight = problem(240, 160, 1)
    if structure == "degenerate vertex":  # fewer nonzeros than equations
        t = np.zeros(240)
        t[:100] = 1.0
        b, weight = q @ t, t + 1e-3 * weight
    elif structure == "columns twice":
        q = np.linalg.qr(np.hstack([q[:, :120], q[:, :120]]).T)[0].T.copy()
    else:
        off = 0.0 if structure == "dependent basis" else 1e-9
        q[:, 1] = q[:, 0] + off * q[:, 2]
        q = np.linalg.qr(q.T)[0].T.copy()
        weight[:2] = 10.0
    with pytest.raises(Doubt):
        by_factors(q, b, weight, 160)
    decided, plain = Simplex(q).vertex(b, weight, 160), by_inverse(q, b, weight, 160)
    assert (decided is None and plain is None) or decided.tobytes() == plain.tobytes()


def test_small_problems_are_not_factorised(monkeypatch):
    q, b, weight = problem(60, 20, 0)
    monkeypatch.setattr(simplex.Factored, "__init__", None)
    assert Simplex(q).vertex(b, weight, 20).tobytes() == by_inverse(q, b, weight, 20).tobytes()
