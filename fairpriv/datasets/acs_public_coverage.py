"""ACSPublicCoverage, Texas 2018 (Ding et al. 2021): who is covered by public health insurance."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets import acs
from fairpriv.datasets.base import Loader, Table, check_rows
from fairpriv.datasets.sources import Source, fetch
from fairpriv.registry import param, register

ENCODED = Source(
    "acs_public_coverage",
    "acs/ACSPublicCoverage_TX2018_encoded_98739.csv",
    "d3a2713e71b6557f07b22dc0e77ff885ceac3ff522146027524d39512a007ff7",
    hint=acs.OFFICIAL_HINT,
)
SAMPLE = Source(
    "acs_public_coverage",
    "acs/ACSPublicCoverage_TX2018_40pct.csv.gz",
    "19c51c3faa51c848af722528e86129d041fea35e4418e2e928942a58f9def266",
    hint=acs.OFFICIAL_HINT,
)
# The encoded form numbers the values of a column from 0; adding these gives the PUMS codes back (the others are equal).
OFFSETS = {"AGEP": 15, "SCHL": 1, "MAR": 1, "CIT": 1, "MIG": 1, "ANC": 1, "NATIVITY": 1}

FIRST_QUARTILE = 22  # of age in the whole data: P(age <= 21) = .2485; of the 40 % sample it would be 21 (.2518)


def older_than_first_quartile(age: pd.Series) -> np.ndarray:
    """Group 0 is the first quartile of age, its upper end included (ferry2023, Table II); the same in every form."""
    return (age > FIRST_QUARTILE).to_numpy()


@register
@dataclass(frozen=True, kw_only=True)
class AcsPublicCoverage(Loader):
    """ACSPublicCoverage, Texas 2018 (98,928 people of low income, under 65): covered by public health insurance."""

    name: ClassVar[str] = "acs_public_coverage"
    paper: ClassVar[str] = "arcolezi2023, Section 4.1; ferry2023, Table II"
    favourable: ClassVar[str] = "covered by public health insurance"
    files: ClassVar[tuple[Source, ...]] = (ENCODED, SAMPLE, acs.OFFICIAL)
    sensitive: ClassVar[tuple[str, ...]] = ("DIS", "AGEP", "SEX", "SCHL", "RAC1P")
    advantaged: ClassVar = {
        "DIS": ("yes",),  # arcolezi2023: the disabled are those who get covered
        "AGEP": older_than_first_quartile,
        "SEX": ("male",),
        "RAC1P": ("White",),
    }
    rows: ClassVar[dict[str, int]] = {"encoded": 98_739, "sample": 39_571, "official": 98_928}

    protected: str = param("DIS", "group 1: disabled, older than 22, male, White (encoded: not Black)")
    form: str = param(
        "encoded",
        "the 98,739 rows of arcolezi2023 (no negative incomes; DEAR, DEYE, DREM, PINCP left out; RAC1P as "
        "Black or not); a 40 % random sample, 39,571 rows; all 98,928, through folktables",
        choices=("encoded", "sample", "official"),
    )
    negative_income: bool = param(True, "keep people with a negative income (the encoded form never has them)")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.choice("form", self.form, tuple(self.rows))
        validate.choice("negative_income", self.negative_income, (True, False))

    def needs(self) -> Sequence[Source]:
        """Return the file of this form."""
        return ({"encoded": ENCODED, "sample": SAMPLE, "official": acs.OFFICIAL}[self.form],)

    def group(self, column: pd.Series) -> np.ndarray:
        """Binarise the protected attribute; the encoded form knows Black and not Black only."""
        if self.form == "encoded" and self.protected == "RAC1P" and self.privileged is None:
            return (column != "Black").to_numpy()
        return super().group(column)

    def read(self) -> Table:
        """Read any of the three forms."""
        path, notes = fetch(self.needs()[0]), ()
        if self.form == "encoded":
            frame, label = _read_encoded(path)
        elif self.form == "sample":
            frame, label = acs.read_sample(path, "PUBCOV")
            notes = ("a 40 % sample of ACSPublicCoverage Texas 2018",)
        else:
            frame, label = acs.read_official(path, "ACSPublicCoverage")
        check_rows(self.name, path.name, len(frame), self.rows[self.form])
        if not self.negative_income and "PINCP" in frame:
            keep = (frame["PINCP"] >= 0).to_numpy()
            frame, label = frame[keep], label[keep]
        return Table(frame, label, notes=notes)


def _read_encoded(path: Path) -> tuple[pd.DataFrame, np.ndarray]:
    codes = pd.read_csv(path)
    columns = {column: codes[column] + offset for column, offset in OFFSETS.items()}
    columns |= {column: 2 - codes[column] for column in ("SEX", "DIS")}  # 1 is male, disabled: their PUMS code
    frame = acs.tidy(codes.assign(**columns).drop(columns=["ST", "RAC1P", "PUBCOV"]))  # ST is constant
    race = pd.Categorical.from_codes(codes["RAC1P"], ("Not-Black", "Black"))
    return frame.assign(RAC1P=race), codes["PUBCOV"].to_numpy()
