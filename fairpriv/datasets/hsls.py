"""High School Longitudinal Study 2009: who is above the median in mathematics (an imputed stand-in)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.base import Loader, Table, categories, check_rows
from fairpriv.datasets.sources import Source, fetch
from fairpriv.registry import register

SCORE = "X1TXMTSCOR"
CATEGORICAL = ("X1SEX", "X1RACE", "X1CONTROL", "X1LOCALE", "X1REGION", "S1M8GRADE")
# The score is the label; dropping out came years after the test; the rest is bookkeeping.
UNUSED = (SCORE, "X4EVERDROP", "na_prop", "STU_ID")


@register
@dataclass(frozen=True, kw_only=True)
class Hsls(Loader):
    """HSLS:09 (17,332 students, imputed): mathematics score above the training part's median.

    A stand-in: not the preparation of xie2024 (10,156 + 4,353 students, 57 features). The Dataset's notes say so.
    """

    name: ClassVar[str] = "hsls"
    favourable: ClassVar[str] = "mathematics score above the median"
    files: ClassVar[tuple[Source, ...]] = (
        Source(
            "hsls",
            "hsls/hsls_imputed_train.csv",
            "6b06d710583d104a729fcaa0a78570f3cade2ad810faa21ea0e482c1b9b0e308",
        ),
        Source(
            "hsls",
            "hsls/hsls_imputed_test.csv",
            "968cb97077d3ca6f49ad7269d2d8870cc8c1f405f37200e46390e195b240e4b2",
        ),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("X1RACE", "X1SEX")
    advantaged: ClassVar = {
        "X1RACE": ("White, non-Hispanic", "Asian, non-Hispanic"),  # as Alghamdi et al. (2022)
        "X1SEX": ("0",),
    }

    protected: str = "X1RACE"

    def read(self) -> Table:
        """Read both parts, the training part first."""
        parts = [pd.read_csv(fetch(source)) for source in self.files]
        for source, part, rows in zip(self.files, parts, (13_865, 3_467)):
            check_rows(self.name, source.name, len(part), rows)
        frame = categories(pd.concat(parts, ignore_index=True), CATEGORICAL)
        label = (frame[SCORE] > parts[0][SCORE].median()).to_numpy()
        train = np.arange(len(frame)) < len(parts[0])
        notes = ("HSLS is an imputed stand-in (13,865 + 3,467 students, 26 features), not xie2024's preparation",)
        return Table(frame.drop(columns=list(UNUSED)), label, train, notes)
