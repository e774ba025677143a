"""MINE against known mutual information; the mixture's information against sums and integrals."""

import itertools
import math

import numpy as np
import pytest

from fairpriv.errors import BadRequest
from fairpriv.mechanisms.randomizers import LaplaceRandomizer, ResponseRandomizer
from fairpriv.metrics.information import laplace_information, response_information
from fairpriv.metrics.mine import estimate, mine


@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_mine_on_gaussians(rho):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(20_000)
    y = rho * x + math.sqrt(1 - rho**2) * rng.standard_normal(20_000)
    trace = mine(x, y, rng, iterations=1500, batch=256)
    assert trace.shape == (1500,)
    assert estimate(trace) == pytest.approx(-0.5 * math.log(1 - rho**2), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9])
def test_mine_with_the_papers_settings_on_gaussians(rho):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(200_000)
    y = rho * x + math.sqrt(1 - rho**2) * rng.standard_normal(200_000)
    assert estimate(mine(x, y, rng)) == pytest.approx(-0.5 * math.log(1 - rho**2), abs=0.015)


def test_mine_on_codes_is_the_plug_in_value():
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, (4000, 2))
    s = (z[:, 0] + rng.integers(0, 3, 4000) > 2).astype(int)
    hot = (z[:, :, None] == np.arange(3)).reshape(4000, -1)
    found = estimate(mine(hot, s, rng, iterations=3000, batch=512))
    assert found == pytest.approx(mutual_info_score(3 * z[:, 0] + z[:, 1], s), abs=0.01)


def test_mine_counts_pairs_as_it_would_evaluate_rows(monkeypatch):
    """Few distinct pairs are counted; the same draws through the general path give the same bounds."""
    from fairpriv.metrics import mine as module

    z = np.random.default_rng(0).integers(0, 2, (300, 1))
    s = np.random.default_rng(1).integers(0, 2, 300)
    counted = mine(z, s, np.random.default_rng(2), iterations=100, batch=64)
    monkeypatch.setattr(module, "_counted", module._paired)
    np.testing.assert_allclose(mine(z, s, np.random.default_rng(2), iterations=100, batch=64), counted, atol=2e-4)


def test_mine_takes_the_steps_of_an_automatic_gradient():
    """A block against JAX's gradient and optax on all 2 * batch pairs, nothing merged."""
    import optax

    from fairpriv.defenses.representation.networks import mlp
    from fairpriv.jax_cpu import jax, jnp
    from fairpriv.metrics import mine as module

    rng = np.random.default_rng(0)
    z, s = rng.standard_normal((90, 2)).astype(np.float32), rng.integers(0, 2, 90)
    i, j = rng.integers(0, 90, (2, 5, 40))
    start = module._start(np.random.default_rng(1), 3, 10)
    values_y = np.array([[0.0], [1.0]], np.float32)
    found, bounds = module._paired(start, values_y, (z[i], s[i], s[j]), 0.01, 0.1)

    def layers(weights):
        w0, w1, b1, w2, b2 = (np.asarray(w).T for w in weights)
        return [{"w": w0[:-1], "b": w0[-1]}, {"w": w1, "b": b1[0]}, {"w": w2, "b": b2[0]}]

    params, average = jax.tree.map(jnp.asarray, layers(start.weights)), 1.0
    state = optax.adam(0.01).init(params)
    for rows, others, bound in zip(i, j, bounds):

        def means(params, rows=rows, others=others):
            t = [mlp(params, jnp.hstack([z[rows], s[r][:, None]]), jax.nn.relu6) for r in (rows, others)]
            return t[0].mean(), jnp.exp(t[1]).mean()

        joint, product = means(params)
        assert bound == pytest.approx(float(joint - jnp.log(product)), abs=1e-5)
        average += 0.1 * (float(product) - average)

        def loss(params, means=means, average=average):
            return means(params)[1] / average - means(params)[0]

        updates, state = optax.adam(0.01).update(jax.grad(loss)(params), state)
        params = optax.apply_updates(params, updates)
    for one, other in zip(layers(found.weights), params):
        np.testing.assert_allclose(one["w"], other["w"], atol=1e-4)
        np.testing.assert_allclose(one["b"], other["b"], atol=1e-4)


def test_fresh_noise_is_not_learned_by_heart():
    """Z is noise alone: a fixed draw of few rows is remembered, fresh draws give I(S;Z) = 0."""
    s = np.random.default_rng(0).integers(0, 2, 80)
    fixed = np.random.default_rng(1).laplace(size=(80, 2))
    settings = {"iterations": 1500, "batch": 40, "rate": 3e-3}
    learned = mine(fixed, s, np.random.default_rng(2), **settings)
    fresh = mine(lambda rows, rng: rng.laplace(size=(len(rows), 2)), s, np.random.default_rng(2), **settings)
    assert learned[-500:].mean() > 0.1
    assert fresh[-500:].mean() < 0.03


def test_settled_stops_early_and_changes_nothing_before():
    from fairpriv.metrics.mine import settled

    rows = np.arange(500)
    z = rows % 3
    whole, stopped = (
        mine(z, rows % 2, np.random.default_rng(1), iterations=5000, batch=64, settle=settle, hidden=4)
        for settle in (False, True)
    )
    assert len(whole) == 5000
    assert len(stopped) in (3000, 4000)
    assert settled(stopped)
    np.testing.assert_array_equal(stopped, whole[: len(stopped)])
    assert not settled(np.linspace(0, 1, 10_000))
    assert not settled(np.zeros(1500))  # too short to say


def test_mine_same_seed_same_bytes_and_bad_input():
    x = np.random.default_rng(0).standard_normal((200, 2))
    a, b = (mine(x, x[:, 0] > 0, np.random.default_rng(5), iterations=100, batch=32) for _ in range(2))
    assert np.array_equal(a, b)
    with pytest.raises(BadRequest, match="batch must be >= 2"):
        mine(x, x[:, 0], np.random.default_rng(0), iterations=100, batch=1)


def test_response_information_against_the_sum():
    rng = np.random.default_rng(0)
    codes, s = rng.integers(0, 3, (50, 2)), rng.integers(0, 2, 50)
    transition = ResponseRandomizer(2.0, 2, 3).transition()
    p = np.zeros((50, 9))
    for row, (a, b) in enumerate(codes):
        for c, d in itertools.product(range(3), repeat=2):
            p[row, 3 * c + d] = transition[a, c] * transition[b, d]
    p_z = p.mean(axis=0)
    p_zs = np.array([p[s == g].mean(axis=0) for g in (0, 1)])
    share = np.bincount(s) / 50
    found = response_information(codes, s, transition)
    assert found.xz == pytest.approx((p * np.log(p / p_z)).sum() / 50)
    assert found.sz == pytest.approx(sum(share[g] * (p_zs[g] * np.log(p_zs[g] / p_z)).sum() for g in (0, 1)))
    assert found.xz_given_s == pytest.approx(found.xz - found.sz)
    assert found.worst == pytest.approx(np.log(p / p_z).max())
    assert found.xz <= 2.0
    assert found.sz <= 2.0 - found.xz_given_s


def test_laplace_information_against_the_integral():
    """Two points, one a group: I(X;Z) = I(S;Z), an integral in one dimension."""
    from scipy.integrate import quad

    scale = LaplaceRandomizer(2.0, 1).scale
    centres = np.repeat([[-0.5], [0.5]], 2000, axis=0)
    s = np.repeat([0, 1], 2000)

    def density(z, c):
        return math.exp(-abs(z - c) / scale) / (2 * scale)

    def part(z):
        a, b = density(z, -0.5), density(z, 0.5)
        return 0.5 * a * math.log(a / (0.5 * (a + b))) + 0.5 * b * math.log(b / (0.5 * (a + b)))

    truth = quad(part, -15, 15, points=[-0.5, 0.5], limit=200)[0]
    found = laplace_information(centres, s, scale, np.random.default_rng(0), draws=4000)
    assert found.sz == pytest.approx(truth, abs=0.03)  # 4 standard errors
    assert found.xz == pytest.approx(found.sz)
    assert found.xz_given_s == pytest.approx(0, abs=1e-9)
    assert found.worst <= 2.0


@pytest.mark.parametrize("epsilon", [0.3, 5.0, 50.0])
def test_laplace_information_keeps_lemma_2_and_theorem_1(epsilon):
    rng = np.random.default_rng(0)
    centres, s = rng.uniform(-0.5, 0.5, (400, 2)), rng.integers(0, 2, 400)
    found = laplace_information(centres, s, LaplaceRandomizer(epsilon, 2).scale, rng)
    assert found.worst <= epsilon
    assert found.xz <= epsilon
    assert found.sz <= epsilon - found.xz_given_s + 1e-9
    assert found.xz == pytest.approx(found.xz_given_s + found.sz)
