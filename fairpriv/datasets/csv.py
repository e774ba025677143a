"""A user's own table: any CSV file with a binary label and a protected attribute."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.datasets.base import Loader, Table, as_tuple
from fairpriv.datasets.sources import file_sum
from fairpriv.errors import BadRequest
from fairpriv.registry import param, register

PLAIN = {  # labels of which the favourable value goes without saying, whatever the case: the other value, by it
    "1": "0",
    "true": "false",
    "yes": "no",
    "good": "bad",
    ">50k": "<=50k",
}


@register
@dataclass(frozen=True, kw_only=True)
class Csv(Loader):
    """A table of your own: `dataset=csv dataset.path=... dataset.label=... dataset.protected=...`."""

    name: ClassVar[str] = "csv"

    path: str = param(..., "the CSV file, with a header")
    label: str = param(..., "the column to predict; two values")
    protected: str = param(..., "the column of the protected attribute")
    positive: str | None = param(
        None, "favourable value of the label; null: the plain one of 1/0, true/false, yes/no, good/bad, >50K/<=50K"
    )
    features: tuple[str, ...] | None = param(None, "the columns to learn from; null: all the others")
    drop_missing: bool = param(False, "drop rows with missing values instead of refusing them")

    def __post_init__(self) -> None:
        """Check the options."""
        super().__post_init__()
        as_tuple(self, "features")
        for option in ("path", "label", "protected", "positive"):
            value = getattr(self, option)
            if value is not None:
                object.__setattr__(self, option, str(value))
            elif option != "positive":
                raise BadRequest(f"dataset csv needs {option}")
        validate.choice("drop_missing", self.drop_missing, (True, False))
        if self.label == self.protected:
            raise BadRequest(f"label and protected must be two columns, got {self.label!r} for both")
        if self.features == ():
            raise BadRequest("features must name at least one column (null: all but the label and the protected one)")
        for column in (self.label, self.protected):
            for option in ("features", "exclude"):
                if column in (getattr(self, option) or ()):
                    raise BadRequest(f"{option} must not hold the label or the protected attribute, got {column!r}")

    def sums(self) -> str:
        """Return the file's sha256."""
        try:
            return file_sum(self._file())
        except OSError as error:
            raise BadRequest(f"{self.path} cannot be read: {error.strerror}") from error

    def read(self) -> Table:
        """Read the file and check it."""
        frame = self._complete(self._columns(self._named(self._table())))
        label = self._label(frame[self.label])
        return Table(self._typed(frame.drop(columns=self.label)), label)

    def label_and_protected(self) -> tuple[np.ndarray, pd.Series]:
        """Read these two alone: who trains nothing needs no feature."""
        frame = self._complete(self._named(self._table())[[self.label, self.protected]])
        return self._label(frame[self.label]), self._typed(frame)[self.protected]

    def group(self, column: pd.Series) -> np.ndarray:
        """Binarise the protected attribute: `privileged` against the others, or the larger of two groups."""
        values = [str(v) for v in column.cat.categories]
        if len(values) < 2:
            raise BadRequest(
                f"{self.path}: protected attribute {self.protected} has one group only: {', '.join(values)}"
            )
        if self.privileged is not None:
            for value in self.privileged:
                if value not in values:
                    raise BadRequest(f"{self.path}: {self.protected} has no value {value!r}; it has {some(values)}")
            return column.isin(self.privileged).to_numpy()
        if len(values) > 2:
            raise BadRequest(
                f"{self.path}: protected attribute {self.protected} has {len(values)} values ({some(values)}): "
                "say which are advantaged with dataset.privileged=VALUE or [VALUE,VALUE]"
            )
        counts = column.value_counts()
        return (column == max(values, key=lambda value: (counts[value], value))).to_numpy()

    def _file(self) -> Path:
        path = Path(self.path).expanduser()
        if not path.is_file():
            raise BadRequest(f"no such file: dataset.path={self.path}" + (" is a directory" if path.is_dir() else ""))
        return path

    def _table(self) -> pd.DataFrame:
        return read_table(self._file(), self.path)

    def _named(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.rename(columns=str)
        for column in (self.label, self.protected):
            if f"{column}.1" in frame and column in frame:  # pandas' name for the second
                raise BadRequest(f"{self.path} has several columns {column!r}: leave one of them")
        for column in (self.label, self.protected, *(self.features or ())):
            if column not in frame:
                near = difflib.get_close_matches(column, list(frame), n=3, cutoff=0.5)
                hint = f"did you mean {' or '.join(near)}? " if near else ""
                raise BadRequest(f"{self.path} has no column {column!r}: {hint}columns: {some(list(frame), 20)}")
        return frame

    def _columns(self, frame: pd.DataFrame) -> pd.DataFrame:
        if self.features is not None:
            frame = frame[[*dict.fromkeys(self.features), self.label, self.protected]]
        if not set(frame) - {self.label, self.protected, *self.exclude}:
            raise BadRequest(f"{self.path} has no feature beside {self.label} and {self.protected}")
        return frame

    def _complete(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.replace([np.inf, -np.inf], np.nan)  # no model takes an infinite feature
        used = frame.drop(columns=list(self.exclude), errors="ignore")
        missing = used.isna().sum()
        if not missing.any():
            return frame
        if not self.drop_missing:
            told = ", ".join(f"{column} ({count})" for column, count in missing[missing > 0].items())
            raise BadRequest(
                f"{self.path} has missing values (NaN) in {told}: dataset.drop_missing=true drops "
                f"{used.isna().any(axis=1).sum()} of {len(frame)} rows"
            )
        frame = frame.loc[used.dropna().index]
        if frame.empty:
            raise BadRequest(f"{self.path} has no row without a missing value")
        return frame

    def _typed(self, frame: pd.DataFrame) -> pd.DataFrame:
        columns = {}
        for column in frame.columns.difference(self.exclude):
            numeric = pd.api.types.is_numeric_dtype(frame[column]) and frame[column].dtype != bool
            if column == self.protected or not numeric:
                text = as_text(frame[column])
                columns[column] = pd.Categorical(text, sorted(text.unique()))
        return frame.assign(**columns)

    def _label(self, column: pd.Series) -> np.ndarray:
        values = as_text(column)
        found = sorted(values.unique())
        if len(found) > 2:
            raise BadRequest(
                f"{self.path}: label {self.label} must be binary, it has {len(found)} values ({some(found)})"
            )
        return (values == favourable(self.path, self.label, found, self.positive, "dataset.positive")).to_numpy()


def read_table(path: Path, name: str | None = None) -> pd.DataFrame:
    """Read a CSV file with a header; where that gives one column, the separator is sought (; tab |).

    A file that cannot be read is refused in one line, under `name` (default: its path).
    """
    name = str(path) if name is None else name
    try:
        # the header tells: below it, decimal commas are fewer in a row where values are missing
        header = list(pd.read_csv(path, skipinitialspace=True, nrows=0, index_col=False))
        mark = re.search(r"[;\t|]", str(header[0])) if len(header) == 1 else None
        frame = pd.read_csv(path, low_memory=False, skipinitialspace=True, sep=mark[0] if mark else ",")
        frame = _decimal_commas(frame) if mark else frame
    except pd.errors.EmptyDataError:
        raise BadRequest(f"{name} is empty") from None
    except UnicodeDecodeError:
        raise BadRequest(f"{name} cannot be read as CSV: it is not text in UTF-8; save it again as CSV UTF-8") from None
    except Exception as error:  # the bytes are anybody's: pandas and each decompressor have errors of their own
        said = " ".join(str(error).split()) or type(error).__name__
        raise BadRequest(f"{name} cannot be read as CSV: {said}") from error
    if frame.empty:
        raise BadRequest(f"{name} has no rows")
    bare = frame.columns.astype(str).str.strip()
    return frame.set_axis(bare, axis="columns") if bare.is_unique else frame


def _decimal_commas(frame: pd.DataFrame) -> pd.DataFrame:
    """Read 1,5 as one and a half in columns that hold nothing else: where commas do not separate columns."""
    words = frame.select_dtypes(exclude="number").dropna(axis="columns", how="all")
    numbers = [c for c in words if words[c].dropna().astype(str).str.fullmatch(r"-?\d+(,\d+)?").all()]
    return frame.assign(**{c: words[c].str.replace(",", ".").astype(float) for c in numbers})


def favourable(
    where: str, label: str, found: list[str], positive: str | None, option: str = "positive", shown: str = ""
) -> str:
    """Return the favourable one of a label's values, given as text: as said, or the plain one of a usual pair.

    `shown` is what a refusal says of the values (default: a few of them).
    """
    if len(found) < 2:
        raise BadRequest(f"{where}: label {label} is constant: {found[0]}")
    if positive is None and len(found) == 2:
        for value, other in (found, found[::-1]):
            if PLAIN.get(value.lower()) == other.lower():
                return value
    if positive not in found:
        said = "is not given" if positive is None else f"{positive!r} is not a value"
        raise BadRequest(f"{where}: {option} {said}: which value of {label} is favourable, {shown or some(found)}?")
    return positive


def as_text(column: pd.Series) -> pd.Series:
    """Return values as the user would write them: a whole float (0.0) as an integer."""
    if pd.api.types.is_float_dtype(column) and (column % 1 == 0).all() and (column.abs() < 2**53).all():
        column = column.astype(int)
    return column.astype(str)


def some(values: list[str], most: int = 8) -> str:
    """Return a few of the values, and how many there are."""
    return ", ".join(values[:most]) + (f", ... ({len(values)} in all)" if len(values) > most else "")
