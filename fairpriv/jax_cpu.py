"""JAX on one thread: a cell has the same bytes whatever the number of workers, and workers share no core.

Both settings are read once, when JAX makes its first array.
"""

import os

_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
if _ONE_THREAD not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_THREAD}".strip()
os.environ["NPROC"] = "1"  # XLA's own pool, whose second thread costs half as much again and saves nothing

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

__all__ = ["jax", "jnp"]
