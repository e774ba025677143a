"""The gradient algebra against vmap(grad), and the sensitivity of what is noised."""

from functools import lru_cache

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from fairpriv.defenses.adversarial import adversary, networks  # noqa: E402
from fairpriv.defenses.adversarial.ghost import squared_norms, tap, weighted_sum  # noqa: E402
from fairpriv.defenses.adversarial.maad import CRITERIA  # noqa: E402
from fairpriv.defenses.adversarial.maad_step import (  # noqa: E402
    SENSITIVITY,
    Rule,
    direction,
    directions,
    norm,
    projected,
    weighed,
)
from fairpriv.defenses.adversarial.maad_step import summed as sum_up  # noqa: E402
from fairpriv.jax_cpu import jnp  # noqa: E402


def rule(**changes):
    base = {"debias": True, "privacy": "joint", "criterion": "equality_of_odds", "gamma": 0.2}
    return Rule(**(base | {"sigma": 0.5, "clip": 1.0, "batch": 16} | changes))


VECTORS = np.random.default_rng(1).normal(size=(20, 16)).astype(np.float32)
NETWORKS = {
    "mlp": (networks.mlp(7, (16, 12)), "table"),
    "wide mlp": (networks.mlp(7, (48, 32)), "table"),  # its middle matrix is large enough for `one_vector`
    "transformer": (networks.transformer(16, heads=4, feed_forward=8, vocabulary=20), "text"),
    "transformer on given vectors": (networks.transformer(16, heads=4, feed_forward=8, vectors=VECTORS), "text"),
}


def example(kind, n=9, attributes=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 7)).astype(np.float32)
    if kind == "text":
        x = rng.integers(1, 20, (n, 6))
        x[:, 2] = x[:, 0]  # a word twice in a text
        x[0, 3:] = 0  # padding
    y = rng.integers(0, 2, n).astype(np.float32)
    s = rng.integers(0, 2, (n, attributes)).astype(np.float32)
    return tuple(map(jnp.asarray, (x, y, s, np.ones(n, np.float32))))


def start(name, criterion="equality_of_odds"):
    network, kind = NETWORKS[name]
    # away from the starting point, where biases are zero and scales are one
    w = jax.tree.map(lambda v: 1.5 * v + 0.05, network.init(jax.random.key(0)))
    return network, kind, w, adversary.init(jax.random.key(1), criterion, 3)


def summed(the_rule, network, w, u, batch):
    return sum_up(network, w, weighed(the_rule, network, w, u, batch))


@lru_cache
def sums_of(the_rule, network):
    """`summed`, compiled."""
    return jax.jit(lambda w, u, batch: summed(the_rule, network, w, u, batch))


def per_example(network, w, u, batch, criterion):
    """The slow obvious way: every example's three gradients, materialised."""

    def task(w, x, y, s):
        logit = network.logits(w, x[None])[0]
        return jax.nn.softplus(logit) - y * logit

    def steer(w, u, x, y, s):
        return adversary.loss(u, network.logits(w, x[None])[0], y, s, criterion)

    task_all = jax.jit(jax.vmap(jax.grad(task), (None, 0, 0, 0)))(w, *batch[:3])
    steer_all, own_all = jax.jit(jax.vmap(jax.grad(steer, (0, 1)), (None, None, 0, 0, 0)))(w, u, *batch[:3])
    return task_all, steer_all, own_all


def flat(tree, n):
    return np.concatenate([np.asarray(leaf, float).reshape(n, -1) for leaf in jax.tree.leaves(tree)], axis=1)


@pytest.mark.parametrize("name", NETWORKS)
def test_norms_and_weighted_sums_of_the_logits_gradient(name):
    network, kind, w, _ = start(name)
    x = example(kind)[0]
    each = jax.jit(jax.vmap(jax.grad(lambda w, x: network.logits(w, x[None])[0]), (None, 0)))(w, x)
    weights = jnp.asarray(np.random.default_rng(2).normal(size=len(x)).astype(np.float32))

    def ours(w, x, weights):
        tapped = tap(network, w, x)
        return tapped.logit, squared_norms(network, tapped), weighted_sum(network, w, tapped, weights)

    logit, squares, got = jax.jit(ours)(w, x, weights)
    np.testing.assert_allclose(logit, jax.jit(network.logits)(w, x), rtol=1e-5, atol=1e-6)
    wanted = flat(each, len(x))
    np.testing.assert_allclose(squares, (wanted**2).sum(axis=1), rtol=1e-5)
    assert jax.tree.structure(got) == jax.tree.structure(w)
    ours = flat(jax.tree.map(lambda v: v[None], got), 1)[0]
    np.testing.assert_allclose(ours, np.asarray(weights) @ wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "criterion"),
    [(name, "equality_of_odds") for name in NETWORKS] + [("mlp", criterion) for criterion in CRITERIA[1:]],
)
def test_joint_sum_is_that_of_clipped_materialised_gradients(name, criterion):
    network, kind, w, u = start(name, criterion)
    batch = example(kind)
    n = len(batch[1])
    whole = flat(per_example(network, w, u, batch, criterion), n)
    for clip in (0.05, 1e6):  # everything clipped, nothing clipped
        sums = sums_of(rule(clip=clip, criterion=criterion), network)(w, u, batch)
        factor = np.minimum(1, clip / np.linalg.norm(whole, axis=1))
        ours = flat(jax.tree.map(lambda v: v[None], sums[:3]), 1)[0]
        np.testing.assert_allclose(ours, factor @ whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["mlp", "transformer"])
def test_combined_sum_is_that_of_clipped_materialised_gradients(name):
    network, kind, w, u = start(name)
    batch = example(kind)
    n = len(batch[1])
    task, steer, own = per_example(network, w, u, batch, "equality_of_odds")
    both = jax.tree.map(lambda g, a: g - 0.7 * a, task, steer)
    whole = flat((both, jax.tree.map(lambda g: 3.0 * g, own)), n)
    for clip in (0.05, 1e6):
        the_rule = rule(privacy="combined", gamma=0.7, clip=clip, adversary_part=3.0)
        sums = sums_of(the_rule, network)(w, u, batch)
        assert sums.steer is None
        factor = np.minimum(1, clip / np.linalg.norm(whole, axis=1))
        ours = flat(jax.tree.map(lambda v: v[None], (sums.task, sums.own)), 1)[0]
        np.testing.assert_allclose(ours, factor @ whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "debias", "clip", "privacy"),
    [
        ("mlp", False, 0.1, "joint"),
        ("mlp", True, 0.1, "joint"),
        ("mlp", True, 1.0, "joint"),
        ("transformer", True, 0.1, "joint"),
        ("mlp", True, 0.1, "combined"),
        ("transformer", True, 0.1, "combined"),
    ],
)
def test_no_single_example_moves_the_joint_sum_by_more_than_the_bound(name, clip, debias, privacy):
    network, kind, w, u = start(name)
    x, y, s, real = example(kind, n=12)
    x = x * 50 if kind == "table" else x  # an example may be as strange as it likes
    the_rule = rule(clip=clip, debias=debias, privacy=privacy, adversary_part=5.0 if privacy == "combined" else 1.0)
    compute = sums_of(the_rule, network)
    whole = compute(w, u, (x, y, s, real))
    reached = 0.0
    for i in range(12):
        without = compute(w, u, (x, y, s, real.at[i].set(0.0)))
        moved = float(norm(jax.tree.map(lambda a, b: a - b, whole[:3], without[:3])))
        assert moved <= SENSITIVITY[privacy] * clip * (1 + 1e-4)
        reached = max(reached, moved)
    assert reached > 0.9 * clip  # the bound is not idle


def test_batch_clipping_moves_by_up_to_twice_the_bound():
    """The printed mechanism: a single example can turn the clipped batch gradient around."""
    network, _, w, u = start("mlp")
    quiet = rule(privacy="printed", debias=False, sigma=0.0, clip=0.01, batch=2)
    one = np.random.default_rng(3).normal(size=(1, 7))
    x = jnp.asarray(np.concatenate([one, 1.02 * one, 1e3 * one]).astype(np.float32))
    y = jnp.asarray([1.0, 1.0, 0.0] if float(network.logits(w, x)[2]) > 0 else [0.0, 0.0, 1.0])
    s = jnp.zeros((3, 3))

    def released(real):
        return direction(quiet, summed(quiet, network, w, u, (x, y, s, jnp.asarray(real))), jax.random.key(0))[0]

    moved = float(norm(jax.tree.map(lambda a, b: a - b, released([1.0, 1.0, 0.0]), released([1.0, 1.0, 1.0]))))
    assert moved <= SENSITIVITY["printed"] * 0.01 * (1 + 1e-4)
    assert moved > 1.2 * 0.01


@pytest.mark.parametrize("privacy", ["printed", "joint", "combined"])
def test_noise_has_the_accounted_deviation(privacy):
    network, kind, w, u = start("mlp")
    the_rule = rule(privacy=privacy, debias=False, sigma=0.7, clip=0.3, batch=8)
    sums = summed(the_rule, network, w, u, example(kind))
    quiet, _ = direction(rule(privacy=privacy, debias=False, sigma=0.0, clip=0.3, batch=8), sums, jax.random.key(0))
    noisy = jax.jit(lambda sums, key: direction(the_rule, sums, key)[0])
    draws = [noisy(sums, jax.random.key(i)) for i in range(60)]
    noise = np.concatenate([flat(jax.tree.map(lambda a, b: (a - b)[None], d, quiet), 1)[0] for d in draws])
    expected = 0.7 * 0.3 / (1 if privacy == "printed" else 8)  # joint noise is on the sum, which is then divided
    # 60 draws of 353 entries: the deviation's own relative error is 0.5 %; five of these in one million runs
    assert noise.std() == pytest.approx(expected, rel=0.025)
    assert abs(noise.mean()) < 5 * expected / np.sqrt(len(noise))


def test_an_empty_batch_releases_noise_alone():
    network, kind, w, u = start("mlp")
    x, y, s, real = example(kind)
    sums = summed(rule(), network, w, u, (x, y, s, 0 * real))
    assert float(norm(sums[:3])) == 0.0
    update, own = direction(rule(), sums, jax.random.key(0))
    assert np.isfinite(float(norm(update)))
    assert float(norm(own)) > 0


@pytest.mark.parametrize("name", ["wide mlp", "transformer"])
def test_the_fast_step_has_the_noise_of_the_plain_one(name):
    """Means and deviations of both ways over 400 draws, entry by entry of every layer."""
    network, kind, w, u = start(name)
    batch = weighed(rule(), network, w, u, example(kind))
    ways = (
        lambda key: directions(rule(), network, w, batch, key),
        lambda key: direction(rule(), sum_up(network, w, batch), key),
    )
    keys = jax.random.split(jax.random.key(0), 800).reshape(2, 400)
    ours, plain = (jax.jit(lambda k, way=way: jax.lax.map(way, k))(some) for way, some in zip(ways, keys))
    assert jax.tree.structure(ours) == jax.tree.structure(plain)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(plain)):
        a, b = (np.asarray(v, float).reshape(400, -1) for v in (a, b))
        apart = (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt((a.var(axis=0) + b.var(axis=0)) / 400)
        # the largest of k normals passes √(2 log k) + 4 less than once in ten thousand runs; the keys are fixed
        assert np.abs(apart).max() < np.sqrt(2 * np.log(apart.size + 1)) + 4
        assert a.std() == pytest.approx(b.std(), rel=0.15 if a.shape[1] < 16 else 0.03)


def test_projection_is_orthogonal_and_gamma_pushes_against_the_adversary():
    rng = np.random.default_rng(0)
    task, steer = ({"a": {"w": jnp.asarray(rng.normal(size=(4, 5)))}} for _ in range(2))
    plain = projected(task, steer, 0.0)["a"]["w"]
    assert float((plain * steer["a"]["w"]).sum()) == pytest.approx(0.0, abs=1e-5)
    pushed = projected(task, steer, 0.5)["a"]["w"]
    np.testing.assert_allclose(pushed, plain - 0.5 * steer["a"]["w"], rtol=1e-6)
    nothing = jax.tree.map(jnp.zeros_like, steer)
    np.testing.assert_allclose(projected(task, nothing, 0.5)["a"]["w"], task["a"]["w"])


def test_projecting_example_by_example_would_leave_nothing_of_the_task():
    """Both gradients of one example are multiples of ∂logit/∂W, so the projection must act on batches."""
    network, kind, w, u = start("mlp")
    batch = tuple(part[:1] for part in example(kind))
    sums = summed(rule(privacy="none"), network, w, u, batch)
    assert float(norm(projected(sums.task, sums.steer, 0.0))) < 1e-5 * float(norm(sums.task))


def test_criteria_decide_what_the_adversary_sees():
    _, _, _, u = start("mlp", "demographic_parity")
    logit, s = jnp.asarray(0.3), jnp.ones(3)
    assert adversary.loss(u, logit, 0.0, s, "demographic_parity") == adversary.loss(
        u, logit, 1.0, s, "demographic_parity"
    )
    assert float(adversary.loss(u, logit, 0.0, s, "equality_of_opportunity")) == 0.0
    odds = adversary.init(jax.random.key(1), "equality_of_odds", 3)
    assert adversary.loss(odds, logit, 0.0, s, "equality_of_odds") != adversary.loss(
        odds, logit, 1.0, s, "equality_of_odds"
    )
