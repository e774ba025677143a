"""High School Longitudinal Study 2009: xie2024's own file where it is at hand, else an imputed stand-in."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.base import Loader, Table, categories, check_rows
from fairpriv.datasets.sources import Source, data_dir, fetch, file_sum
from fairpriv.errors import DataUnavailable
from fairpriv.registry import param, register

SCORE = "X1TXMTSCOR"
CATEGORICAL = ("X1SEX", "X1RACE", "X1CONTROL", "X1LOCALE", "X1REGION", "S1M8GRADE")
# The score is the label; dropping out came years after the test; the rest is bookkeeping.
UNUSED = (SCORE, "X4EVERDROP", "na_prop", "STU_ID")

# hsls_knn_impute.pkl of the repository HsiangHsu/Fair-Projection, saved as CSV by whoever trusts it: we load no pickle.
PREPARED = "hsls/hsls_knn_impute.csv"
HINT = f"bring xie2024's own: hsls_knn_impute.pkl of HsiangHsu/Fair-Projection, as CSV, at $FAIRPRIV_DATA/{PREPARED}"
RACES = {7: "White, non-Hispanic", 1: "Asian, non-Hispanic"}  # of studentrace * 7


@register
@dataclass(frozen=True, kw_only=True)
class Hsls(Loader):
    """HSLS:09: mathematics grade, or score, above the median.

    $FAIRPRIV_DATA/hsls/hsls_knn_impute.csv, if it is there: the preparation of xie2024 (10,156 + 4,353 students, split
    at random). Else a stand-in of 17,332 students; the Dataset's notes say so.
    """

    name: ClassVar[str] = "hsls"
    favourable: ClassVar[str] = "mathematics score above the median"
    files: ClassVar[tuple[Source, ...]] = (
        Source(
            "hsls",
            "hsls/hsls_imputed_train.csv",
            "6b06d710583d104a729fcaa0a78570f3cade2ad810faa21ea0e482c1b9b0e308",
            hint=HINT,
        ),
        Source(
            "hsls",
            "hsls/hsls_imputed_test.csv",
            "968cb97077d3ca6f49ad7269d2d8870cc8c1f405f37200e46390e195b240e4b2",
            hint=HINT,
        ),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("X1RACE", "X1SEX")
    advantaged: ClassVar = {
        "X1RACE": ("White, non-Hispanic", "Asian, non-Hispanic"),  # as Alghamdi et al. (2022)
        "X1SEX": ("0",),
    }

    protected: str = param("X1RACE", "group 1: White and Asian, 0")

    def _prepared(self) -> Path | None:
        """Return xie2024's own file, where it is at hand."""
        folder = data_dir()
        return folder / PREPARED if folder is not None and (folder / PREPARED).is_file() else None

    def sums(self) -> str:
        """Return the sum of the files that are read."""
        path = self._prepared()
        return super().sums() if path is None else file_sum(path)

    def read(self) -> Table:
        """Read xie2024's own file, or both parts of the stand-in, the training part first."""
        if (path := self._prepared()) is not None:
            return _read_prepared(path)
        parts = [pd.read_csv(fetch(source)) for source in self.files]
        for source, part, rows in zip(self.files, parts, (13_865, 3_467)):
            check_rows(self.name, source.name, len(part), rows)
        frame = categories(pd.concat(parts, ignore_index=True), CATEGORICAL)
        label = (frame[SCORE] > parts[0][SCORE].median()).to_numpy()
        train = np.arange(len(frame)) < len(parts[0])
        notes = ("HSLS is an imputed stand-in (13,865 + 3,467 students, 26 features), not xie2024's preparation",)
        return Table(frame.drop(columns=list(UNUSED)), label, train, notes)


def _read_prepared(path: Path) -> Table:
    """Read the table of Alghamdi et al. (2022): rows without missing entries, the 12th grade left out."""
    frame = pd.read_csv(path)
    needed = ("grade9thbin", "grade12thbin", "studentrace", "studentgender")
    lacking = [c for c in needed if c not in frame]
    if lacking:
        raise DataUnavailable(f"{path} has no column {', '.join(lacking)}: is it hsls_knn_impute, saved as CSV?")
    frame = frame[(frame > -7).all(axis=1)].reset_index(drop=True)  # -7, -8, -9: no answer
    check_rows("hsls", str(path), len(frame), 14_509)
    race = (7 * frame["studentrace"]).astype(int).map(RACES).fillna("another")
    sex = (1 - frame["studentgender"]).astype(int).astype(str)  # 0: male, as in the stand-in
    people = categories(pd.DataFrame({"X1RACE": race, "X1SEX": sex}), ("X1RACE", "X1SEX"))
    label = frame["grade9thbin"].to_numpy() > 0
    return Table(frame.drop(columns=list(needed)).join(people), label, notes=("HSLS as xie2024 prepared it",))
