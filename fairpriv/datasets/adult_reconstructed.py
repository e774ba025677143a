"""Reconstructed Adult (Ding et al. 2021): Adult with its income in dollars, so that any threshold can be set."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table, categories, check_rows
from fairpriv.datasets.sources import Source, fetch
from fairpriv.errors import BadRequest, DataUnavailable
from fairpriv.registry import param, register

# The domains of the encoded form, in the order of its codes (sorted, as scikit-learn's LabelEncoder has them).
DOMAINS = {
    "workclass": "Federal-gov Local-gov Private Self-emp-inc Self-emp-not-inc State-gov Without-pay",
    "education": "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate HS-grad Masters "
    "Preschool Prof-school Some-college",
    "marital-status": "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married Separated "
    "Widowed",
    "occupation": "Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing Handlers-cleaners "
    "Machine-op-inspct Other-service Priv-house-serv Prof-specialty Protective-serv Sales Tech-support "
    "Transport-moving",
    "native-country": "Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England France "
    "Germany Greece Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran Ireland Italy Jamaica Japan "
    "Laos Mexico Nicaragua Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal Puerto-Rico Scotland South "
    "Taiwan Thailand Trinadad&Tobago United-States Vietnam Yugoslavia",
    "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
    "gender": "Female Male",
    "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
}
COLUMNS = (
    *("age", "workclass", "education", "marital-status", "occupation", "native-country", "relationship"),
    *("hours-per-week", "gender", "race"),
)
YOUNGEST = 17  # the 74 codes of age are the 74 ages from 17 to 90

OFFICIAL = Source(
    "adult_reconstructed",
    "adult_reconstructed/adult_reconstruction.csv",
    url="https://raw.githubusercontent.com/socialfoundations/folktables/main/adult_reconstruction.csv",
)
ENCODED = Source(
    "adult_reconstructed",
    "adult_reconstructed/adult_26k_encoded.csv",
    "86b00911881f1a37bd5d6ee3873f73c7d13ee5b32814dfc915c534fb0ca851df",
    hint="set dataset.form=official (the official file gives the same rows)",
)


@register
@dataclass(frozen=True, kw_only=True)
class AdultReconstructed(Loader):
    """Reconstructed Adult (45,849 complete rows): income above a threshold, 26,000 dollars unless told otherwise."""

    name: ClassVar[str] = "adult_reconstructed"
    paper: ClassVar[str] = "arcolezi2023, Section 4.1"
    favourable: ClassVar[str] = "income above the threshold"
    files: ClassVar[tuple[Source, ...]] = (ENCODED, OFFICIAL)
    sensitive: ClassVar[tuple[str, ...]] = ("gender", "race", "native-country", "age")
    advantaged: ClassVar = {"gender": ("Male",), "race": ("White",), "native-country": ("United-States",)}

    protected: str = param("gender", "group 1: Male, White, United-States")
    form: str = param(
        "encoded",
        "the label-encoded table of arcolezi2023 (names are put back; hours-per-week stays a rank among the"
        " 96 values that occur), or `adult_reconstruction.csv` of folktables",
        choices=("encoded", "official"),
    )
    threshold: float = param(26_000, "label 1 is an income above it (encoded: 26,000 only)", above=0)

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.choice("form", self.form, ("encoded", "official"))
        validate.number("threshold", self.threshold, above=0)
        if self.form == "encoded" and self.threshold != 26_000:
            raise BadRequest(
                f"threshold must be 26000 for form=encoded, got {self.threshold!r}; form=official takes any"
            )

    def needs(self) -> Sequence[Source]:
        """Return the file of this form."""
        return (ENCODED,) if self.form == "encoded" else (OFFICIAL,)

    def read(self) -> Table:
        """Read either form."""
        path = fetch(self.needs()[0])
        return self._encoded(path) if self.form == "encoded" else self._official(path)

    def _encoded(self, path: Path) -> Table:
        frame = pd.read_csv(path)
        check_rows(self.name, path.name, len(frame), 45_849)
        named = {c: pd.Categorical.from_codes(frame[c], values.split()) for c, values in DOMAINS.items()}
        label = frame["income"].to_numpy()
        notes = ("the encoded form: hours-per-week is a rank, not hours",)
        return Table(frame.assign(age=frame["age"] + YOUNGEST, **named)[list(COLUMNS)], label, notes=notes)

    def _official(self, path: Path) -> Table:
        frame = pd.read_csv(path, skipinitialspace=True, na_values=[], keep_default_na=False)
        if missing := {*COLUMNS, "income"} - set(frame):
            raise DataUnavailable(f"dataset {self.name}: {path.name} has no column {', '.join(sorted(missing))}")
        check_rows(self.name, path.name, len(frame), 49_531)
        frame = frame[~(frame[list(COLUMNS)] == "?").any(axis=1)]
        check_rows(self.name, 'the table without "?"', len(frame), 45_849)
        frame = categories(frame, list(DOMAINS))
        return Table(frame[list(COLUMNS)], (frame["income"] > self.threshold).to_numpy())
