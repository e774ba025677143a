"""What the learner of arcolezi2023 sees: attributes one-hot over their domains, sensitive ones as their reports."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd

from fairpriv.datasets.base import Dataset
from fairpriv.errors import BadRequest

SENSITIVE = ("table2", "random")
# Table 2; and Appendix A: those drawn from beside the protected attribute, in the authors' order (their code).
TABLE2 = {
    "adult_reconstructed": ("gender", "race", "native-country", "age"),
    "acs_public_coverage": ("DIS", "AGEP", "SEX", "SCHL"),
    "lsac": ("race1", "fam_inc", "gender", "fulltime"),
}
POOL = {
    "adult_reconstructed": ("race", "native-country", "age", "hours-per-week", "education"),
    "acs_public_coverage": ("AGEP", "SEX", "SCHL", "RAC1P", "NATIVITY"),
    "lsac": ("fam_inc", "gender", "fulltime", "lsat", "ugpa"),
}
MOST_VALUES = 256  # a number with more distinct values is not discrete: it stays a number, and cannot be sensitive


def sensitive_attributes(data: Dataset, which: str, seed: int) -> tuple[str, ...]:
    """Return the attributes to collect: those of Table 2, or the protected one and 1 to 5 others at random.

    The draw is the authors' own, from their generator and seed, so that results can be compared seed by seed.
    """
    if which == "table2":
        return tuple(dict.fromkeys((data.protected, *TABLE2.get(data.name, tuple(data.sensitive)))))
    discrete = [c for c in data.features if data.features[c].nunique() <= MOST_VALUES][:5]
    pool = [c for c in POOL.get(data.name, discrete) if c in data.features]
    if not pool:
        raise BadRequest(f"sensitive=random needs discrete features beside {data.protected}; {data.name} has none")
    legacy = np.random.RandomState(seed)
    number = legacy.randint(1, len(pool) + 1)
    return (data.protected, *map(str, legacy.choice(pool, size=number, replace=False)))


def check_discrete(data: Dataset, attribute: str) -> None:
    """Refuse an attribute that the features lack, or a number of too many values."""
    if attribute not in data.features:
        raise BadRequest(f"sensitive attribute {attribute} is not a column of {data.name} here")
    column = data.features[attribute]
    if not isinstance(column.dtype, pd.CategoricalDtype) and (k := column.nunique()) > MOST_VALUES:
        raise BadRequest(f"sensitive attribute {attribute} has {k} values: make it discrete (<= {MOST_VALUES})")


def _codes(column: pd.Series) -> tuple[np.ndarray, int]:
    """Return codes 0 .. k-1 over the domain, and k."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(np.intp), len(column.cat.categories)
    values, codes = np.unique(column.to_numpy(), return_inverse=True)
    return codes, len(values)


@dataclass(frozen=True, eq=False)
class OneHotTable:
    """A matrix with a block of columns an attribute; an attribute of k values has k columns (a number has one)."""

    matrix: np.ndarray
    columns: Mapping[str, slice]
    coded: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, data: Dataset, sensitive: Iterable[str]) -> Self:
        """Encode a dataset, the protected attribute first; domains are those of the whole table."""
        own = {data.protected: data.sensitive[data.protected]} | {c: data.features[c] for c in data.features}
        for attribute in sensitive:
            if attribute not in own:
                raise BadRequest(f"sensitive attribute {attribute} is not a column of {data.name} here")
        blocks, columns, coded, at = [], {}, {}, 0
        for name, column in own.items():
            codes, k = _codes(column)
            if k > MOST_VALUES and not isinstance(column.dtype, pd.CategoricalDtype):
                if name in sensitive:
                    raise BadRequest(f"sensitive attribute {name} has {k} values: make it discrete (<= {MOST_VALUES})")
                blocks.append(column.to_numpy(np.float32)[:, None])
            else:
                blocks.append(codes[:, None] == np.arange(k))
                coded[name] = codes
            columns[name] = slice(at, at + blocks[-1].shape[1])
            at = columns[name].stop
        return cls(np.hstack(blocks, dtype=np.float32), columns, coded)

    def take(self, rows: np.ndarray) -> Self:
        """Return these rows, as a table of its own."""
        return type(self)(self.matrix[rows], self.columns, {name: codes[rows] for name, codes in self.coded.items()})

    def codes(self, attributes: Iterable[str]) -> dict[str, np.ndarray]:
        """Return the codes of attributes."""
        return {a: self.coded[a] for a in attributes}

    def sizes(self, attributes: Iterable[str]) -> dict[str, int]:
        """Return the domain sizes of attributes."""
        return {a: self.columns[a].stop - self.columns[a].start for a in attributes}

    def replace(self, reports: Mapping[str, np.ndarray]) -> None:
        """Write reports over the blocks of their attributes."""
        for attribute, block in reports.items():
            self.matrix[:, self.columns[attribute]] = block

    @property
    def frame(self) -> pd.DataFrame:
        """Return the matrix as a frame (a view)."""
        return pd.DataFrame(self.matrix, copy=False)
