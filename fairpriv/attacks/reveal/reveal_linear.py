"""hamman2023, Theorem 1 and Algorithm 1: n models, each the base model with one prediction flipped, reveal everyone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fairpriv import validate
from fairpriv.attacks.reveal.base import Attack, Recovery
from fairpriv.attacks.reveal.recovery.reading import read_signs
from fairpriv.desk import DeskView
from fairpriv.registry import param, register


def flip_matrix(base: np.ndarray, flipped: np.ndarray) -> np.ndarray:
    """Return one model for each flipped person: the base model with that prediction flipped (Algorithm 1, line 4)."""
    h = np.repeat(base[None, :], len(flipped), axis=0)
    h[np.arange(len(flipped)), flipped] = 1.0 - base[flipped]
    return h


def general_solve(base: np.ndarray, flipped: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Solve SP = Hv and 1ᵀv = 0 by dense least squares, O(n³)."""
    rows = np.vstack([flip_matrix(base, flipped), np.ones(len(base))])
    return np.linalg.lstsq(rows, np.append(answers, 0.0), rcond=None)[0]


def flip_solve(base: np.ndarray, flipped: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Solve SP = Hv in O(n): row j of H says a + dⱼvⱼ = SPⱼ with a = bᵀv and d = 1 − 2b (Sherman-Morrison).

    With one person left out, 1ᵀv = 0 (N1 · 1/N1 = N0 · 1/N0) gives that vₗ = −Σvⱼ, hence a = Σ(bⱼ − bₗ)vⱼ. Where the
    structure does not determine v (a prediction of ½, which a flip leaves as it is) the general solve takes over.
    """
    left_out = np.setdiff1d(np.arange(len(base)), flipped)
    d = 1.0 - 2.0 * base[flipped]
    if (d == 0).any():
        return general_solve(base, flipped, answers)
    ratio = (base[flipped] - base[left_out].sum()) / d
    whole = 1.0 + ratio.sum()
    if abs(whole) < 1e-9:
        return general_solve(base, flipped, answers)
    v = np.zeros(len(base))
    v[flipped] = (answers - ratio @ answers / whole) / d
    v[left_out] = -v[flipped].sum()
    return v


@register
@dataclass(frozen=True)
class RevealLinear(Attack):
    """Solve the linear system SP = Hv of n models, one flipped decision each; the sign of vⱼ is person j's group."""

    name: ClassVar[str] = "reveal_linear"
    paper: ClassVar[str] = "hamman2023, Theorem 1, Algorithm 1 and Remark 1"

    spare: bool = param(False, "ask n − 1 models: the last person follows from the others (Remark 1)")
    solver: str = param(
        "structured",
        "O(n) through the structure of H, or dense least squares, the cross-check",
        choices=("structured", "general"),
    )

    def __post_init__(self) -> None:
        validate.choice("spare", self.spare, (False, True))
        validate.choice("solver", self.solver, ("structured", "general"))

    def run(self, view: DeskView, rng: np.random.Generator) -> Recovery:
        """Ask the flipped models (Algorithm 1, lines 2 to 6), solve (line 7) and detect (lines 8 and 9)."""
        n = len(view)
        base = (view.base >= 0.5).astype(float)
        accepted = int(base.sum())
        if accepted == 1:
            base, accepted = 1.0 - base, n - 1  # a base that accepts one person alone makes H singular
        flipped = np.arange(n)
        if self.spare:
            # leaving out an accepted person when all but one of the others are accepted makes H singular too
            last = n - 1 if base[-1] == 0 or n - accepted != 1 else int(np.argmin(base))
            flipped = np.delete(flipped, last)
        answers = view.ask(flip_matrix(base, flipped), "sp")
        v = (flip_solve if self.solver == "structured" else general_solve)(base, flipped, answers)
        return read_signs(n, np.arange(n), v, queries=len(flipped))
