"""The algorithm of AIF360's pull request 460: its networks and losses, what it spends, and that it debiases."""

import math

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from fairpriv import registry  # noqa: E402
from fairpriv.defenses.adversarial import ghost, networks, public_algorithm  # noqa: E402
from fairpriv.errors import BadRequest  # noqa: E402
from fairpriv.jax_cpu import jnp  # noqa: E402
from tests.defenses.adversarial.test_maad import problem  # noqa: E402

SMALL = {"algorithm": "public", "hidden": (16, 8), "batch": 20, "learning_rate": 0.003, "adversary_rate": 0.01}


def build(**changes):
    return registry.build("defenses", "maad", SMALL | {"privacy": "none"} | changes)


def test_dropout_keeps_half_and_none_where_no_masks_are_given():
    network = public_algorithm.dropout_mlp(4, (64, 32))
    w = network.init(jax.random.key(0))
    x = jnp.asarray(problem(50)[0])
    np.testing.assert_array_equal(network.logits(w, x), networks.mlp(4, (64, 32)).logits(w, x))
    masks = public_algorithm.masks_of(jax.random.key(1), 50, (64, 32))
    assert set(np.unique(masks[0])) == {0.0, 2.0}
    assert 0.45 < float((masks[0] > 0).mean()) < 0.55  # 3,200 coins: five deviations are 0.044
    assert not np.allclose(network.logits(w, (x, masks)), network.logits(w, x))


def test_norms_under_dropout_are_those_of_materialised_gradients():
    network = public_algorithm.dropout_mlp(4, (16, 8))
    w = network.init(jax.random.key(0))
    x, masks = jnp.asarray(problem(9)[0]), public_algorithm.masks_of(jax.random.key(1), 9, (16, 8))
    squares = ghost.squared_norms(network, ghost.tap(network, w, (x, masks)))
    for i in range(9):
        one = (x[i : i + 1], [m[i : i + 1] for m in masks])
        slow = jax.grad(lambda w, one=one: network.logits(w, one)[0])(w)
        assert float(squares[i]) == pytest.approx(sum(float((g**2).sum()) for g in jax.tree.leaves(slow)), rel=1e-5)


def test_the_adversarys_loss_is_a_weighted_sum_over_attributes():
    u = public_algorithm.init_adversary(jax.random.key(0), 2)
    _, y, s = map(jnp.asarray, problem(30))
    logit = jnp.linspace(-2, 2, 30)
    alone = [float(public_algorithm.adversary_loss(u, logit, y, s, jnp.asarray(w))) for w in ([1.0, 0.0], [0.0, 1.0])]
    both = float(public_algorithm.adversary_loss(u, logit, y, s, jnp.asarray([2.0, 3.0])))
    assert both == pytest.approx(2 * alone[0] + 3 * alone[1], rel=1e-5)
    score = 1 / (1 + np.exp(-2 * np.asarray(logit)))
    given = np.stack([score, score * np.asarray(y), score * (1 - np.asarray(y))], axis=1)
    inner = np.maximum(given @ np.asarray(u["hidden"]["w"]), 0)
    assert inner.shape[1] == 64
    guess = 1 / (1 + np.exp(-inner @ np.asarray(u["output"]["w"])))
    first = np.asarray(s)[:, 0]
    assert alone[0] == pytest.approx(-np.mean(np.log(np.where(first > 0, guess[:, 0], 1 - guess[:, 0]))), rel=1e-4)


def test_only_training_alone_is_noised_so_nothing_is_kept_with_an_adversary():
    n = 4000
    plain, debiased = (build(privacy="printed", debias=d, sigma=1.0) for d in (False, True))
    steps = [d.public_settings(2).steps_alone(n) for d in (plain, debiased)]
    assert steps == [50 * n // 20, 10 * n // 20]
    kept, lost = plain.account_public(n, steps[0]), debiased.account_public(n, steps[1])
    assert kept.spent == kept.proven == kept.claimed
    assert lost.claimed < kept.claimed
    assert lost.spent == lost.proven == math.inf
    assert build().account_public(n, 10).claimed == math.inf


def test_bad_settings_are_refused():
    for changes, said in (
        ({"privacy": "joint"}, "privacy must be one of none, printed with algorithm=public, got joint"),
        ({"algorithm": "secret"}, "algorithm must be one of printed, public"),
        ({"attribute_weights": "1+x"}, "attribute_weights must be a number"),
        ({"attribute_weights": "1+0"}, "attribute_weights must be > 0"),
    ):
        with pytest.raises(BadRequest, match=said):
            build(**changes)
    with pytest.raises(BadRequest, match="attribute_weights must be 2 numbers, one an attribute, got 3"):
        build(attribute_weights="1+2+3").fit(*problem(60), np.random.default_rng(0))
    x, y, s = problem(60)
    with pytest.raises(BadRequest, match="on tables, not on texts"):
        build().fit(x.astype(int), y, s, np.random.default_rng(0))


@pytest.mark.parametrize("privacy", ["none", "printed"])
def test_it_learns_the_same_from_the_same_seed_and_debiases(privacy):
    x, y, s = problem(600)
    test = problem(2000, seed=1)
    gaps = {}
    for debias in (False, True):
        params = {"debias": debias, "privacy": privacy, "gamma": 1.0, "sigma": 0.5}
        runs = [build(**params).fit(x, y, s, np.random.default_rng(3)) for _ in range(1 + debias)]
        np.testing.assert_array_equal(runs[0].losses, runs[-1].losses)
        assert runs[0].steps == (50 + 10 * debias) * 30
        guess = runs[0].decide(test[0], test[2], np.random.default_rng(0))
        assert (guess == test[1]).mean() > 0.6
        rates = [guess[(test[2][:, 0] == g) & (test[1] == 0)].mean() for g in (0, 1)]
        gaps[debias] = abs(rates[1] - rates[0])
    assert gaps[True] < gaps[False]
