"""Who is who in one game: thirds of a dataset, as in ferry2023, Section IV-B."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from fairpriv.cells import Cell
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.encode import ordinal
from fairpriv.datasets.split import stratified_split
from fairpriv.metrics.leakage import leakage


@dataclass(frozen=True, eq=False)
class People:
    """Three parts of a dataset by their rows.

    Attributes
    ----------
    data : Dataset
    train, test, known : arrays of int
        Those a defense learns from, those it is scored on, and those whose group the adversary knows.
    """

    data: Dataset
    train: np.ndarray
    test: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, cell: Cell, data: Dataset) -> "People":
        """Split a dataset; the same for every attack and defense."""
        return cls(data, *stratified_split(data, [1 / 3] * 3, cell.rng("split", "dataset"), by="both"))

    @cached_property
    def x(self) -> np.ndarray:
        """Return the features as numbers, without the protected attribute."""
        return ordinal(self.data.features)

    def from_x_alone(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Guess groups from the features alone: a forest that learned from the known part. No defense stops it."""
        forest = RandomForestClassifier(
            50, min_samples_leaf=5, class_weight="balanced", random_state=int(rng.integers(2**31)), n_jobs=1
        )
        return forest.fit(self.x[self.known], self.data.group[self.known]).predict(self.x[rows])


def scored(guessed: np.ndarray, from_x: np.ndarray, group: np.ndarray) -> dict[str, float]:
    """Return in percent what a guess gets right, and beside it what X alone tells and what naming the majority would.

    `leakage` is balanced over groups, `recovered` of all, `leakage_0` and `leakage_1` of each group: who is exposed.
    """
    out = {}
    for prefix, said in (("", guessed), ("x_", from_x)):
        right = said == group
        out |= {
            f"{prefix}leakage": leakage(said, group),
            f"{prefix}recovered": 100 * float(right.mean()),
            f"{prefix}leakage_0": 100 * float(right[group == 0].mean()),
            f"{prefix}leakage_1": 100 * float(right[group == 1].mean()),
        }
    return out | {"majority": 100 * float(max(group.mean(), 1 - group.mean())), "people": len(group)}
