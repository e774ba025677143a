"""COMPAS in the five coarse columns that AIF360's examples use."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv.datasets.base import Table
from fairpriv.datasets.compas import Compas
from fairpriv.registry import register


@register
@dataclass(frozen=True, kw_only=True)
class CompasAif360(Compas):
    """COMPAS as AIF360's examples prepare it (maad2023): age group, priors 0 / 1-3 / more, charge, sex, race."""

    name: ClassVar[str] = "compas_aif360"
    paper: ClassVar[str] = "maad2023, Section 4.1"
    sensitive: ClassVar[tuple[str, ...]] = ("race", "sex")
    advantaged: ClassVar = {"race": ("Caucasian",), "sex": ("Female",)}

    races: tuple[str, ...] | None = ("African-American", "Caucasian")

    def read(self) -> Table:
        """Read COMPAS and keep what AIF360 keeps."""
        table = super().read()
        priors = np.digitize(table.frame["priors_count"], [1, 4])
        frame = table.frame[["sex", "race", "age_cat", "c_charge_degree"]].assign(
            priors=pd.Categorical.from_codes(priors, ("0", "1 to 3", "more than 3")),
            race=table.frame["race"].cat.remove_unused_categories(),
        )
        return replace(table, frame=frame)
