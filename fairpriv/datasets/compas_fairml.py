"""COMPAS in the ten columns of ProPublica's table "for FairML"."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from fairpriv.datasets.base import Table
from fairpriv.datasets.compas import RACES, Compas
from fairpriv.datasets.sources import fetch
from fairpriv.registry import register

MARKED = ("Asian", "Hispanic", "Native American", "Other")


@register
@dataclass(frozen=True, kw_only=True)
class CompasFairml(Compas):
    """COMPAS as ProPublica's table "for FairML" codes it (xie2024): priors and nine marks of 0 and 1; 6,172 rows.

    The marks: a score above low, older than 45, younger than 25, four races, female, misdemeanor. Being
    African-American, the tenth mark of race and sex, is the protected attribute; Caucasian is what is left.
    """

    name: ClassVar[str] = "compas_fairml"
    paper: ClassVar[str] = "xie2024, Section 6"
    sensitive: ClassVar[tuple[str, ...]] = ("race",)
    advantaged: ClassVar = {"race": RACES[1:]}

    def read(self) -> Table:
        """Read COMPAS and code it; the file is looked into again for the score, which our own columns leave out."""
        table = super().read()
        old = table.frame
        score = pd.read_csv(fetch(self.files[0]), usecols=["score_text"])["score_text"].loc[old.index]
        marks = {
            "score_factor": score != "Low",
            "age_above_45": old["age_cat"] == "Greater than 45",
            "age_below_25": old["age_cat"] == "Less than 25",
            **{race.lower().replace(" ", "_"): old["race"] == race for race in MARKED},
            "female": old["sex"] == "Female",
            "misdemeanor": old["c_charge_degree"] == "M",
        }
        coded = {"priors": old["priors_count"]} | {name: mark.astype(int) for name, mark in marks.items()}
        return replace(table, frame=pd.DataFrame(coded).assign(race=old["race"]))
