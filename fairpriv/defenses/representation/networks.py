"""Networks as plain lists of arrays: multi-layer perceptrons and the convolutions of Colored-MNIST."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fairpriv.jax_cpu import jax, jnp, matmul

Layers = list[dict[str, Any]]


def dense(rng: np.random.Generator, *sizes: int) -> Layers:
    """Draw the layers of a perceptron (He et al. 2015), with zero biases."""
    return [
        {"w": (rng.standard_normal((a, b)) * np.sqrt(2 / a)).astype(np.float32), "b": np.zeros(b, np.float32)}
        for a, b in pairwise(sizes)
    ]


def mlp(layers: Layers, x: Any, activation: Any = jax.nn.relu) -> Any:
    """Apply a perceptron; the last layer is linear."""
    for layer in layers[:-1]:
        x = activation(matmul(x, layer["w"]) + layer["b"])
    return matmul(x, layers[-1]["w"]) + layers[-1]["b"]


def convolutions(rng: np.random.Generator, channels: Sequence[tuple[int, int]], size: int) -> Layers:
    """Draw square convolutions, each (channels in, channels out), with scale and shift for batch normalisation."""
    return [
        {
            "w": (rng.standard_normal((size, size, a, b)) * np.sqrt(2 / (size * size * a))).astype(np.float32),
            "b": np.zeros(b, np.float32),
            "scale": np.ones(b, np.float32),
        }
        for a, b in channels
    ]


CHUNK = 8  # images whose patches are made at once, where they are large: they stay in the cache


def _patched(weights: Any, x: Any) -> Any:
    """Convolve by one matrix product on the patches around each pixel."""
    size, (_, height, width, _) = weights.shape[0], x.shape
    edge = size // 2
    padded = jnp.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    shifts = [(i, j) for i in range(size) for j in range(size)]
    patches = jnp.concatenate([padded[:, i : i + height, j : j + width] for i, j in shifts], axis=-1)
    return matmul(patches, weights.reshape(-1, weights.shape[-1]))


def convolve(layer: dict[str, Any], x: Any) -> Any:
    """Apply a convolution of stride 1 that keeps the image's size; images are (n, height, width, channels).

    By patches: on one thread, XLA's own convolution and its gradient are slow. Large ones are made chunk by chunk, and
    again for the gradient, rather than kept.
    """
    weights = layer["w"]
    if weights[..., 0].size < 400 or len(x) % CHUNK:
        return _patched(weights, x)
    some = jax.lax.map(jax.checkpoint(lambda part: _patched(weights, part)), x.reshape(-1, CHUNK, *x.shape[1:]))
    return some.reshape(*x.shape[:3], -1)


def normalise(layer: dict[str, Any], x: Any) -> Any:
    """Batch normalisation over images and positions, by the batch's own mean and variance."""
    mean = x.mean(axis=(0, 1, 2))
    variance = x.var(axis=(0, 1, 2))
    return (x - mean) * (layer["scale"] / jnp.sqrt(variance + 1e-5)) + layer["b"]
