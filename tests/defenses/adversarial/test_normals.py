"""Normal draws against the same formula in float64, and against the normal law."""

import numpy as np
import pytest
from scipy.stats import kstest

jax = pytest.importorskip("jax")

from fairpriv.defenses.adversarial.normals import MULTIPLE, normals  # noqa: E402


@pytest.mark.parametrize("size", [1, 512, 5000])
def test_box_and_muller_on_the_bits_that_jax_draws(size):
    key = jax.random.key(size)
    whole = -(-size // MULTIPLE) * MULTIPLE
    with jax.threefry_partitionable(False):
        x, y = np.asarray(jax.random.bits(key, (whole,))).reshape(2, -1).astype(np.uint64)
    radius = np.sqrt(-2 * np.log(((x >> np.uint64(9)) + 0.5) / 2**23))
    quadrant, within = y >> np.uint64(30), (y & np.uint64(2**30 - 1)) + 0.5
    # bit 30 turns by a quarter, bit 31 by a half
    angle = within * np.pi / 2**31 - np.pi / 4 + np.array([0, np.pi / 2, np.pi, 3 * np.pi / 2])[quadrant]
    drawn = jax.jit(normals, static_argnums=1)(key, size)
    assert drawn.dtype == np.float32
    np.testing.assert_allclose(drawn, np.concatenate([radius * np.cos(angle), radius * np.sin(angle)]), atol=2e-6)


def test_the_law_is_normal_and_pairs_are_independent():
    drawn = np.asarray(jax.jit(normals, static_argnums=1)(jax.random.key(0), 200_000), float)
    first, second = drawn.reshape(2, -1)
    # four tests, each fails once in ten thousand runs of another key; the key is fixed
    assert kstest(drawn, "norm").pvalue > 1e-4
    assert kstest((first + second) / np.sqrt(2), "norm").pvalue > 1e-4  # any rotation of a pair is normal too
    assert kstest((first - second) / np.sqrt(2), "norm").pvalue > 1e-4
    assert kstest(first**2 + second**2, "expon", args=(0, 2)).pvalue > 1e-4


def test_another_key_other_draws():
    assert not np.array_equal(normals(jax.random.key(0), 10), normals(jax.random.key(1), 10))
