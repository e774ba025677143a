"""MINE: mutual information by a neural network (Belghazi et al. 2018), with the settings of xie2024, Appendix A.2.3."""

from functools import cache
from typing import Any

import numpy as np

from fairpriv import validate
from fairpriv.datasets.encode import standardise
from fairpriv.errors import FairprivError

CHUNK = 500  # iterations a compiled call
WINDOW = 100  # the estimate is the mean over the last iterations


@cache
def _compiled() -> Any:
    """Return a chunk of iterations, compiled (JAX is imported when an estimate is asked for, not before)."""
    import optax

    from fairpriv.representations.backend import jax, jnp
    from fairpriv.representations.networks import mlp

    def means(params: Any, data: Any, i: Any, j: Any) -> tuple[Any, Any]:
        """Return the batch's means of T over joint pairs (z_i, y_i) and of e^T over product pairs (z_i, y_j)."""
        if "pairs" in data:  # few distinct pairs: evaluate each once, weighed by how often the batch has it
            t = mlp(params, data["pairs"], jax.nn.relu6)[:, 0]
            first = data["z"][i] * data["width"]
            joint, product = (jnp.zeros(len(t)).at[first + data["y"][r]].add(1 / len(i)) for r in (i, j))
            return joint @ t, product @ jnp.exp(t)
        z = data["z"][i]
        both = jnp.concatenate([jnp.hstack([z, data["y"][i]]), jnp.hstack([z, data["y"][j]])])
        t = mlp(params, both, jax.nn.relu6)[:, 0]
        return t[: len(i)].mean(), jnp.exp(t[len(i) :]).mean()

    def chunk(params: Any, state: Any, average: Any, data: Any, rows: Any, rate: Any, ema: Any) -> Any:
        optimiser = optax.adam(rate)

        def step(carry: Any, ij: Any) -> Any:
            params, state, average = carry

            def loss(params: Any) -> Any:
                joint, product = means(params, data, *ij)
                moved = (1 - ema) * average + ema * jax.lax.stop_gradient(product)
                # the gradient of the bound, its biased denominator replaced by the moving average (their Section 3.2)
                return product / moved - joint, (joint - jnp.log(product), moved)

            (_, (value, average)), gradient = jax.value_and_grad(loss, has_aux=True)(params)
            updates, state = optimiser.update(gradient, state)
            return (optax.apply_updates(params, updates), state, average), value

        (params, state, average), values = jax.lax.scan(step, (params, state, average), rows)
        return params, state, average, values

    return jax.jit(chunk, donate_argnums=(0, 1, 2))


def _prepared(z: np.ndarray, y: np.ndarray, batch: int) -> tuple[dict[str, np.ndarray], int]:
    """Return the data as the compiled code wants them (codes where pairs are few), and the width of a pair."""
    (z,), (y,) = standardise(z.astype(float)), standardise(y.astype(float))
    z, y = z.astype(np.float32), y.astype(np.float32)
    values_z, codes_z = np.unique(z, axis=0, return_inverse=True)
    values_y, codes_y = np.unique(y, axis=0, return_inverse=True)
    width = z.shape[1] + y.shape[1]
    if len(values_z) * len(values_y) > batch:
        return {"z": z, "y": y}, width
    pairs = np.hstack([np.repeat(values_z, len(values_y), axis=0), np.tile(values_y, (len(values_z), 1))])
    codes = {"z": codes_z.ravel().astype(np.int32), "y": codes_y.ravel().astype(np.int32)}
    return codes | {"pairs": pairs, "width": np.int32(len(values_y))}, width


def mine(
    z: np.ndarray,
    y: np.ndarray,
    rng: np.random.Generator,
    *,
    iterations: int = 50_000,
    batch: int = 1024,
    rate: float = 1e-3,
    ema: float = 0.01,
    hidden: int = 100,
) -> np.ndarray:
    """Estimate I(Z; Y) in nats.

    Parameters
    ----------
    z, y : ndarray (n,) or (n, width)
        Samples of pairs. Columns are standardised, which leaves mutual information as it is.
    rng : numpy Generator
    iterations, batch, rate, ema, hidden
        Of Adam on two hidden layers with ReLU6; `ema` is the rate of the moving average. Batches are drawn with
        replacement.

    Returns
    -------
    ndarray (iterations,)
        The bound on every batch; the estimate is the mean of the last 100, `estimate(trace)`.
    """
    validate.integer("iterations", iterations, at_least=WINDOW)
    validate.integer("batch", batch, at_least=2)
    z, y = (a.reshape(len(a), -1) for a in (np.asarray(z), np.asarray(y)))
    import optax

    from fairpriv.representations.backend import jax, jnp
    from fairpriv.representations.networks import dense

    data, width = _prepared(z, y, batch)
    data = {name: jnp.asarray(values) for name, values in data.items()}
    params = jax.tree.map(jnp.array, dense(rng, width, hidden, hidden, 1))
    params[-1]["w"] = params[-1]["w"] * 0.1  # start near T = 0, where the moving average starts
    state, average = optax.adam(rate).init(params), jnp.float32(1.0)
    trace = []
    for start in range(0, iterations, CHUNK):
        rows = rng.integers(0, len(z), (min(CHUNK, iterations - start), 2, batch), dtype=np.int32)
        params, state, average, values = _compiled()(
            params, state, average, data, (rows[:, 0], rows[:, 1]), jnp.float32(rate), jnp.float32(ema)
        )
        trace.append(np.asarray(values))
        if not np.isfinite(trace[-1]).all():
            raise FairprivError(f"MINE left the real numbers before iteration {start + CHUNK}: lower its rate={rate:g}")
    return np.concatenate(trace)


def estimate(trace: np.ndarray, share: float = 1.0) -> float:
    """Return the estimate: the mean over the last 100 iterations of a trace, or of the first part of it."""
    return float(trace[: max(WINDOW, round(share * len(trace)))][-WINDOW:].mean(dtype=float))
