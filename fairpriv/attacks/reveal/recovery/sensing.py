"""The sensing matrix H: its factorisations, made once and shared by every decoder and right-hand side."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

STRIP = 256  # columns of H turned into the other memory order at a time, in memory that stays at hand
BLOCK = 8  # right-hand sides solved together; every matrix product has this width, whatever the number of columns


def by_blocks(solve: Callable[..., np.ndarray], *columns: np.ndarray) -> np.ndarray:
    """Apply a solver of `BLOCK` columns to any number of them, the last block padded with zeros.

    BLAS picks its kernel, and with it the order of additions, from the shape of a product. With one fixed width a
    column's result has the same bytes whichever columns it is solved with.
    """
    count = columns[0].shape[-1]
    out = []
    for start in range(0, count, BLOCK):
        width = min(BLOCK, count - start)
        parts = [np.ascontiguousarray(c[..., start : start + BLOCK]) for c in columns]
        if width < BLOCK:
            parts = [np.concatenate([p, np.zeros((*p.shape[:-1], BLOCK - width))], axis=-1) for p in parts]
        out.append(solve(*parts)[:, :width])
    return np.concatenate(out, axis=1)


class Sensing:
    """A prediction matrix H (m models × n people), with the factorisations decoders need, computed on first use."""

    def __init__(self, h: np.ndarray) -> None:
        self.h = np.ascontiguousarray(h, dtype=float)

    @property
    def n(self) -> int:
        """Number of people."""
        return self.h.shape[1]

    @property
    def rank(self) -> int:
        """Numerical rank of H."""
        return len(self._rows[1])

    @property
    def q(self) -> np.ndarray:
        """Orthonormal rows (rank × n) that span the rows of H."""
        return self._rows[1]

    @cached_property
    def _rows(self) -> tuple[np.ndarray | None, np.ndarray]:
        """Return (L, Q) with H = LQ, L lower triangular; L is None where only the SVD is accurate enough."""
        m, n = self.h.shape
        if m < n:
            lower, q = None, self.h
            for _ in range(2):  # Cholesky-QR, and once more when H is ill conditioned
                try:
                    factor = cholesky(q @ q.T, lower=True, check_finite=False)
                except LinAlgError:
                    break
                q = _solve(factor, q)
                lower = factor if lower is None else lower @ factor
                if _orthonormal(q):
                    return lower, q
        return None, self._svd[2]

    @cached_property
    def _svd(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        u, s, vt = svd(self.h, full_matrices=False, check_finite=False, lapack_driver="gesvd")
        keep = s > s[0] * max(self.h.shape) * np.finfo(float).eps if s[0] > 0 else s < 0
        return u[:, keep], s[keep], np.ascontiguousarray(vt[keep])

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The thin singular value decomposition H = U diag(s) Vᵀ, null directions left out."""
        lower, q = self._rows
        if lower is None:
            return self._svd
        u, s, wt = svd(lower, check_finite=False)
        return u, s, np.ascontiguousarray(wt @ q)

    def coordinates(self, eta: np.ndarray) -> np.ndarray:
        """Return b such that Qt = b are the solutions (least-squares ones if there is none) of Ht = η."""
        lower, _ = self._rows
        if lower is not None:
            return solve_triangular(lower, eta, lower=True, check_finite=False)
        u, s, _ = self._svd
        return (u.T @ eta) / s[:, None]


def _solve(factor: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return L⁻¹ rows, strip by strip: LAPACK wants the other memory order, and a strip is turned in cache."""
    out = np.empty_like(rows)
    for start in range(0, rows.shape[1], STRIP):
        strip = slice(start, start + STRIP)
        out[:, strip] = solve_triangular(factor, rows[:, strip], lower=True, check_finite=False)
    return out


def _orthonormal(q: np.ndarray, tolerance: float = 1e-12) -> bool:
    """Probe QQᵀ = I on a few vectors, for the price of two thin products."""
    probe = np.cos(np.outer(np.arange(len(q)), np.arange(1, 5)) + 0.5)
    error = np.abs(q @ (q.T @ probe) - probe).max()
    return bool(error <= tolerance * len(q))
