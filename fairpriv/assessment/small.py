"""Which categories a table may tell of: none of few people, and none that would tell of such by subtraction.

A table of counts (or of people selected) is a set of sums over the cells of the finest table. What is left out follows
from what is told if it is a combination of its rows: then the smallest row of that combination is left out as well, and
so on (complementary suppression). Sums are looked at, not bounds: that a count is no less than 0 may tell more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

SMALL = 5  # people: smaller groups are named and counted nowhere
MOST_CELLS = 300  # of the finest table; of finer ones only the single attributes are told
Category = tuple[tuple[str, ...], str]  # attributes, and the combination of their values


@dataclass(frozen=True)
class Told:
    """The categories that may be told, of how many; and how many small ones subtraction would have told."""

    categories: frozenset[Category]
    of: int
    small: int
    subtracted: int

    def tells(self, names: Sequence[str], value: str) -> bool:
        """Tell whether a category may be told."""
        return (tuple(names), str(value)) in self.categories


def crossing(attributes: pd.DataFrame, names: Sequence[str]) -> pd.Series:
    """Return each person's combination of values, as a categorical of those that occur."""
    texts = attributes[names[0]].astype(str)
    for name in names[1:]:
        texts = texts + " & " + attributes[name].astype(str)
    return texts.astype("category")


def told(attributes: pd.DataFrame, unions: Sequence[np.ndarray] = ()) -> Told:
    """Choose the categories that may be told, of single attributes and of all combinations of attributes.

    `unions` are groups of people made of cells (masks), which are told in any case.
    """
    names = list(attributes)
    cells = crossing(attributes, names)
    most = len(names) if len(cells.cat.categories) <= MOST_CELLS else 1
    keys: list[Category] = []
    parts: list[np.ndarray] = []  # a row a category: whether a cell is in it
    tables: list[int] = []  # which table a category is in
    first = cells.cat.codes.to_numpy()
    rows = np.unique(first, return_index=True)[1]  # somebody of each cell
    for table, chosen in enumerate(c for k in range(1, most + 1) for c in combinations(names, k)):
        values = crossing(attributes, chosen)
        of_cell = values.cat.codes.to_numpy()[rows]
        for code, value in enumerate(values.cat.categories):
            keys.append((chosen, str(value)))
            parts.append(of_cell == code)
            tables.append(table)
    member = np.array(parts, dtype=float)
    sizes = member @ np.bincount(first)
    hidden = sizes < SMALL
    known = np.array([np.ones(len(rows)), *(np.asarray(union)[rows] for union in unions)], dtype=float)
    shown, subtracted = _without_subtraction(member, sizes, hidden, np.array(tables), known)
    kept = frozenset(key for key, keep in zip(keys, shown) if keep)
    return Told(kept, len(keys), int(hidden.sum()), subtracted)


def _without_subtraction(
    member: np.ndarray, sizes: np.ndarray, hidden: np.ndarray, tables: np.ndarray, always: np.ndarray
) -> tuple[np.ndarray, int]:
    """Return which categories stay when no small one follows from them and what is always known; how many did first."""
    shown, subtracted = ~hidden, None
    while True:
        small = [*member[hidden], *_pools(member, sizes, shown, tables)]
        known = np.vstack([member[shown], always])
        if not small:
            return shown, subtracted or 0
        wanted = np.array(small)
        found, *_ = np.linalg.lstsq(known.T, wanted.T, rcond=None)
        follows = np.abs(known.T @ found - wanted.T).max(axis=0) < 1e-6
        subtracted = int(follows[: hidden.sum()].sum()) if subtracted is None else subtracted
        at = np.flatnonzero(shown)
        used = [at[np.abs(weights[: len(at)]) > 1e-6] for weights in found.T[follows]]
        leave = {int(who[np.argmin(sizes[who])]) for who in used if len(who)}
        if not leave:
            return shown, subtracted
        shown = shown.copy()
        shown[list(leave)] = False


def _pools(member: np.ndarray, sizes: np.ndarray, shown: np.ndarray, tables: np.ndarray) -> list[np.ndarray]:
    """Return, for each table, what it leaves out together, where that is few people: the total tells it."""
    pools = []
    for table in np.unique(tables):
        out = (tables == table) & ~shown
        if 0 < sizes[out].sum() < SMALL and ((tables == table) & shown).any():
            pools.append(member[out].sum(axis=0))
    return pools
