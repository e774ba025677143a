"""What the Gaussian methods share: an encoder that gives mean and log variance, and the reparameterised draw."""

from typing import Any

import numpy as np

from fairpriv.defenses.representation.losses import squared_error
from fairpriv.defenses.representation.networks import dense, mlp
from fairpriv.jax_cpu import jax, jnp


def halves(layers: Any, x: Any) -> tuple[Any, Any]:
    """Return mean and log variance of a Gaussian encoder."""
    out = mlp(layers, x)
    d = out.shape[1] // 2
    return out[:, :d], jnp.clip(out[:, d:], -10, 10)


def draw(mean: Any, log_variance: Any, noise: Any) -> Any:
    """Return mean + deviation * noise."""
    return mean + jnp.exp(0.5 * log_variance) * noise


def draw_as(mean: Any, log_variance: Any, noise: Any, hyper: Any) -> Any:
    """Draw as the method is told: `hyper` has a mark where the log variance itself is the noise's scale.

    Public code of VFAE and PPVAE has it so. KL is least at a log variance of 0, which then means no noise at all: z is
    nearly a function of (x, s).
    """
    return mean + log_variance * noise if "log_variance" in hyper else draw(mean, log_variance, noise)


def variant(drawing: str, levels: int = 0, x: np.ndarray | None = None) -> dict[str, Any]:
    """Return the marks of a variant among the loss's numbers: for `draw_as`, and for `rebuilding_error`."""
    marks = {"log_variance": 1.0} if drawing == "log_variance" else {}
    return marks | (levels_of(x, levels) if levels and x is not None else {})


def levels_of(x: np.ndarray, most: int) -> dict[str, np.ndarray]:
    """Return which columns are numbers and which have at most so many values, and those values, filled up with inf."""
    values = [np.unique(column) for column in x.astype(np.float32).T]
    few = [i for i, found in enumerate(values) if len(found) <= most]
    widest = max((len(values[i]) for i in few), default=0)
    filled = [np.pad(values[i], (0, widest - len(values[i])), constant_values=np.inf) for i in few]
    numbers = [i for i in range(len(values)) if i not in few]
    return {
        "numbers": np.array(numbers, int),
        "few": np.array(few, int),
        "values": np.reshape(filled, (len(few), widest)).astype(np.float32),
    }


def decoder(rng: np.random.Generator, x: np.ndarray, hidden: int, d: int, levels: int) -> Any:
    """Draw a decoder from (z, s) to x: one output a column; with `levels` one a value of columns of few values."""
    found = levels_of(x, levels)
    return dense(rng, d + 1, hidden, len(found["numbers"]) + found["values"].size)


def rebuilding_error(found: Any, x: Any, hyper: Any) -> Any:
    """Return −log p(x | z, s): ½‖x̂ − x‖²; with `levels` Gaussian, Bernoulli and categorical outputs (xie2024, A.2.2).

    Numbers then have ½(x̂ − x)², columns of few values cross-entropy; a softmax over two outputs is a Bernoulli output.
    """
    if "values" not in hyper:
        return squared_error(found, x)
    numbers, few = (hyper[name].astype(jnp.int32) for name in ("numbers", "few"))
    values, at = hyper["values"], len(hyper["numbers"])
    error = squared_error(found[:, :at], x[:, numbers])
    if not values.size:
        return error
    logits = jnp.where(jnp.isfinite(values), found[:, at:].reshape(-1, *values.shape), -1e9)
    classes = jnp.argmin(jnp.abs(x[:, few][:, :, None] - values), axis=2)
    nats = -jnp.take_along_axis(jax.nn.log_softmax(logits), classes[:, :, None], axis=2)
    return error + nats.reshape(len(x), -1).sum(axis=1).mean()


def with_s(x: Any, s: Any) -> Any:
    """Append the sensitive variable as a column."""
    return jnp.concatenate([x, s.astype(jnp.float32)[:, None]], axis=1)


def gaussian_encoder(rng: np.random.Generator, width: int, hidden: int, d: int) -> Any:
    """Draw an encoder with one hidden layer."""
    return dense(rng, width, hidden, 2 * d)
