"""Networks as plain lists of arrays: multi-layer perceptrons and the convolutions of Colored-MNIST."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fairpriv.jax_cpu import jax, jnp

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
        x = activation(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


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


def convolve(layer: dict[str, Any], x: Any) -> Any:
    """Apply a convolution of stride 1 that keeps the image's size; images are (n, height, width, channels).

    One matrix product on the patches around each pixel: on one thread, XLA's own convolution and its gradient are slow.
    """
    size, (_, height, width, _) = layer["w"].shape[0], x.shape
    edge = size // 2
    padded = jnp.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
    shifts = [(i, j) for i in range(size) for j in range(size)]
    patches = jnp.concatenate([padded[:, i : i + height, j : j + width] for i, j in shifts], axis=-1)
    return patches @ layer["w"].reshape(-1, layer["w"].shape[-1])


def normalise(layer: dict[str, Any], x: Any) -> Any:
    """Batch normalisation over images and positions, by the batch's own mean and variance."""
    mean = x.mean(axis=(0, 1, 2))
    variance = x.var(axis=(0, 1, 2))
    return (x - mean) * (layer["scale"] / jnp.sqrt(variance + 1e-5)) + layer["b"]
