"""Normal draws at a third of the time of `jax.random.normal`: Box and Muller's transform of the same random bits.

JAX on the CPU keeps the rounds of its generator (threefry2x32, Salmon et al. 2011) in a loop through memory, and works
out both words of a pair to give one. Here the rounds are written out, and a pair of words becomes a pair of normals
r(cos θ, sin θ) in one pass, held as a complex number, the one kind of element that keeps two results together.
"""

import math
from typing import Any

import numpy as np

from fairpriv.jax_cpu import jax, jnp

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
BLOCKS = 4  # a loop, however short, keeps XLA from drawing anew for everyone who uses the draw
MULTIPLE = 512  # sizes that are no multiple of the vector width are drawn several times slower
# Taylor's coefficients in φ², highest first: for |φ| <= π/4 what is left out is below half a float32's last place
COS = (1 / 40320, -1 / 720, 1 / 24, -1 / 2, 1.0)
SIN = (1 / 362880, -1 / 5040, 1 / 120, -1 / 6, 1.0)


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


def _centred(bits: Any) -> Any:
    """Return bits + ½ as a float."""
    return bits.astype(jnp.int32).astype(jnp.float32) + np.float32(0.5)


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    out = np.float32(coefficients[0])
    for c in coefficients[1:]:
        out = out * x + np.float32(c)
    return out


def _box_muller(x: Any, y: Any) -> tuple[Any, Any]:
    """Return two normals: radius from the upper 23 bits of x, angle from y (two bits of quadrant, then within it)."""
    radius = jnp.sqrt(np.float32(-2) * jnp.log(_centred(x >> np.uint32(9)) * np.float32(2.0**-23)))
    angle = _centred(y & np.uint32(0x3FFFFFFF)) * np.float32(math.pi * 2.0**-31) - np.float32(math.pi / 4)
    cos, sin = _polynomial(COS, angle**2), angle * _polynomial(SIN, angle**2)
    turned, sign = (y & np.uint32(1 << 30)) != 0, jnp.where(y >> np.uint32(31) != 0, np.float32(-1), np.float32(1))
    cos, sin = jnp.where(turned, -sin, cos), jnp.where(turned, cos, sin)
    return radius * (sign * cos), radius * (sign * sin)


def normals(key: Any, size: int) -> Any:
    """Return at least `size` independent standard normals, a multiple of 512 of them.

    Their bits are those of `jax.random.bits(key, (multiple,))` under `jax.threefry_partitionable(False)`.
    """
    half = -(-size // MULTIPLE) * MULTIPLE // 2
    first, second = jax.random.key_data(key)
    count = jax.lax.iota(jnp.uint32, half // BLOCKS)

    def draw(start: Any) -> Any:
        return jax.lax.complex(*_box_muller(*_threefry(first, second, count + start, count + start + np.uint32(half))))

    pairs = jax.lax.map(draw, np.arange(0, half, half // BLOCKS, dtype=np.uint32)).ravel()
    return jnp.concatenate([pairs.real, pairs.imag])
