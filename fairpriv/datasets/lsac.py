"""LSAC National Bar Passage Study: who passed the bar exam."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table, categories, check_rows
from fairpriv.datasets.sources import Source, fetch
from fairpriv.registry import param, register

ARCOLEZI = ("race1", "gender", "fam_inc", "fulltime", "ugpa", "lsat")
# Known before the exam, once each: the file repeats columns under other names, holds the exam's result several times,
# and its `age` is not an age (-69 to -3).
RAW = (
    *("race1", "gender", "fam_inc", "fulltime", "tier"),
    *("ugpa", "lsat", "zfygpa", "zgpa", "decile1b", "decile3"),
)
CODED = ("fam_inc", "fulltime", "tier")


@register
@dataclass(frozen=True, kw_only=True)
class Lsac(Loader):
    """LSAC National Bar Passage Study (22,407 law students, 1991-1997): passed the bar exam."""

    name: ClassVar[str] = "lsac"
    paper: ClassVar[str] = "arcolezi2023, Section 4.1"
    favourable: ClassVar[str] = "passed the bar exam"
    files: ClassVar[tuple[Source, ...]] = (
        Source(
            "lsac",
            "lsac/bar_pass_prediction.csv",
            "b75568ff25e966b4c19852105e94e8e52475191523bdcfe62df985c690baed38",
            url="https://storage.googleapis.com/lawschool_dataset/bar_pass_prediction.csv",
        ),
    )
    sensitive: ClassVar[tuple[str, ...]] = ("race1", "gender", "fam_inc", "fulltime")
    advantaged: ClassVar = {
        "race1": lambda race: race != "black",  # the same rule for both preparations
        "gender": ("male",),
        "fulltime": ("1",),
    }

    protected: str = param("race1", "group 1: not black, male, full-time")
    preparation: str = param(
        "arcolezi2023",
        "rows complete in all 39 columns (20,427), six attributes, race1 as black/other, undergraduate GPA "
        "to the nearest half, LSAT to an integer; or eleven attributes as they are, rows complete in these "
        "(20,512)",
        choices=("arcolezi2023", "raw"),
    )

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        validate.choice("preparation", self.preparation, ("arcolezi2023", "raw"))

    def read(self) -> Table:
        """Read the file and prepare it as asked."""
        frame = pd.read_csv(fetch(self.files[0]))
        check_rows(self.name, "bar_pass_prediction.csv", len(frame), 22_407)
        if self.preparation == "arcolezi2023":
            frame = frame.dropna()
            check_rows(self.name, "the table without missing values", len(frame), 20_427)
            frame = frame.assign(
                race1=np.where(frame["race1"] == "black", "black", "other"),
                ugpa=(frame["ugpa"] * 2).round() / 2,
                lsat=frame["lsat"].round().astype(int),
            )
        columns = list(ARCOLEZI if self.preparation == "arcolezi2023" else RAW)
        frame = frame.dropna(subset=columns)
        coded = [c for c in columns if c in CODED]
        frame = categories(frame.astype(dict.fromkeys(coded, int)), ["race1", "gender", *coded])
        return Table(frame[columns], frame["pass_bar"].to_numpy())
