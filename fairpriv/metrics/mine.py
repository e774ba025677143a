"""MINE: mutual information by a neural network (Belghazi et al. 2018), with the settings of xie2024, Appendix A.2.3."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fairpriv import validate
from fairpriv.errors import FairprivError
from fairpriv.jax_cpu import jax, jnp, matmul

WINDOW = 100  # the estimate is the mean over the last iterations
BLOCK = 50  # iterations drawn at once, and compiled into one call
STEP = 32  # numbers of points are rounded up by such steps, so that few shapes are compiled
SETTLE_WINDOW = 1_000  # settled: the means of the last two such windows ...
SETTLE_WITHIN = 0.002  # ... differ by less than this, in nats
SETTLE_FROM = 3_000  # looked at from here on, once a window

Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


class _State(NamedTuple):
    """The network T(z, y) with two hidden layers of ReLU6, Adam's moments (as sums), the moving average, the step.

    `weights`: first layer (its biases are the weights of an input that is always 1), second layer, its biases, last
    layer, its bias. Columns are points.
    """

    weights: tuple[Any, ...]
    first: tuple[Any, ...]
    second: tuple[Any, ...]
    average: Any
    done: Any


def _start(rng: np.random.Generator, width: int, hidden: int) -> _State:
    """Draw the weights (He et al. 2015); T starts near 0, where the moving average of exp T, 1, has its start."""
    shapes = [(hidden, width + 1), (hidden, hidden), (hidden, 1), (1, hidden), (1, 1)]
    weights = [np.zeros(shape, np.float32) for shape in shapes]
    for layer, given, scale in ((0, width, 1.0), (1, hidden, 1.0), (3, hidden, 0.1)):
        drawn = rng.standard_normal((len(weights[layer]), given)) * np.sqrt(2 / given)
        weights[layer][:, :given] = scale * drawn
    zeros = tuple(np.zeros_like(w) for w in weights)
    return _State(tuple(weights), zeros, zeros, np.float32(1), np.float32(0))


def _slopes(weights: tuple[Any, ...], points: Any, slope_of: Callable[[Any], Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return T of the points, and the gradient of a loss, given its slope in each of these values."""
    w0, w1, b1, w2, b2 = weights
    sums0 = w0 @ points
    out0 = jnp.clip(sums0, 0, 6)
    sums1 = w1 @ out0 + b1
    out1 = jnp.clip(sums1, 0, 6)
    values = w2 @ out1 + b2
    slope = slope_of(values[0])[None]
    owed1 = jnp.where((sums1 > 0) & (sums1 < 6), w2.T * slope, 0.0)
    owed0 = jnp.where((sums0 > 0) & (sums0 < 6), w1.T @ owed1, 0.0)
    last = slope @ out1.T, slope.sum(keepdims=True)
    return values[0], (matmul(owed0, points.T), matmul(owed1, out0.T), owed1.sum(axis=1, keepdims=True), *last)


def _adam(state: _State, gradient: tuple[Any, ...], rate: Any) -> _State:
    """Kingma & Ba 2015, Algorithm 1, with their constants."""
    done = state.done + 1
    first = tuple(0.9 * m + g for m, g in zip(state.first, gradient))
    second = tuple(0.999 * v + g * g for v, g in zip(state.second, gradient))
    unbias = [(1 - decay) / (1 - decay**done) for decay in (0.9, 0.999)]
    size, guard = rate * unbias[0] / jnp.sqrt(unbias[1]), 1e-8 / jnp.sqrt(unbias[1])
    weights = tuple(w - size * m / (jnp.sqrt(v) + guard) for w, m, v in zip(state.weights, first, second))
    return state._replace(weights=weights, first=first, second=second, done=done)


def _iterate(state: _State, points: Any, joint: Any, product: Any, rate: Any, ema: Any) -> tuple[_State, Any]:
    """Take one step, and return the bound too; the points weigh `joint` and `product` in the two means."""
    seen = {}

    def slope_of(values: Any) -> Any:
        risen = product * jnp.exp(values)
        seen["mean"] = risen.sum()
        seen["average"] = state.average + ema * (seen["mean"] - state.average)
        # the gradient of the bound, its biased denominator replaced by the moving average (their Section 3.2)
        return risen / seen["average"] - joint

    values, gradient = _slopes(state.weights, points, slope_of)
    after = _adam(state._replace(average=seen["average"]), gradient, rate)
    return after, joint @ values - jnp.log(seen["mean"])


@jax.jit
def _run_counted(state: _State, points: Any, joint: Any, product: Any, rate: Any, ema: Any) -> tuple[_State, Any]:
    return jax.lax.scan(lambda s, d: _iterate(s, points, *d, rate, ema), state, (joint, product))


@jax.jit
def _run_paired(state: _State, values_y: Any, block: tuple[Any, ...], rate: Any, ema: Any) -> tuple[_State, Any]:
    def one(state: _State, drawn: tuple[Any, ...]) -> tuple[_State, Any]:
        z, own, other, apart, count = drawn
        b, more = len(own), len(apart)
        zs = jnp.concatenate([z, z[apart]]).T
        ys = values_y[jnp.concatenate([own, other[apart]])].T
        points = jnp.concatenate([zs, ys, jnp.ones((1, b + more), zs.dtype)])
        joint = jnp.concatenate([jnp.full(b, 1 / b), jnp.zeros(more)])
        product = jnp.concatenate([(own == other) / b, (jnp.arange(more) < count) / b])
        return _iterate(state, points, joint, product, rate, ema)

    return jax.lax.scan(one, state, block)


def _blocks(draw: Draw, y: np.ndarray, batch: int, iterations: int, rng: np.random.Generator) -> Iterator[tuple]:
    """Draw batches: z_i, the class of y_i and of y_j, for joint pairs (z_i, y_i) and product pairs (z_i, y_j)."""
    for _ in range(0, iterations, BLOCK):
        i, j = rng.integers(0, len(y), (2, BLOCK, batch))
        yield draw(i.ravel(), rng).reshape(*i.shape, -1), y[i], y[j]


def _distinct(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of z and which of them each row is."""
    marks = z @ np.sqrt(np.arange(2, z.shape[1] + 2))  # one number per row: cheap to compare
    _, places, codes = np.unique(marks, return_index=True, return_inverse=True)
    return z[places], codes


def _round_up(n: int) -> int:
    """Return the next of 8, 40, 72, ...: rows whose length is a power of two times a small number meet in the cache."""
    return -(-(n - 8) // STEP) * STEP + 8


def _counted(state: _State, values_y: np.ndarray, block: tuple, rate: float, ema: float) -> tuple[_State, Any]:
    """Run a block of few distinct pairs: each is one point, with its shares of the joint and the product pairs."""
    z, *drawn = block
    values_z, codes = _distinct(z.reshape(-1, z.shape[2]))
    classes, n = len(values_y), len(values_z) * len(values_y)
    points = np.zeros((z.shape[2] + values_y.shape[1] + 1, _round_up(n)), np.float32)
    points[:, :n] = np.vstack([np.repeat(values_z, classes, axis=0).T, np.tile(values_y.T, len(values_z)), np.ones(n)])
    at = codes.reshape(z.shape[:2]) * classes + np.arange(len(z))[:, None] * points.shape[1]
    size = len(z) * points.shape[1]
    shares = (np.bincount((at + y).ravel(), minlength=size).reshape(len(z), -1) / z.shape[1] for y in drawn)
    return _run_counted(state, points, *(share.astype(np.float32) for share in shares), rate, ema)


def _paired(state: _State, values_y: np.ndarray, block: tuple, rate: float, ema: float) -> tuple[_State, Any]:
    """Run a block of pairs.

    Where y_j = y_i, (z_i, y_j) is the same point as (z_i, y_i): it is evaluated once. For a binary S that is every
    second pair or more.
    """
    z, own, other = block
    which, where = np.nonzero(own != other)
    count = np.bincount(which, minlength=len(z))
    batch = z.shape[1]
    apart = np.zeros((len(z), _round_up(batch + int(count.max())) - batch), np.int32)
    apart[which, np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)] = where
    own, other, count = (a.astype(np.int32) for a in (own, other, count))
    return _run_paired(state, values_y, (z, own, other, apart, count), rate, ema)


def settled(trace: np.ndarray) -> bool:
    """Tell whether the mean of the last 1,000 iterations is within 0.002 nats of that of the 1,000 before."""
    last, before = trace[-SETTLE_WINDOW:], trace[-2 * SETTLE_WINDOW : -SETTLE_WINDOW]
    return len(before) == SETTLE_WINDOW and abs(float(np.mean(last) - np.mean(before))) < SETTLE_WITHIN


def estimate(trace: np.ndarray, share: float = 1.0) -> float:
    """Return the estimate: the mean over the last 100 iterations of a trace, or of the first part of it."""
    return float(trace[: max(WINDOW, round(share * len(trace)))][-WINDOW:].mean(dtype=float))


def mine(
    z: np.ndarray | Draw,
    y: np.ndarray,
    rng: np.random.Generator,
    *,
    iterations: int = 50_000,
    settle: bool = False,
    batch: int = 1024,
    rate: float = 1e-3,
    ema: float = 0.01,
    hidden: int = 100,
) -> np.ndarray:
    """Estimate I(Z; Y) in nats.

    Parameters
    ----------
    z, y : ndarray (n,) or (n, width)
        Samples of pairs. Columns are standardised, which leaves mutual information as it is. Where Z is random given
        the row, z may be a function `z(rows, rng)` that draws it: rows then come with fresh noise every time, and a
        network that learns the sample by heart learns nothing of the noise.
    rng : numpy Generator
    iterations, batch, rate, ema, hidden
        Of Adam on two hidden layers with ReLU6; `ema` is the rate of the moving average. Batches are drawn with
        replacement.
    settle : bool
        Stop when the bound has settled: see `settled`, asked every 1,000 iterations from the 3,000th on.

    Returns
    -------
    ndarray (iterations,)
        The bound on every batch; the estimate is the mean of the last 100, `estimate(trace)`.
    """
    validate.integer("iterations", iterations, at_least=WINDOW)
    validate.integer("batch", batch, at_least=2)
    values_y, y = _distinct(_scaled(np.asarray(y).reshape(len(y), -1)))
    draw = _drawer(z, len(y), rng)
    sample = draw(np.arange(len(y)), rng)
    few = len(_distinct(sample)[0]) * len(values_y) <= batch / 2  # codes
    state = _start(rng, sample.shape[1] + values_y.shape[1], hidden)
    traces: list[np.ndarray] = []
    for block in _blocks(draw, y, batch, iterations, rng):
        state, bounds = (_counted if few else _paired)(state, values_y, block, rate, ema)
        traces.append(np.asarray(bounds, float))
        done = BLOCK * len(traces)
        if not np.isfinite(traces[-1]).all():
            at = done - BLOCK + int(np.argmin(np.isfinite(traces[-1]))) + 1
            raise FairprivError(f"MINE left the real numbers in iteration {at}: lower its rate={rate:g}")
        if settle and done >= SETTLE_FROM and done % SETTLE_WINDOW == 0 and settled(np.concatenate(traces)):
            break
    return np.concatenate(traces)[:iterations]


def _scaled(values: np.ndarray, like: np.ndarray | None = None) -> np.ndarray:
    """Return columns less their mean, over their deviation (those of `like`, where given); constants stay."""
    like = values if like is None else like
    spread = like.std(axis=0, dtype=float)
    return ((values - like.mean(axis=0, dtype=float)) / np.where(spread > 0, spread, 1)).astype(np.float32)


def _drawer(z: np.ndarray | Draw, n: int, rng: np.random.Generator) -> Draw:
    """Return a function that draws rows of z, standardised; a random z by one draw of all n rows."""
    if callable(z):
        like = z(np.arange(n), rng)
        return lambda rows, rng: _scaled(z(rows, rng), like)
    held = _scaled(np.asarray(z).reshape(n, -1))
    return lambda rows, rng: held.take(rows, axis=0)
