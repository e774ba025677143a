"""JAX on one thread: sums are then taken in one order, and a cell has the same bytes whatever else runs beside it."""

import os

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
if _ONE_THREAD not in os.environ.get("XLA_FLAGS", ""):  # read once, when JAX starts its backend
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD} intra_op_parallelism_threads=1".strip()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["jax", "jnp"]
