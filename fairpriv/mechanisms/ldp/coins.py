"""Biased coins by the million: a random byte each, and a real draw for the one in 256 it leaves open."""

import numpy as np


def random_bytes(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n uniform bytes."""
    words = rng.integers(0, np.iinfo(np.uint64).max, size=-(-n // 8), dtype=np.uint64, endpoint=True)
    return words.view(np.uint8)[:n]


def coins(p: float, shape: int | tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Return independent coins that are True with probability p (exact to 2^-61).

    Read U = (byte + u) / 256 with u uniform in [0, 1): U < p is settled by the byte unless it is floor(256 p).
    """
    n = int(np.prod(shape))
    whole = int(256 * p)
    if whole >= 256:
        return np.ones(shape, bool)
    drawn = random_bytes(n, rng)
    heads = drawn < whole
    open_ = np.flatnonzero(drawn == whole)
    heads[open_] = rng.random(len(open_)) < 256 * p - whole
    return heads.reshape(shape)
