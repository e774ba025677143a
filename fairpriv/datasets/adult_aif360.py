"""UCI Adult in the five coarse columns that AIF360's examples use."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.adult import Adult
from fairpriv.datasets.base import Table
from fairpriv.registry import register

DECADES = ("10", "20", "30", "40", "50", "60", ">=70")
YEARS = ("<6", *map(str, range(6, 13)), ">12")


@register
@dataclass(frozen=True, kw_only=True)
class AdultAif360(Adult):
    """UCI Adult as AIF360's examples prepare it (maad2023): age by decade, years of education, sex, race.

    Rows with "?" stay, since none of these columns has one: 48,842 people.
    """

    name: ClassVar[str] = "adult_aif360"
    paper: ClassVar[str] = "maad2023, Section 4.1"
    sensitive: ClassVar[tuple[str, ...]] = ("race", "sex")
    advantaged: ClassVar = {"sex": ("Male",), "race": ("White",)}

    drop_missing: bool = False

    def read(self) -> Table:
        """Read Adult and keep what AIF360 keeps."""
        table = super().read()
        age = np.minimum(table.frame["age"].to_numpy() // 10, 7) - 1
        years = np.clip(table.frame["education-num"].to_numpy(), 5, 13) - 5
        frame = pd.DataFrame(
            {
                "age_decade": pd.Categorical.from_codes(age, DECADES),
                "education_years": pd.Categorical.from_codes(years, YEARS),
                "race": table.frame["race"].to_numpy(),
                "sex": table.frame["sex"].to_numpy(),
            }
        )
        white = pd.Categorical(np.where(frame["race"] == "White", "White", "Non-white"), ("Non-white", "White"))
        return replace(table, frame=frame.assign(race=white, sex=pd.Categorical(frame["sex"], ("Female", "Male"))))
