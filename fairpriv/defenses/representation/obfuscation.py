"""Networks and losses of the variational encoder (xie2024, Section 4 and Appendix A)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpriv.defenses.representation import vq
from fairpriv.defenses.representation.losses import cross_entropy, squared_error
from fairpriv.defenses.representation.networks import convolutions, convolve, dense, mlp, normalise
from fairpriv.errors import BadRequest
from fairpriv.jax_cpu import jax, jnp


def init(
    rng: np.random.Generator, width: int, hidden: int, z_width: int, groups: int, classes: int, layers: Sequence[int]
) -> dict[str, Any]:
    """Draw the networks of Appendix A.2.1 for tables; the side decoder reads z beside s one-hot."""
    return {
        "encoder": dense(rng, width, hidden, z_width),
        "utility": dense(rng, z_width, *layers, classes),
        "side": dense(rng, z_width + groups, hidden, width),
    }


def uniform(rng: np.random.Generator, params: dict[str, Any]) -> dict[str, Any]:
    """Return the networks drawn anew, weights and biases uniform within ±1/√inputs: what PyTorch's layers start from.

    Values start smaller than He's, so that fewer are clipped for every row: a clipped value has no gradient.
    """

    def layer(old: dict[str, Any]) -> dict[str, Any]:
        most = len(old["w"]) ** -0.5
        return {name: rng.uniform(-most, most, values.shape).astype(np.float32) for name, values in old.items()}

    networks = ("encoder", "utility", "side")
    return params | {name: [layer(old) for old in params[name]] for name in networks}


def encode(params: Any, x: Any) -> Any:
    """Return the encoder's values, before they are truncated."""
    return mlp(params["encoder"], x)


def codes(params: Any, x: Any) -> tuple[Any, Any]:
    """Return the nearest codes (57) and the features they stand for."""
    d, _, width = params["codebook"].shape
    features = mlp(params["encoder"], x).reshape(-1, d, width)
    return vq.nearest(params["codebook"], features), features


def _side_input(params: Any, z: Any, s: Any) -> Any:
    groups = params["side"][0]["w"].shape[0] - z.shape[1]
    return jnp.concatenate([z, jax.nn.one_hot(s, groups)], axis=1)


def _both(params: Any, z: Any, batch: Any, hyper: Any) -> Any:
    """Return −log q(x | z, s) − beta log q(u | z) (39)."""
    x_found = mlp(params["side"], _side_input(params, z, batch["s"]))
    return squared_error(x_found, batch["x"]) + hyper["beta"] * cross_entropy(mlp(params["utility"], z), batch["u"])


def continuous_loss(params: Any, batch: Any, hyper: Any) -> Any:
    """Loss (39) through truncation and Laplace noise (41)."""
    z = hyper["keep"] * jnp.clip(encode(params, batch["x"]), -hyper["t"], hyper["t"]) + batch["noise"]
    return _both(params, z, batch, hyper)


def discrete_loss(params: Any, batch: Any, hyper: Any) -> Any:
    """Loss (58): the decoders read the randomized code's embedding, their gradient goes to the encoder."""
    found, features = codes(params, batch["x"])
    k = params["codebook"].shape[1]
    read = vq.embed(jax.lax.stop_gradient(params["codebook"]), (found + batch["shift"]) % k)
    z = vq.straight_through(features, read).reshape(len(features), -1)
    quantised = vq.embed(params["codebook"], found)
    return _both(params, z, batch, hyper) + vq.quantisation_loss(features, quantised, hyper["commitment"])


def utility(params: Any, z: Any) -> Any:
    """Return the utility decoder's scores of released values or codes."""
    if "codebook" in params:
        z = vq.embed(params["codebook"], jnp.asarray(z)).reshape(len(z), -1)
    return mlp(params["utility"], z)


def init_image(rng: np.random.Generator, d: int, groups: int, classes: int, layers: Sequence[int]) -> dict[str, Any]:
    """Draw the networks of Table 3 for square images of three channels."""
    side = round((d / 3) ** 0.5)
    if 3 * side * side != d:
        raise BadRequest(f"d must be 3 * side^2 for images, got {d}")
    return {
        "encoder": convolutions(rng, [(3, 16), (16, 16), (16, 3)], 3),
        "utility": dense(rng, d, *layers, classes),
        "side_z": convolutions(rng, [(3, 10)], 5),
        "side_s": convolutions(rng, [(groups, 10)], 5),
        "side": convolutions(rng, [(20, 100), (100, 50), (50, 3)], 5),
    }


def _image(x: Any) -> Any:
    side = round((x.shape[1] / 3) ** 0.5)
    return x.reshape(-1, 3, side, side).transpose(0, 2, 3, 1)


def encode_image(params: Any, x: Any) -> Any:
    """Return the encoder's values for images given as rows (channel by channel), before they are truncated."""
    *inner, last = params["encoder"]
    image = _image(x) - 0.5
    for layer in inner:
        image = jax.nn.relu(convolve(layer, image) + layer["b"])
    return (convolve(last, image) + last["b"]).transpose(0, 3, 1, 2).reshape(len(x), -1)


def image_loss(params: Any, batch: Any, hyper: Any) -> Any:
    """Loss (39) for images; the side decoder of Table 3 gives pixels in [0, 1]."""
    x = batch["x"]
    z = hyper["keep"] * jnp.clip(encode_image(params, x), -hyper["t"], hyper["t"]) + batch["noise"]
    groups, image = params["side_s"][0]["w"].shape[2], _image(z)
    s = jnp.broadcast_to(jax.nn.one_hot(batch["s"], groups)[:, None, None, :], (*image.shape[:3], groups))
    parts = [
        jax.nn.relu(normalise(layer, convolve(layer, read)))
        for layer, read in ((params["side_z"][0], image), (params["side_s"][0], s))
    ]
    first, second, last = params["side"]
    found = jnp.concatenate(parts, axis=-1)
    found = jax.nn.relu(normalise(first, convolve(first, found)))
    found = jax.nn.relu6(normalise(second, convolve(second, found)))
    found = jax.nn.sigmoid(convolve(last, found) + last["b"])
    return squared_error(found, _image(x)) + hyper["beta"] * cross_entropy(mlp(params["utility"], z), batch["u"])
