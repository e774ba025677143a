r"""Released numbers: a value plus real-valued noise, rounded to a public grid without any error of the sampler.

Adding a float sample to a float value gives the neighbour away: only some floats can come out, and which ones depends
on the value (Mironov 2012, "On significance of the least significant bits for differential privacy"). Here

    answer = γ · round((g + s Z) / γ),     Z a real random number, γ a power of two that says nothing about the data,

is drawn from exactly this law, for real numbers g + s Z.

*Proof.* Let M(D) = g(D) + s(D) Z be the mechanism over the reals, with whatever guarantee is proved for it. The answer
is a function of M(D) and of γ, which is public, hence post-processing: the same (epsilon, delta). What is left is that
the code draws from the law it says.

1. *Noise.* Z is the W-quantile of its law, W uniform on (0, 1) and known to 64 random bits: it lies in an interval
   [k, k + 1] / 2^64, and so g + s Z lies in one. The ends are worked out in floats and moved apart by `SLACK` = 2^-40
   relative to s (1 + |Z|): the functions of numpy and scipy err by less than 2^-49. Where both ends round to the same
   multiple of γ, that is the answer, whatever further bits W has. Where they do not, 64 more bits are drawn and the
   ends computed to more digits (mpmath), until they do. The result is the multiple of γ that all the digits of Z would
   have given. Floats decide how long it takes, never what comes out.
2. *Value.* g, s and γ are floats taken as the numbers they are. The gap that was computed differs from the true one by
   rounding, which may differ between neighbours: `rounding_allowance` enters the sensitivity.
3. *Grid.* A power of two near 2^-20 of the least scale that any group sizes could have, from n, m and epsilon alone.
   Its multiples up to 2^52 are floats; beyond, answers are clipped to the last, which is post-processing again.

Scales and budgets are themselves worked out in floats, to relative errors r of some 1e-15. For m answers this moves the
loss by at most m r (1 + m/epsilon), below 1e-7 for the largest case here (m = 2303, epsilon = 0.1).

The same draws give the same answer on every processor, unless the value itself sits on the edge of a cell.
"""

import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp

from fairpriv.mechanisms.noise import Cauchy, Gaussian, Laplace, Law

SLACK = 2.0**-40  # what floats may be off by; the true error is below 2^-49
LIMIT = 2.0**52  # the last multiple of the grid

Randomness = np.random.Generator | None  # None: the operating system's


def words(n: int, rng: Randomness) -> np.ndarray:
    """Return n random words of 64 bits: seeded ones from a generator, the operating system's without."""
    if rng is None:
        return np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64)
    return rng.integers(0, 2**64 - 1, size=n, dtype=np.uint64, endpoint=True)


def grid_for(scale: float) -> float:
    """Return γ for noise of at least this scale (which must be public): 2^-20 of it, within [2^-40, 2^-10].

    All ranges of gaps end on multiples of it.
    """
    return 2.0 ** min(max(math.frexp(scale)[1] - 21, -40), -10)


def rounding_allowance(n: int) -> float:
    """Return by which factor, less one, rounding in the gaps of n people can raise any sensitivity of theirs.

    A gap is a sum of n products with weights 1/N1 and -1/N0, each within 1 + 2^-53 of what it should be: with u = 2^-53
    it errs by at most 2 (n + 2) u / (1 - (n + 2) u), in whatever order terms are added. Two gaps differ by twice that
    more than they should. The least sensitivity is that of equal groups, >= 4 n / (n + 1)^2, so the factor is below
    1 + (n + 3)^2 2^-52. All of local, global and smooth sensitivity times a constant keep their defining inequalities.
    """
    return (n + 3.0) ** 2 * 2.0**-52


def release(
    values: np.ndarray,
    law: Law,
    grid: float | np.ndarray,
    rng: Randomness,
    within: tuple[float, float] | None = None,
) -> np.ndarray:
    """Return values plus noise of a law, rounded to the grid: the module's law, exactly.

    `within` conditions value plus noise on a range that ends on the grid; values are then taken into it first.
    """
    values = np.asarray(values, dtype=float) if within is None else np.clip(values, *within)
    values, scale, grid = np.broadcast_arrays(values, law.scale, grid)
    drawn = words(values.size, rng).reshape(values.shape)
    answers, open_ = _by_floats(values, law, scale, grid, drawn, within)
    for i in np.flatnonzero(open_):
        at = _exactly(type(law), float(values.flat[i]), float(scale.flat[i]), within)
        answers.flat[i] = _refined(at, int(drawn.flat[i]), float(grid.flat[i]), float(scale.flat[i]), rng)
    return answers


def _by_floats(
    values: np.ndarray, law: Law, scale: np.ndarray, grid: np.ndarray, drawn: np.ndarray, within: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the answers that floats can tell, and where they cannot."""
    left = right = lost = 0.0
    if within is not None:  # what is cut off on either side, and the error of what remains
        left, right, lost = law.cdf(within[0] - values), law.cdf(values - within[1]), 2.0**-50
    up, down = drawn.astype(float), (~drawn).astype(float)
    cells = []
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for below, above, sign in ((up, down + 1, -1.0), (up + 1, down, 1.0)):  # W and 1 - W at either end
            p, q = (tail + 2.0**-64 * w * (1 - left - right) for tail, w in ((left, below), (right, above)))
            p, q = p * (1 + sign * SLACK) + sign * lost, q * (1 - sign * SLACK) - sign * lost
            z = np.where(p < q, law._ppf(np.clip(p, 0, 0.5)), -law._ppf(np.clip(q, 0, 0.5)))
            x = values + scale * z
            x = x + sign * (SLACK * scale * (1 + np.abs(z)) + 2.0**-50 * (np.abs(values) + np.abs(x)))
            cells.append(np.clip(np.floor((x if within is None else np.clip(x, *within)) / grid + 0.5), -LIMIT, LIMIT))
    return cells[0] * grid, cells[0] != cells[1]


UPPER = {  # the 1 - q quantile, q in (0, 1/2]
    Laplace: lambda q: -mp.log(2 * q),
    Cauchy: lambda q: mp.cot(mp.pi * q),
    Gaussian: lambda q: mp.sqrt(2) * mp.erfinv(1 - 2 * q),
}
TAIL = {  # P(Z > z), z >= 0
    Laplace: lambda z: mp.exp(-z) / 2,
    Cauchy: lambda z: mp.atan2(1, z) / mp.pi,
    Gaussian: lambda z: mp.erfc(z / mp.sqrt(2)) / 2,
}


def _exactly(
    kind: type[Law], value: float, scale: float, within: tuple[float, float] | None
) -> Callable[[Any], tuple[Any, Any]]:
    """Return the function W -> (value + noise, its error) in as many digits as mpmath is set to."""

    def at(w: Any) -> tuple[Any, Any]:
        g, s = mp.mpf(value), mp.mpf(scale)
        left, right = (0, 0) if within is None else (TAIL[kind](abs(end - g) / s) for end in within)
        p = left + w * (1 - left - right)
        if p <= 0 or p >= 1:
            return (mp.inf if p > 0 else -mp.inf), mp.mpf(0)
        z = -UPPER[kind](p) if p < 0.5 else UPPER[kind](1 - p)
        return g + s * z, mp.ldexp(abs(g) + s * (1 + abs(z)) + 1, 16 - mp.prec // 2)

    return at


def _refined(at: Callable[[Any], tuple[Any, Any]], k: int, grid: float, scale: float, rng: Randomness) -> float:
    """Return the answer that W = (k + something below 1) / 2^64 gives, with as many more bits as that takes."""
    bits = 64
    while True:
        k, bits = k << 64 | int(words(1, rng)[0]), bits + 64
        # W has `bits` digits, its distance from 1 may have as many again, and the scale may be far below the value
        with mp.workprec(4 * bits + 2 * max(0, -math.frexp(scale)[1])):
            cells = []
            for end, sign in ((k, -1), (k + 1, 1)):
                x, error = at(mp.ldexp(end, -bits))
                x = max(min((x + sign * error) / grid, LIMIT), -LIMIT)
                cells.append(float(mp.floor(x + 0.5)))
        if cells[0] == cells[1]:
            return cells[0] * grid
