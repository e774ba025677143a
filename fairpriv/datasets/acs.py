"""What the ACS datasets share: the domains of their codes, and how each form is read. No dataset of its own."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pandas as pd

from fairpriv.datasets.sources import Source
from fairpriv.errors import DataUnavailable

NUMERIC = ("AGEP", "WKHP", "PINCP")
# Domains of the PUMS data dictionary 2018; 0 stands for "not applicable", as folktables writes it.
DOMAINS = {
    "SCHL": range(1, 25),
    "MAR": range(1, 6),
    "RELP": range(18),
    "COW": range(1, 9),
    "CIT": range(1, 6),
    "MIG": range(1, 4),
    "MIL": range(5),
    "ANC": range(1, 5),
    "NATIVITY": range(1, 3),
    "ESR": range(7),
    "ESP": range(9),
    "FER": range(3),
    "DEAR": range(1, 3),
    "DEYE": range(1, 3),
    "DREM": range(1, 3),
}
RACES = (
    *("White", "Black", "American-Indian", "Alaska-Native", "Native-other", "Asian", "Pacific-Islander", "Other"),
    "Two-or-more",
)
# Attributes whose values have names here: the domain, and the PUMS code of each value.
NAMED = {"SEX": (("female", "male"), (2, 1)), "DIS": (("no", "yes"), (2, 1)), "RAC1P": (RACES, range(1, 10))}

OFFICIAL = Source(
    "acs_income",
    "acs/2018/1-Year/psam_p48.csv",  # the folder folktables looks in
    url="https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year/csv_ptx.zip",
    unzip="psam_p48.csv",
)
OFFICIAL_HINT = "set dataset.form=official (the census file and folktables)"


def above_first_quartile(age: pd.Series) -> np.ndarray:
    """Group 0 is the first quartile of age, its upper end included."""
    return (age > np.quantile(age, 0.25)).to_numpy()


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """Give a table of PUMS codes its types: numbers, and categoricals over their full domain."""
    frame, columns = frame.astype(int), {}
    for column in frame:
        if column in NAMED:
            names, codes = NAMED[column]
            columns[column] = pd.Categorical(frame[column].map(dict(zip(codes, names))), names)
        elif column not in NUMERIC:  # OCCP and POBP have hundreds of codes: those that occur
            columns[column] = pd.Categorical(frame[column], DOMAINS.get(column, sorted(frame[column].unique())))
    return frame.assign(**columns)


def read_sample(path: Path, label: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read a 40 % sample: RAC1P is its code minus one, the label is made."""
    frame = pd.read_csv(path).drop(columns=["index", "split", "p2_row"], errors="ignore")
    return tidy(frame.drop(columns=label).assign(RAC1P=frame["RAC1P"] + 1)), frame[label].to_numpy()


def read_official(path: Path, problem: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Read Texas 2018 from the census file through folktables' own definition of the problem."""
    try:
        import folktables  # here: it is slow to import, and only this form needs it
    except ImportError as error:
        raise DataUnavailable(f"form=official needs folktables ({error}): pip install folktables") from error
    source = folktables.ACSDataSource(survey_year="2018", horizon="1-Year", survey="person", root_dir=path.parents[2])
    with contextlib.redirect_stdout(io.StringIO()):
        people = source.get_data(states=["TX"])
    frame, label, _ = getattr(folktables, problem).df_to_pandas(people)
    # One state, so ST says nothing.
    return tidy(frame.drop(columns="ST", errors="ignore")), label.to_numpy().ravel().astype(int)
