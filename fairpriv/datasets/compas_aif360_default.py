"""COMPAS with the rows and columns of AIF360's `CompasDataset` as it stands when nothing is asked of it."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pandas as pd

from fairpriv.datasets.base import Table, check_rows
from fairpriv.datasets.compas import Compas
from fairpriv.datasets.sources import fetch
from fairpriv.registry import param, register


@register
@dataclass(frozen=True, kw_only=True)
class CompasAif360Default(Compas):
    """COMPAS as AIF360's `CompasDataset` gives it by default: Caucasian against all others, race and sex left out.

    Beside the columns of `compas` it has the charge in words, and so leaves out the five defendants without one: 6,167.
    """

    name: ClassVar[str] = "compas_aif360_default"
    paper: ClassVar[str] = "maad2023, Section 4.1"
    sensitive: ClassVar[tuple[str, ...]] = ("race", "sex")
    advantaged: ClassVar = {"race": ("Caucasian",), "sex": ("Female",)}

    protected: str = param("race", "group 1: Caucasian, Female")
    exclude: tuple[str, ...] = param(("race", "sex"), "features to leave out; []: race and sex are features too")

    def read(self) -> Table:
        """Read COMPAS and add the charge in words, over the charges of the whole file."""
        table = super().read()
        said = pd.read_csv(fetch(self.files[0]), usecols=["c_charge_desc"], low_memory=False)["c_charge_desc"]
        charge = said.loc[table.frame.index]
        there = charge.notna().to_numpy()
        frame = table.frame.assign(c_charge_desc=pd.Categorical(charge, sorted(said.dropna().unique())))[there]
        if self.races is None:
            check_rows(self.name, "the table with charges", len(frame), 6_167)
        return replace(table, frame=frame, label=table.label[there])
