"""Which groups are held against which: the advantaged against others, each value against the rest, intersections."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from fairpriv.assessment.small import SMALL, Told, crossing, told

BETWEEN = " × "  # the attributes of an intersection


@dataclass(frozen=True, eq=False)
class Comparison:
    """Group 0 (the one looked at) against group 1 (the reference); `kind` is main, value or intersection."""

    attribute: str
    kind: str
    looked_at: str
    reference: str
    group: np.ndarray

    @property
    def name(self) -> str:
        """Return the comparison in words."""
        return f"{self.attribute}: {self.looked_at} against {self.reference}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes it is about."""
        return tuple(self.attribute.split(BETWEEN)) if self.kind == "intersection" else (self.attribute,)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the sizes of both groups."""
        return int((self.group == 0).sum()), int((self.group == 1).sum())


def comparisons(attributes: pd.DataFrame, privileged: Sequence[str]) -> tuple[list[Comparison], list[str], Told]:
    """Return the comparisons, the main one of the first attribute first, notes on groups left out, what may be told."""
    found, notes = [], []
    for attribute in attributes:
        found += _of_attribute(attribute, attributes[attribute], privileged)
    mains = [c for c in found if c.kind == "main"]
    found = mains + [c for c in found if c.kind != "main"]
    may = told(attributes, [c.group for c in mains if min(c.sizes) >= SMALL])
    for several in range(2, len(attributes.columns) + 1):
        for names in combinations(attributes, several):
            crossed = crossing(attributes, names)
            for value in crossed.cat.categories:
                inside = (crossed == value).to_numpy()
                title = BETWEEN.join(names)
                found.append(Comparison(title, "intersection", value, "the rest", (~inside).astype(np.int8)))
    kept = [c for c in found if min(c.sizes) >= SMALL and (c.kind == "main" or may.tells(c.names, c.looked_at))]
    if dropped := len(found) - len(kept):
        notes.append(
            f"{dropped} comparisons are not shown: of groups with fewer than {SMALL} people, or of such as would tell "
            "of those by subtraction"
        )
    return kept, notes, may


def _of_attribute(attribute: str, column: pd.Series, privileged: Sequence[str]) -> list[Comparison]:
    """Return the main comparison of an attribute and, where it has more than two values, each against the rest."""
    counts = column.value_counts()
    values = sorted(counts.index, key=lambda v: (-counts[v], str(v)))
    chosen = [v for v in values if v in set(privileged)] or values[:1]
    others = [v for v in values if v not in chosen]
    if not others:
        chosen, others = values[:1], values[1:]
    group = column.isin(chosen).to_numpy().astype(np.int8)
    looked_at = others[0] if len(others) == 1 else "the rest"
    found = [Comparison(attribute, "main", looked_at, " or ".join(chosen), group)]
    if len(values) > 2:
        found += [
            Comparison(attribute, "value", value, "the rest", (column != value).to_numpy().astype(np.int8))
            for value in values
        ]
    return found
