"""Lower bounds on epsilon from outputs alone: an event chosen on one half of them, its two probabilities on the other.

Whatever the scores that choose the event, the bound holds: P(E) - delta <= e^epsilon Q(E) for every event E. Clopper
and Pearson's intervals bound P from below and Q from above on outputs the choice has not seen. No bound can exceed the
logarithm of the number of outputs or so.
"""

import numpy as np
from scipy.special import betaincinv


def clopper_pearson(successes: np.ndarray, trials: int, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds on a probability, each wrong with probability at most `error`."""
    k = np.asarray(successes, dtype=float)
    lower = np.where(k > 0, betaincinv(np.maximum(k, 1), trials - k + 1, error), 0.0)
    upper = np.where(k < trials, betaincinv(k + 1, np.maximum(trials - k, 1), 1 - error), 1.0)
    return lower, upper


def _bounds(scores: tuple[np.ndarray, np.ndarray], cuts: np.ndarray, error: float, delta: float) -> np.ndarray:
    """Return lower bounds on epsilon from the events {score >= cut} under the one and the other."""
    counts = [len(s) - np.searchsorted(np.sort(s), cuts, side="left") for s in scores]
    p = clopper_pearson(counts[0], len(scores[0]), error / 2)[0]
    q = clopper_pearson(counts[1], len(scores[1]), error / 2)[1]
    return np.log(np.maximum(p - delta, 1e-300) / q)


def _halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return x[: len(x) // 2], x[len(x) // 2 :]


def by_scores(one: np.ndarray, two: np.ndarray, error: float, delta: float = 0.0) -> float:
    """Return a lower bound on epsilon, >= 0, wrong with probability at most `error`.

    `one` and `two` are scores of outputs on neighbours, large where the first is likelier; either may be the likelier.
    """
    one, two = np.nan_to_num(one), np.nan_to_num(two)
    (a, a_tested), (b, b_tested) = _halves(one), _halves(two)
    options = []
    for sign, chosen, tested in ((1, (a, b), (a_tested, b_tested)), (-1, (b, a), (b_tested, a_tested))):
        chosen, tested = (tuple(sign * s for s in pair) for pair in (chosen, tested))
        cuts = np.quantile(np.concatenate(chosen), np.linspace(0, 1, 401), method="lower")
        bounds = _bounds(chosen, cuts, error, delta)
        options.append((bounds.max(), tested, cuts[[bounds.argmax()]]))
    _, tested, cut = max(options, key=lambda option: option[0])
    return max(0.0, float(_bounds(tested, cut, error, delta)[0]))


def by_patterns(one: np.ndarray, two: np.ndarray, error: float, delta: float = 0.0) -> float:
    """Return the same from reports that are rows of few kinds; the first halves say which kinds to look at."""
    _, kind = np.unique(np.concatenate([one, two]), axis=0, return_inverse=True)
    kinds = kind.ravel()[: len(one)], kind.ravel()[len(one) :]
    counts = [np.bincount(_halves(k)[0], minlength=kind.max() + 1) + 0.5 for k in kinds]
    score = np.log(counts[0] / counts[1])
    return by_scores(score[kinds[0]], score[kinds[1]], error, delta)


def on_grid(x: np.ndarray, grid: float) -> bool:
    """Tell whether outputs are multiples of a public grid; where not, a proof over the reals is not about them."""
    return bool((np.round(x / grid) * grid == x).all())


def low_bits(x: np.ndarray) -> np.ndarray:
    """Return how many of a float's last bits are zero: noise added in floats leaves marks there (Mironov 2012)."""
    digits = np.abs(np.frexp(np.asarray(x, dtype=float))[0] * 2.0**53).astype(np.int64)
    return np.where(digits > 0, np.log2(np.maximum(digits & -digits, 1)), 53.0)


def by_low_bits(one: np.ndarray, two: np.ndarray, error: float, delta: float = 0.0) -> float:
    """Return the lower bound on epsilon that the last bits of real outputs (rows) give.

    The first halves say in which columns they are zero more often for the one, and in which for the other.
    """
    bits = [low_bits(x).reshape(len(x), -1) for x in (one, two)]
    sign = np.sign(_halves(bits[0])[0].mean(axis=0) - _halves(bits[1])[0].mean(axis=0))
    return by_scores(*(b @ sign for b in bits), error, delta)
