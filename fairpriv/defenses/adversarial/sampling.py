"""Batches, drawn before training: by Poisson sampling for private training, by shuffling otherwise."""

from typing import NamedTuple

import numpy as np


class Batches(NamedTuple):
    """Rows of each step, padded to one width; `real` is 0 where padded."""

    rows: np.ndarray  # (steps, width) int32
    real: np.ndarray  # (steps, width) float32


def poisson(n: int, batch: int, steps: int, rng: np.random.Generator) -> Batches:
    """Let every row enter every step independently with probability batch / n.

    The n·steps coin tosses are one sequence; gaps between heads are geometric. Nothing is cut off: the width is that of
    the largest batch drawn, to a multiple of eight so that few shapes need compiling.
    """
    heads, at, end = [], -1, n * steps
    while at < end:
        gaps = rng.geometric(batch / n, size=max(1024, int(1.05 * (end - at) * batch / n)))
        heads.append(at + np.cumsum(gaps, dtype=np.int64))
        at = heads[-1][-1]
    position = np.concatenate(heads)
    step, row = np.divmod(position[position < end], n)
    sizes = np.bincount(step, minlength=steps)
    width = max(8, -(-int(sizes.max()) // 8) * 8)
    place = np.arange(len(step)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows, real = np.zeros((steps, width), np.int32), np.zeros((steps, width), np.float32)
    rows[step, place], real[step, place] = row, 1.0
    return Batches(rows, real)


def shuffled(n: int, batch: int, steps: int, rng: np.random.Generator) -> Batches:
    """Go through the rows in a new random order each epoch, `batch` at a time (a short last batch is left out)."""
    a_pass = max(1, n // batch)
    width = min(batch, n)
    orders = [rng.permutation(n)[: a_pass * width].reshape(a_pass, width) for _ in range(-(-steps // a_pass))]
    rows = np.concatenate(orders)[:steps].astype(np.int32)
    return Batches(rows, np.ones(rows.shape, np.float32))


def one_sided(sensitive: np.ndarray, batches: Batches) -> np.ndarray:
    """Tell which batches lack a group of which attribute (steps × k): they say nothing about its difference."""
    rows, real = batches
    ones = (sensitive[rows] * real[:, :, None]).sum(axis=1)
    return (ones == 0) | (ones == real.sum(axis=1, keepdims=True))
