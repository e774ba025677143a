"""Networks, losses and the training loop, each against something slow and obvious."""

import numpy as np
import pytest

from fairpriv.defenses.representation import losses, networks, vq
from fairpriv.defenses.representation.training import fit
from fairpriv.defenses.training_failed import TrainingFailed
from fairpriv.jax_cpu import jax, jnp


def _line(params, batch, hyper):
    return jnp.square(batch["x"] @ params["w"] - batch["y"]).mean()


def _explodes(params, batch, hyper):
    return jnp.log(-1.0 - jnp.square(params["w"]).sum())


def test_fit_finds_least_squares_and_repeats():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((500, 3)).astype(np.float32)
    truth = np.array([1.0, -2.0, 0.5], np.float32)
    data = {"x": x, "y": x @ truth}
    runs = [
        fit(_line, {"w": np.zeros(3, np.float32)}, data, np.random.default_rng(1), epochs=60, batch=50, rate=0.02)
        for _ in range(2)
    ]
    np.testing.assert_allclose(runs[0][0]["w"], truth, atol=1e-3)
    assert np.array_equal(runs[0][0]["w"], runs[1][0]["w"])
    assert runs[0][1][-1] < 1e-4 < runs[0][1][0]


def test_a_loss_that_is_no_number_is_refused():
    data = {"x": np.zeros((10, 1), np.float32)}
    with pytest.raises(TrainingFailed, match="the loss is nan in epoch 1"):
        fit(_explodes, {"w": np.ones(2, np.float32)}, data, np.random.default_rng(0), epochs=3, batch=5, rate=0.1)


def test_epoch_sees_every_row_once():
    """A step of rate ~0 with a loss that reads the row's number: the mean loss is that of all rows."""
    data = {"x": np.arange(12, dtype=np.float32)[:, None]}

    _, values = fit(
        _reads, {"w": np.ones(1, np.float32)}, data, np.random.default_rng(0), epochs=2, batch=4, rate=1e-12
    )
    np.testing.assert_allclose(values, np.arange(12).mean())


def _reads(params, batch, hyper):
    return (batch["x"][:, 0] * params["w"][0]).mean()


def test_reverse_turns_the_gradient():
    value, gradient = jax.value_and_grad(lambda z: (losses.reverse(z, 0.3) * 5.0).sum())(jnp.array([1.0, 2.0]))
    assert value == pytest.approx(15.0)
    np.testing.assert_allclose(gradient, [-1.5, -1.5], rtol=1e-6)


def test_cross_entropy_and_kl():
    logits = np.array([[0.0, 1.0], [2.0, -1.0]], np.float32)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log([p[0, 1], p[1, 0]])
    assert losses.cross_entropy(logits, np.array([1, 0])) == pytest.approx(expected.mean(), rel=1e-6)
    weighed = losses.cross_entropy(logits, np.array([1, 0]), np.array([2.0, 0.0]))
    assert weighed == pytest.approx(expected[0], rel=1e-6)
    mean, log_variance = np.array([[0.3, -1.0]]), np.array([[0.2, -0.5]])
    rng = np.random.default_rng(0)
    z = mean + np.exp(0.5 * log_variance) * rng.standard_normal((400_000, 2))
    ratio = -0.5 * (log_variance + (z - mean) ** 2 / np.exp(log_variance)) + 0.5 * z**2
    assert losses.gaussian_kl(mean, log_variance) == pytest.approx(ratio.sum(axis=1).mean(), abs=0.01)


def test_cosine_and_its_slope():
    x = np.linspace(-100, 100, 40_001).astype(np.float32)
    exact = x.astype(float)
    np.testing.assert_allclose(losses.cosine(x), np.cos(exact), atol=1e-5)
    slope = jax.grad(lambda v: losses.cosine(v).sum())(jnp.asarray(x))
    np.testing.assert_allclose(slope, -np.sin(exact), atol=1e-4)


def test_mmd_is_zero_for_equal_groups_and_near_the_kernel():
    rng = np.random.default_rng(0)
    directions, phases = rng.standard_normal((2, 20_000)), rng.uniform(0, 2 * np.pi, 20_000)
    z = rng.standard_normal((40, 2))
    both, s = np.vstack([z, z]), np.repeat([0, 1], 40)
    assert losses.mmd(both, s, directions, phases) == pytest.approx(0, abs=1e-6)
    other = z + np.array([1.5, 0])
    both = np.vstack([z, other])
    kernel = np.exp(-np.square(both[:, None] - both[None]).sum(axis=-1))  # the features' kernel, of scale 1
    exact = kernel[:40, :40].mean() + kernel[40:, 40:].mean() - 2 * kernel[:40, 40:].mean()
    assert losses.mmd(both, s, directions, phases) == pytest.approx(exact, abs=0.03)


def test_nearest_and_straight_through():
    rng = np.random.default_rng(0)
    codebook, features = rng.standard_normal((2, 4, 3)), rng.standard_normal((50, 2, 3))
    codes = np.asarray(vq.nearest(codebook, features))
    for row, position in np.ndindex(50, 2):
        distance = np.linalg.norm(codebook[position] - features[row, position], axis=1)
        assert codes[row, position] == distance.argmin()
    embedded = np.asarray(vq.embed(codebook, codes))
    np.testing.assert_allclose(embedded[7, 1], codebook[1, codes[7, 1]], rtol=1e-6)

    def through(features):
        return (vq.straight_through(features, embedded) * 3.0).sum()

    value, gradient = jax.value_and_grad(through)(jnp.asarray(features))
    assert value == pytest.approx(3 * embedded.sum(), rel=1e-4)
    np.testing.assert_allclose(gradient, 3.0)


def test_quantisation_loss_moves_each_side_by_its_weight():
    features, quantised = jnp.ones((1, 1, 2)), jnp.zeros((1, 1, 2))
    to_features, to_codes = jax.grad(vq.quantisation_loss, argnums=(0, 1))(features, quantised, 0.25)
    np.testing.assert_allclose(to_features, 0.5)  # λ = 1/4 of 2 (features − quantised)
    np.testing.assert_allclose(to_codes, -2.0)


def test_convolution_against_loops():
    rng = np.random.default_rng(0)
    (layer,) = networks.convolutions(rng, [(2, 3)], 3)
    x = rng.standard_normal((1, 5, 5, 2)).astype(np.float32)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = np.zeros((5, 5, 3))
    for i, j in np.ndindex(5, 5):
        expected[i, j] = np.einsum("abc,abcd->d", padded[0, i : i + 3, j : j + 3], layer["w"])
    np.testing.assert_allclose(networks.convolve(layer, x)[0], expected, atol=1e-5)
    out = np.asarray(networks.normalise(layer, networks.convolve(layer, x)))
    np.testing.assert_allclose(out.mean(axis=(0, 1, 2)), 0, atol=1e-5)


def test_large_convolutions_are_made_in_chunks_to_the_same_end():
    rng = np.random.default_rng(0)
    (layer,) = networks.convolutions(rng, [(20, 3)], 5)
    x = rng.standard_normal((16, 6, 6, 20)).astype(np.float32)

    def total(layer, x):
        return jnp.square(networks.convolve(layer, x)).sum()

    parts = [x[:8], x[8:15], x[15:]]  # one whole chunk, and numbers that fill none
    np.testing.assert_allclose(total(layer, x), sum(total(layer, part) for part in parts), rtol=1e-5)
    whole, *pieces = (jax.grad(total)(layer, part)["w"] for part in (x, *parts))
    np.testing.assert_allclose(whole, sum(pieces), rtol=1e-3, atol=1e-2)
