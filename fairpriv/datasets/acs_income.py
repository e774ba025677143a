"""ACSIncome, Texas 2018 (Ding et al. 2021): who earns more than 50,000 dollars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fairpriv import validate
from fairpriv.datasets import acs
from fairpriv.datasets.base import Loader, Table, check_rows
from fairpriv.datasets.sources import Source, fetch
from fairpriv.registry import param, register

SAMPLE = Source(
    "acs_income",
    "acs/ACSIncome_TX2018_40pct.csv.gz",
    "6df895c5db86859b4549137adc9cf0fa16164b016acd2b2a2ab97b5b4570ccb1",
    hint=acs.OFFICIAL_HINT,
)


@register
@dataclass(frozen=True, kw_only=True)
class AcsIncome(Loader):
    """ACSIncome, Texas 2018 (135,924 workers, or a 40 % sample of them): income above 50,000 dollars."""

    name: ClassVar[str] = "acs_income"
    paper: ClassVar[str] = "ferry2023, Table II"
    favourable: ClassVar[str] = "income above 50,000 dollars"
    files: ClassVar[tuple[Source, ...]] = (SAMPLE, acs.OFFICIAL)
    sensitive: ClassVar[tuple[str, ...]] = ("RAC1P", "SEX", "AGEP")
    advantaged: ClassVar = {"RAC1P": ("White",), "SEX": ("male",), "AGEP": acs.above_first_quartile}
    rows: ClassVar[dict[str, int]] = {"sample": 54_370, "official": 135_924}

    protected: str = param("RAC1P", "group 1: White, male, older than the first quartile")
    form: str = param(
        "sample",
        "a 40 % random sample, 54,370 rows; or all 135,924, from the census file through folktables",
        choices=("sample", "official"),
    )

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.choice("form", self.form, tuple(self.rows))

    def needs(self) -> Sequence[Source]:
        """Return the file of this form."""
        return (SAMPLE,) if self.form == "sample" else (acs.OFFICIAL,)

    def read(self) -> Table:
        """Read either form."""
        path, notes = fetch(self.needs()[0]), ()
        if self.form == "sample":
            frame, label = acs.read_sample(path, "PINCP")
            notes = ("a 40 % sample of ACSIncome Texas 2018; a few rows may be of a neighbouring state",)
        else:
            frame, label = acs.read_official(path, "ACSIncome")
        check_rows(self.name, path.name, len(frame), self.rows[self.form])
        return Table(frame, label, notes=notes)
