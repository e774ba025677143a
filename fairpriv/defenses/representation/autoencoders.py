"""What the Gaussian methods share: an encoder that gives mean and log variance, and the reparameterised draw."""

from typing import Any

import numpy as np

from fairpriv.defenses.representation.networks import dense, mlp
from fairpriv.jax_cpu import jnp


def halves(layers: Any, x: Any) -> tuple[Any, Any]:
    """Return mean and log variance of a Gaussian encoder."""
    out = mlp(layers, x)
    d = out.shape[1] // 2
    return out[:, :d], jnp.clip(out[:, d:], -10, 10)


def draw(mean: Any, log_variance: Any, noise: Any) -> Any:
    """Return mean + deviation * noise."""
    return mean + jnp.exp(0.5 * log_variance) * noise


def with_s(x: Any, s: Any) -> Any:
    """Append the sensitive variable as a column."""
    return jnp.concatenate([x, s.astype(jnp.float32)[:, None]], axis=1)


def gaussian_encoder(rng: np.random.Generator, width: int, hidden: int, d: int) -> Any:
    """Draw an encoder with one hidden layer."""
    return dense(rng, width, hidden, 2 * d)
