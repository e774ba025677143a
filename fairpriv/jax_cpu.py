"""JAX on one thread: a cell has the same bytes whatever the number of workers, and workers share no core.

Both settings are read once, when JAX makes its first array. `matmul` is the product of networks and of whatever else
sums over many terms: with it, and the pin of `runner/pin.py`, a product has the same bytes on every processor.
"""

import os
from typing import Any

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
if _ONE_THREAD not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
os.environ["NPROC"] = "1"  # XLA's own pool, whose second thread costs half as much again and saves nothing

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["jax", "jnp", "matmul"]

# Eigen, which multiplies for XLA, adds a longer sum up in parts that fit the processor's first cache (288 terms of
# float32 in 32 KiB, 432 in 48), so their number, and the last bit, would depend on it. Shorter ones it takes whole.
LONGEST_SUM = 256


def _contract(a: Any, b: Any) -> Any:
    """Return a·b of two matrices, no product of which sums over more than LONGEST_SUM terms."""
    whole, rest = divmod(a.shape[1], LONGEST_SUM)
    if whole == 0 or a.shape[1] == LONGEST_SUM:
        return a @ b
    cut = whole * LONGEST_SUM
    parts = jnp.einsum(
        "mck,ckn->cmn", a[:, :cut].reshape(len(a), whole, LONGEST_SUM), b[:cut].reshape(whole, LONGEST_SUM, -1)
    )
    return parts.sum(axis=0) + a[:, cut:] @ b[cut:] if rest else parts.sum(axis=0)


@jax.custom_vjp
def matmul(a: Any, b: Any) -> Any:
    """Return a·b for a (..., k) and a matrix b (k, n): the same bytes on every processor, in its gradient too.

    Examples
    --------
    >>> matmul(jnp.ones((2, 600)), jnp.ones((600, 1))).tolist()
    [[600.0], [600.0]]
    """
    return _contract(a.reshape(-1, a.shape[-1]), b).reshape(*a.shape[:-1], b.shape[1])


def _forward(a: Any, b: Any) -> tuple[Any, tuple[Any, Any]]:
    return matmul(a, b), (a, b)


def _backward(given: tuple[Any, Any], owed: Any) -> tuple[Any, Any]:
    a, b = given
    owed = owed.reshape(-1, b.shape[1])
    return _contract(owed, b.T).reshape(a.shape), _contract(a.reshape(-1, a.shape[-1]).T, owed)


matmul.defvjp(_forward, _backward)
