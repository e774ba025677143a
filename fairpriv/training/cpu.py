"""JAX as cells use it: one thread, so that the same cell gives the same bytes whatever the number of workers."""

import os

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

if "xla_cpu_multi_thread_eigen" not in os.environ.get("XLA_FLAGS", ""):
    # read once, when JAX makes its first array
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["jax", "jnp"]
