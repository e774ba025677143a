r"""What to measure so that m linear answers H·v come out with the least noise (matrix mechanism, Li et al. 2010).

v holds 1/N1 for members of group 1 and -1/N0 for those of group 0; H (m models, n people) is public, and so are N0 and
N1. Neighbours are *swaps*: two people j, k of different groups change places, and v moves by U (e_j - e_k) with
U = 1/N0 + 1/N1. A strategy is a matrix A with H = B·A: measured is A·v with Laplace noise, answered B times that.

Noise of scale b_r on row r is epsilon-DP over swaps if   U Σ_r |A_rj - A_rk| / b_r <= epsilon   for all j, k.   (1)

Since v adds to zero, a constant can be added to any row of H or A for nothing; B·A = H is meant up to that. The answers
are unbiased, with variance Σ_r 2 b_r² B_ir². A, B and b in units of U / epsilon come from H alone, so choosing among
strategies costs no privacy, and one choice serves every epsilon.

rows          A = H: noise on the answers themselves.
deviations    A = [mean row; H - mean row]: models that are variants of one another share what they have in common.
people        A = I: noise on everybody's own entry. The error does not grow with m.
base_people   A = [mean row; I], B by generalised least squares: `people`, with a better look at what models share.
low_rank      A = the right singular vectors of H, where its rank is low.
convex        rows and scales of all of these together, for few people: given B, the scales are the optimum of a convex
              program, min Σ_r c_r b_r² over (1), c_r = Σ_i B_ir²; given the scales, B is that of least squares.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.spatial.distance import pdist

SMALL = 128  # people, up to which the convex program pays
LARGE = 2_000_000_000  # additions, from which on (1) is bounded instead of worked out


@dataclass(frozen=True, eq=False)
class Strategy:
    """A (None: the identity), the scales of its rows in units of U / epsilon, and B, as parts whose answers add up."""

    name: str
    parts: tuple[tuple[np.ndarray | None, np.ndarray, np.ndarray], ...]

    @property
    def variances(self) -> np.ndarray:
        """Return the variance of each answer."""
        return sum(2 * back**2 @ scales**2 for _, scales, back in self.parts)

    @property
    def error(self) -> float:
        """Return the root of the mean variance of the answers."""
        return float(np.sqrt(self.variances.mean()))

    @property
    def reach(self) -> float:
        """Return Σ_r max_j |A_rj| / scale_r, over rows that are sums."""
        parts = [(np.abs(rows).max(axis=1), scales) for rows, scales, _ in self.parts if rows is not None]
        return float(sum((largest[scales > 0] / scales[scales > 0]).sum() for largest, scales in parts))


def middled(rows: np.ndarray) -> np.ndarray:
    """Return rows less the middle of their range: entries are then as small as (1) lets them be."""
    return rows - (rows.max(axis=1, keepdims=True) + rows.min(axis=1, keepdims=True)) / 2


def sensitivity(rows: np.ndarray) -> float:
    """Return max_{j,k} Σ_r |A_rj - A_rk|, or, where that takes long, twice the largest distance from the middle."""
    p, n = rows.shape
    if p == 1:
        return float(np.ptp(rows))
    if p * n * n <= LARGE:
        largest = float(pdist(rows.T, "cityblock").max(initial=0.0))
    else:
        largest = 2 * float(np.abs(middled(rows)).sum(axis=0).max())
    return largest * (1 + p * 2.0**-51)  # rounding of the sum


def candidates(h: np.ndarray) -> list[Strategy]:
    """Return the strategies in closed form that fit H."""
    h = h - h.mean(axis=1, keepdims=True)
    base = h.mean(axis=0, keepdims=True)
    found = [_direct("rows", h, np.eye(len(h))), Strategy("people", ((None, np.full(h.shape[1], 2.0), h),))]
    if len(h) > 1 and np.ptp(base) > 0:
        found += [deviations(h, base), base_people(h, base)]
    return found + _low_rank(h)


def choose(h: np.ndarray) -> Strategy:
    """Return the strategy with the least error for H; the last few are remembered."""
    h = np.ascontiguousarray(h, dtype=float)
    return _choose(h.tobytes(), h.shape)


@lru_cache(maxsize=4)
def _choose(content: bytes, shape: tuple[int, int]) -> Strategy:
    h = np.frombuffer(content).reshape(shape)
    best = min(candidates(h), key=lambda s: s.error)
    if len(h) > 1 and h.shape[1] <= SMALL and best.name != "rows":
        from fairpriv.mechanisms.convex_strategy import convex

        best = min([best, convex(h)], key=lambda s: s.error)
    return best


def _direct(name: str, rows: np.ndarray, back: np.ndarray) -> Strategy:
    """Measure rows with one scale for all."""
    return Strategy(name, ((middled(rows), np.full(len(rows), sensitivity(rows)), back),))


def deviations(h: np.ndarray, base: np.ndarray) -> Strategy:
    """Split the budget so that a/x² + b/(1 - x)² is least: x in proportion to cube roots."""
    rest = h - base
    wide, far = float(np.ptp(base)), sensitivity(rest)
    first = np.cbrt(wide**2) / (np.cbrt(wide**2) + np.cbrt(far**2))
    ones, own = np.ones((len(h), 1)), np.eye(len(h))
    if far == 0:
        return Strategy("deviations", ((middled(base), np.array([wide]), ones),))
    return Strategy(
        "deviations",
        (
            (middled(base), np.array([wide / first]), ones),
            (middled(rest), np.full(len(rest), far / (1 - first)), own),
        ),
    )


def base_people(h: np.ndarray, base: np.ndarray) -> Strategy:
    """Measure the mean row with a share of the budget and everybody with the rest: the best of 49 shares.

    With variances 2b² (mean row a·v) and 2c² (people), least squares give v̂ = y + c² a (z - a·y) / (c² a·a + b²).
    """
    a, wide = base[0], float(np.ptp(base))
    along, square = h @ a, float(a @ a)
    best = np.inf
    for x in np.linspace(0.02, 0.98, 49):
        b, c = wide / x, 2 / (1 - x)
        gain = c**2 * along / (c**2 * square + b**2)
        error = (b**2 * gain**2 + c**2 * ((h**2).sum(axis=1) - 2 * gain * along + gain**2 * square)).mean()
        if error < best:
            best, chosen = error, (b, c, gain)
    b, c, gain = chosen
    return Strategy(
        "base_people",
        (
            (middled(base), np.array([b]), gain[:, None]),
            (None, np.full(h.shape[1], c), h - np.outer(gain, a)),
        ),
    )


def _low_rank(h: np.ndarray) -> list[Strategy]:
    """Measure an orthonormal basis of H's rows, where it has fewer than H has."""
    if min(h.shape) > 512:  # many models of low rank are rare, and the decomposition is slow
        return []
    left, s, right = np.linalg.svd(h, full_matrices=False)
    rank = int((s > 1e-10 * s[0]).sum())
    if not 0 < rank < len(h):
        return []
    return [_direct("low_rank", right[:rank], left[:, :rank] * s[:rank])]
