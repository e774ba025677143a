"""Mironov's attack (2012): which floats can numpy's Laplace sampler give when it is added to a gap?

`numpy.random.Generator.laplace` is s log(2U) or -s log(2 - 2U) with U a multiple of 2^-53. An answer is possible for a
gap only if some such U gives it, bit for bit; between neighbours, most answers are possible for one of the two only.
"""

import math

import numpy as np

LOG = np.vectorize(lambda u: math.log(u) if u > 0 else -math.inf)  # the C library's, as the sampler's: bits matter


def float_laplace(gaps, scale, rng):
    """Answers as a careless desk gives them."""
    return gaps + scale * rng.laplace(size=len(gaps))


def possible(answers, gap, scale, reach=8):
    """Return which answers some U gives for this gap: only those next to the right one need a look."""
    z = (answers - gap) / scale
    unit = np.where(z > 0, 2.0**-53, 2.0**-52)[:, None]  # 2 - U is rounded before U is taken off once more
    u = np.round(np.exp(-np.abs(z))[:, None] / unit) + np.arange(-reach, reach + 1)
    with np.errstate(invalid="ignore"):
        noise = np.sign(z)[:, None] * -LOG(u * unit)
    return (gap + scale * noise == answers[:, None]).any(axis=1)


def identify(answers, gaps, scale, rng):
    """Return which of two gaps all the answers are possible for (0 or 1), and whether only one of them was possible."""
    fits = [possible(answers, gap, scale).mean() for gap in gaps]
    certain = (fits[0] == 1) != (fits[1] == 1)
    return (int(fits[1] > fits[0]) if fits[0] != fits[1] else int(rng.integers(2))), certain
