"""The pivots of `simplex` on a large problem, sooner: the same ones, or `Doubt` where rounding might choose others.

The first basis B₀ is factorised, not inverted; later B⁻¹ = B₀⁻¹ − leftᵀ·right, where each pivot adds a row to both.
"""

import numpy as np
from scipy.linalg.lapack import dgecon, dgesv, dgetrf, dgetrs, dlange

DOUBT = 1e-9  # what is nearer than this, relative to the entries of t or to a price of 1, might go either way
LEAST_RCOND = 1e-6
LEAST_PIVOT = 1e-5


class Doubt(Exception):
    """Two choices are too near each other to say which one the plain pivots make."""


class Factored:
    """Pivots from basis to basis of Q for one b after the other.

    The large arrays are made once: the system takes longer to give fresh memory than a pivot takes.
    """

    def __init__(self, q: np.ndarray) -> None:
        """Prepare for right-hand sides of Qt = b."""
        m, n = q.shape
        room = np.empty((n + 4 * m, m))
        self._all, self._square, self._likely, self._left, self._right = np.split(
            room, [n, n + m, n + 2 * m, n + 3 * m]
        )
        self._all[:] = q.T

    def start(self, b: np.ndarray, basis: np.ndarray, likely: np.ndarray) -> None:
        """Factorise a basis; the likely columns are those that may come in."""
        self._b, self.basis, self.made = b, basis.copy(), 0
        square = self._of_basis()
        norm = dlange("1", square)
        self._factor, self._swaps, singular = dgetrf(square, overwrite_a=True)
        if singular or dgecon(self._factor, norm)[0] < LEAST_RCOND:
            raise Doubt
        self._others = likely[np.isin(likely, basis, invert=True, kind="table")]
        if len(self._others) > len(self._likely):
            self._likely = np.empty((len(self._others), len(b)))
        self._columns = self._all.take(self._others, axis=0, out=self._likely[: len(self._others)], mode="clip")
        self._t = self._forward(b)
        self._sure_of_signs()
        self._sign = np.where(self._t < 0, -1.0, 1.0)

    def _of_basis(self) -> np.ndarray:
        return self._all.take(self.basis, axis=0, out=self._square, mode="clip").T

    def _forward(self, column: np.ndarray) -> np.ndarray:
        """Return B⁻¹ times a column."""
        left, right = self._left[: self.made], self._right[: self.made]
        return dgetrs(self._factor, self._swaps, column)[0] - (right @ column) @ left

    def _backward(self, row: np.ndarray) -> np.ndarray:
        """Return a row times B⁻¹."""
        left, right = self._left[: self.made], self._right[: self.made]
        return dgetrs(self._factor, self._swaps, row, trans=1)[0] - (left @ row) @ right

    def _sure_of_signs(self) -> None:
        size = np.abs(self._t)
        if size.min() <= DOUBT * size.max():
            raise Doubt

    def optimise(self, pivots: int) -> bool:
        """Pivot until the likely columns price out, and say whether so many pivots do (at most one an equation)."""
        y = self._backward(self._sign)
        while self.made < pivots:
            price = self._columns @ y
            size = np.abs(price)
            entering = int(size.argmax())
            gain, size[entering] = size[entering] - 1.0, 0.0
            if gain < -DOUBT:
                return True
            if gain <= DOUBT or size.max() >= 1.0 + gain - DOUBT:
                raise Doubt
            y += self._pivot(entering, price[entering], gain)
        return False

    def _pivot(self, entering: int, price: float, gain: float) -> np.ndarray:
        """Bring a column in and return by how much y changes."""
        direction = np.sign(price)
        column = self._forward(self._columns[entering])
        leaving, passed, length = self._ratios(direction * column, gain)
        self._t -= direction * length * column
        self._t[leaving] = direction * length
        self._sure_of_signs()
        place = np.zeros(len(column))
        place[leaving] = 1.0
        row = self._backward(place) / column[leaving]
        change = 0.0
        if passed:
            turned = np.zeros(len(column))
            turned[passed] = -2.0 * self._sign[passed]
            self._sign += turned
            change = self._backward(turned)
            price += turned @ column
        self._sign[leaving] = direction
        self._left[self.made], self._right[self.made] = column - place, row
        self.made += 1
        self._others[entering], self.basis[leaving] = self.basis[leaving], self._others[entering]
        self._columns[entering] = self._all[self._others[entering]]
        return change + (direction - price) * row

    def _ratios(self, slope: np.ndarray, gain: float) -> tuple[int, list[int], float]:
        """Return which entry of t leaves at 0, which ones change their sign before, and how far it is."""
        reach, passed = slope / self._t, []
        while True:
            at = int(reach.argmax())
            size = abs(slope[at])
            if reach[at] <= 0 or size <= LEAST_PIVOT or abs(2.0 * size - gain) <= DOUBT:
                raise Doubt
            if 2.0 * size > gain:
                return at, passed, 1.0 / reach[at]
            gain -= 2.0 * size
            passed.append(at)
            reach[at] = 0.0

    def solution(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the entries of t in the basis and the prices of all columns, both from the basis' own factors."""
        factor, swaps, t, _ = dgesv(self._of_basis(), self._b, overwrite_a=True)
        if np.abs(t - self._t).max() > DOUBT * np.abs(t).max():
            raise Doubt
        price = self._all @ dgetrs(factor, swaps, self._sign, trans=1)[0]
        price[self.basis] = 0.0
        return t, price
