"""Equality of odds between groups: gaps in true and false positive rates, for one attribute and for intersections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairpriv.errors import BadRequest


@dataclass(frozen=True)
class Odds:
    """Rates of group 0 (disadvantaged) minus those of group 1."""

    tpr: float
    fpr: float

    @property
    def average(self) -> float:
        """Return the signed average odds difference (AIF360's): the reading of the tables of maad2023."""
        return (self.tpr + self.fpr) / 2

    @property
    def norm(self) -> float:
        """Return √(ΔTPR² + ΔFPR²) (maad2023, equation (3))."""
        return float(np.hypot(self.tpr, self.fpr))


def rates(predicted: np.ndarray, label: np.ndarray) -> tuple[float, float]:
    """Return (TPR, FPR); NaN where no one has the label."""
    return tuple(float(predicted[label == y].mean()) if (label == y).any() else float("nan") for y in (1, 0))


def odds(predicted: np.ndarray, label: np.ndarray, group: np.ndarray, what: str = "the attribute") -> Odds:
    """Return the differences between both groups; a group without anyone of either label is refused."""
    found = {}
    for g in (0, 1):
        inside = group == g
        for y in (0, 1):
            if not (inside & (label == y)).any():
                raise BadRequest(f"no one with label {y} in group {g} of {what}: rates cannot be compared")
        found[g] = rates(predicted[inside], label[inside])
    return Odds(found[0][0] - found[1][0], found[0][1] - found[1][1])


def intersections(groups: Mapping[str, np.ndarray], names: Sequence[str] | None = None) -> np.ndarray:
    """Return for each person the number of their intersectional group (of 2^k for k binary attributes)."""
    names = list(groups) if names is None else list(names)
    return sum((np.asarray(groups[name], int) << i for i, name in enumerate(names)), np.zeros(1, int))


def intersectional(predicted: np.ndarray, label: np.ndarray, groups: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return the largest gaps between any two intersectional groups (groups without a label are left out).

    `norm` is equation (3) of the worst pair.
    """
    cells = intersections(groups)
    found = [rates(predicted[cells == c], label[cells == c]) for c in np.unique(cells)]
    table = np.array([pair for pair in found if not np.isnan(pair).any()])
    if len(table) < 2:
        raise BadRequest("fewer than two intersectional groups hold both labels: rates cannot be compared")
    difference = np.abs(table[:, None, :] - table[None, :, :])
    return {
        "tpr": float(difference[..., 0].max()),
        "fpr": float(difference[..., 1].max()),
        "norm": float(np.hypot(difference[..., 0], difference[..., 1]).max()),
        "groups": len(table),
    }
