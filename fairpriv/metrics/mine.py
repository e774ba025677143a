"""MINE: mutual information by a neural network (Belghazi et al. 2018), with the settings of xie2024, Appendix A.2.3."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from fairpriv import validate
from fairpriv.errors import FairprivError

WINDOW = 100  # the estimate is the mean over the last iterations
BLOCK = 50  # iterations drawn at once
SETTLE_WINDOW = 1_000  # settled: the means of the last two such windows ...
SETTLE_WITHIN = 0.002  # ... differ by less than this, in nats
SETTLE_FROM = 3_000  # looked at from here on, once a window

Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]


class _Critic:
    """The network T(z, y): two hidden layers of ReLU6 and Adam, in buffers that stay.

    numpy, since an iteration takes two thirds of the time of the same compiled by XLA (README of xie2024). Every
    array is contiguous: a hidden layer has one unit more, always 1, whose weights are the next layer's biases, and
    units that are always 0 up to a multiple of eight.
    """

    def __init__(self, rng: np.random.Generator, width: int, hidden: int, rows: int, rate: float) -> None:
        padded = -(-(hidden + 1) // 8) * 8
        shapes = [(width + 1, padded), (padded, padded), (padded, 1)]
        ends = np.cumsum([0, *(a * b for a, b in shapes)])
        self.weights, self.gradient, self.learns, *self.moments = np.zeros((6, ends[-1]), np.float32)
        self.layers, self.slopes, learns = (
            [flat[slice(*span)].reshape(shape) for span, shape in zip(pairwise(ends), shapes)]
            for flat in (self.weights, self.gradient, self.learns)
        )
        for layer, learn, given, made in zip(self.layers, learns, (width, hidden, hidden), (hidden, hidden, 1)):
            layer[:given, :made] = rng.standard_normal((given, made)) * np.sqrt(2 / given)  # He et al. 2015
            layer[given, made : hidden + 1] = made > 1  # 1 gives 1
            learn[: given + 1, :made] = 1
        self.layers[-1] *= 0.1  # start near T = 0, where the moving average starts
        self.inputs = [np.ones((rows, len(layer)), np.float32) for layer in self.layers]
        self.sums, self.inside = (np.empty((2, rows, padded), kind) for kind in (np.float32, bool))
        self.rate, self.steps = rate, 0

    def values(self, n: int) -> np.ndarray:
        """Return T of the first n rows of `inputs[0]`, keeping what the gradient needs."""
        for i in range(2):
            sums, out = self.sums[i, :n], self.inputs[i + 1][:n]
            np.matmul(self.inputs[i][:n], self.layers[i], out=sums)
            np.clip(sums, 0, 6, out=out)
            np.equal(sums, out, out=self.inside[i, :n])
        return self.inputs[2][:n] @ self.layers[2][:, 0]

    def learn(self, slope: np.ndarray) -> None:
        """Take a step of Adam down the gradient, given the loss's slope in each of the values."""
        n, last = len(slope), self.layers[2][:, 0]
        by_row = slope[:, None]  # taken out of the sums below, so that the upper layer's slopes are 0 and 1
        np.matmul(slope, self.inputs[2][:n], out=self.slopes[2][:, 0])
        below, above = self.sums[:, :n]  # no longer needed: their memory takes the slopes
        np.copyto(above, self.inside[1, :n])
        np.multiply(self.inputs[1][:n], by_row, out=below)
        np.matmul(below.T, above, out=self.slopes[1])
        self.slopes[1] *= last
        np.matmul(above, (self.layers[1] * last).T, out=below)
        np.multiply(below, self.inside[0, :n], out=below)
        np.matmul((self.inputs[0][:n] * by_row).T, below, out=self.slopes[0])
        self._adam()

    def _adam(self) -> None:
        """Kingma & Ba 2015, Algorithm 1, with their constants; moments are sums here, 1 / (1 - decay) times theirs."""
        self.steps += 1
        first, second, spare = self.moments
        self.gradient *= self.learns
        for moment, decay in ((first, 0.9), (second, 0.999)):
            moment *= np.float32(decay)
            moment += self.gradient
            self.gradient *= self.gradient
        unbias = [(1 - decay) / (1 - decay**self.steps) for decay in (0.9, 0.999)]
        np.sqrt(second, out=spare)
        spare += np.float32(1e-8 / np.sqrt(unbias[1]))
        np.divide(first, spare, out=spare)
        spare *= np.float32(self.rate * unbias[0] / np.sqrt(unbias[1]))
        self.weights -= spare


def _blocks(draw: Draw, y: np.ndarray, batch: int, iterations: int, rng: np.random.Generator) -> Iterator[tuple]:
    """Draw batches: z_i, the class of y_i and of y_j, for joint pairs (z_i, y_i) and product pairs (z_i, y_j)."""
    for start in range(0, iterations, BLOCK):
        i, j = rng.integers(0, len(y), (2, min(BLOCK, iterations - start), batch))
        yield from zip(draw(i.ravel(), rng).reshape(*i.shape, -1), y[i], y[j])


def _distinct(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of z and which of them each row is."""
    marks = z @ np.sqrt(np.arange(2, z.shape[1] + 2))  # one number a row: cheap to compare
    _, places, codes = np.unique(marks, return_index=True, return_inverse=True)
    return z[places], codes


def _counted(values_y: np.ndarray, batch: tuple, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write each pair that is possible once into `points`; return the shares of it in joint and product pairs."""
    z, *drawn = batch
    values_z, codes = _distinct(z)
    classes, n = len(values_y), len(values_z) * len(values_y)
    points[:n, : z.shape[1]] = np.repeat(values_z, classes, axis=0)
    points[:n, z.shape[1] : -1] = np.tile(values_y, (len(values_z), 1))
    joint, product = (np.bincount(codes * classes + y, minlength=n) / len(z) for y in drawn)
    return joint.astype(np.float32), product.astype(np.float32)


def _paired(values_y: np.ndarray, batch: tuple, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Write the batch's pairs into `points`; return their weights in the joint and in the product mean.

    Where y_j = y_i, (z_i, y_j) is the same point as (z_i, y_i): it is evaluated once. For a binary S that is every
    second pair or more.
    """
    z, own, other = batch
    apart = np.flatnonzero(own != other)
    b, n, width = len(z), len(z) + len(apart), z.shape[1]
    points[:b, :width], points[:b, width:-1] = z, values_y.take(own, axis=0)  # `take`: a fraction of indexing's time
    points[b:n, :width], points[b:n, width:-1] = z.take(apart, axis=0), values_y.take(other[apart], axis=0)
    joint, product = np.zeros((2, n), np.float32)
    joint[:b] = product[:] = 1 / b
    product[apart] = 0
    return joint, product


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
    critic = _Critic(rng, sample.shape[1] + values_y.shape[1], hidden, 2 * batch, rate)
    trace, average = np.empty(iterations), 1.0
    with threadpool_limits(1, user_api="blas"):  # sums in one order, whatever else runs
        for done, drawn in enumerate(_blocks(draw, y, batch, iterations, rng), start=1):
            joint, product = (_counted if few else _paired)(values_y, drawn, critic.inputs[0])
            values = critic.values(len(joint))
            product *= np.exp(values)
            mean = float(product.sum())
            average += ema * (mean - average)
            trace[done - 1] = joint @ values - np.log(mean)
            if not np.isfinite(trace[done - 1]):
                raise FairprivError(f"MINE left the real numbers in iteration {done}: lower its rate={rate:g}")
            # the gradient of the bound, its biased denominator replaced by the moving average (their Section 3.2)
            critic.learn(product / np.float32(average) - joint)
            if settle and done >= SETTLE_FROM and done % SETTLE_WINDOW == 0 and settled(trace[:done]):
                return trace[:done]
    return trace


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
