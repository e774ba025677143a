"""Normal draws as fast as JAX can be made to give them: `jax.random.normal` bit for bit, in one fused loop.

JAX keeps the rounds of its generator (threefry2x32, Salmon et al. 2011) in a loop of their own on the CPU, so that every
round goes through memory. Written out, rounds, uniform and erf⁻¹ are one pass.
"""

from typing import Any

import numpy as np

from fairpriv.training.cpu import jax, jnp

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
MULTIPLE = 512  # sizes that are no multiple of the vector width are drawn several times slower


def _threefry(first: Any, second: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Encrypt the counters (x, y) with the key (first, second): 20 rounds, the key added after every fourth."""
    keys = (first, second, first ^ second ^ np.uint32(0x1BD11BDA))
    x, y = x + first, y + second
    for i in range(5):
        for rotation in ROTATIONS[i % 2]:
            x = x + y
            y = x ^ ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation)))
        x, y = x + keys[(i + 1) % 3], y + keys[(i + 2) % 3] + np.uint32(i + 1)
    return x, y


def _normal(bits: Any) -> Any:
    """Return √2·erf⁻¹ of the uniform number in (−1, 1) that the upper 23 bits are."""
    one, low = np.float32(1), np.nextafter(np.float32(-1), np.float32(0))
    fraction = jax.lax.bitcast_convert_type((bits >> np.uint32(9)) | np.uint32(0x3F800000), jnp.float32) - one
    uniform = jnp.maximum(low, fraction * (one - low) + low)
    return np.float32(np.sqrt(2)) * jax.lax.erf_inv(uniform)


def normals(key: Any, size: int) -> Any:
    """Return at least `size` independent standard normals, a multiple of 512 of them.

    They are those of `jax.random.normal(key, (multiple,))` under `jax.threefry_partitionable(False)`.
    """
    half = -(-size // MULTIPLE) * MULTIPLE // 2
    first, second = jax.random.key_data(key)
    count = jax.lax.iota(jnp.uint32, half)
    return jnp.concatenate([_normal(bits) for bits in _threefry(first, second, count, count + np.uint32(half))])
