"""Adam on shuffled batches; one compiled call an epoch. All randomness is drawn by numpy from the cell's own stream."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import optax

from fairpriv.defenses.training_failed import TrainingFailed
from fairpriv.jax_cpu import jax, jnp


@partial(jax.jit, static_argnames=("loss",), donate_argnums=(1, 2))
def _epoch(
    loss: Callable[..., Any], params: Any, state: Any, data: Any, order: Any, noise: Any, hyper: Any, rate: Any
) -> Any:
    optimiser = optax.adam(rate)

    def step(carry: Any, rows: Any) -> Any:
        params, state = carry
        batch = {name: values[rows] for name, values in data.items()} | {n: v[rows] for n, v in noise.items()}
        value, gradient = jax.value_and_grad(loss)(params, batch, hyper)
        updates, state = optimiser.update(gradient, state)
        return (optax.apply_updates(params, updates), state), value

    (params, state), values = jax.lax.scan(step, (params, state), order)
    return params, state, values.mean()


def fit(
    loss: Callable[..., Any],
    params: Any,
    data: dict[str, np.ndarray],
    rng: np.random.Generator,
    *,
    epochs: int,
    batch: int,
    rate: float,
    hyper: dict[str, Any] | None = None,
    noise: Callable[[np.random.Generator, int], dict[str, np.ndarray]] | None = None,
) -> tuple[Any, np.ndarray]:
    """Minimise the loss.

    Parameters
    ----------
    loss : callable
        `loss(params, batch, hyper)`, a module-level function or static method: it is compiled once a shape.
    params : pytree of arrays
    data : dict of arrays
        Row by row; a batch holds the same names.
    rng : numpy Generator
    epochs, batch, rate
        Of Adam. Rows that fill no whole batch are left out, others in each epoch.
    hyper : dict of numbers and arrays
        What the loss needs beside the batch; changing a value compiles nothing anew.
    noise : callable
        `noise(rng, n)`: fresh arrays of n rows for every epoch.

    Returns
    -------
    tuple
        The parameters, and the mean loss of every epoch.
    """
    n = len(next(iter(data.values())))
    batch = min(batch, n)
    data = {name: jnp.asarray(values) for name, values in data.items()}
    hyper = {name: jnp.asarray(value, jnp.float32) for name, value in (hyper or {}).items()}
    params = jax.tree.map(jnp.array, params)
    state = optax.adam(rate).init(params)
    losses = []
    for epoch in range(epochs):
        order = rng.permutation(n)[: n // batch * batch].reshape(-1, batch).astype(np.int32)
        drawn = noise(rng, n) if noise is not None else {}
        params, state, value = _epoch(loss, params, state, data, order, drawn, hyper, jnp.float32(rate))
        losses.append(float(value))
        if not np.isfinite(losses[-1]):
            raise TrainingFailed(
                f"the loss is {losses[-1]} in epoch {epoch + 1}: lower rate={rate:g} or the multipliers"
            )
    return jax.tree.map(np.asarray, params), np.array(losses)
