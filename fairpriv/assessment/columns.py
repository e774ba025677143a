"""Which columns a model may learn from: ids, dates and free text are left out, each with a line saying so."""

import warnings

import numpy as np
import pandas as pd

from fairpriv.datasets.csv import as_text

NEARLY_UNIQUE = 0.95  # share of distinct values from which on whole numbers are taken for an id
TEXT_UNIQUE = 0.5  # the same for text, which repeats itself where it names categories
FEW = 20  # distinct values up to which text is never taken for an id
MOST_VALUES = 50  # values of a category that are kept apart; rarer ones are pooled
MOSTLY_MISSING = 0.5
MISSING = "(missing)"
POOLED = "(other)"


def prepare(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[dict[str, str]], list[str]]:
    """Return complete features (numbers and categoricals), the columns left out with why, and notes on what was filled.

    Only names of columns and counts are told, never a value.
    """
    columns, left_out, notes = {}, [], []
    for name in frame:
        column = frame[name]
        if isinstance(column, pd.DataFrame):  # two columns of one name: pandas makes the second name.1 when reading
            left_out.append({"column": str(name), "why": "two columns have this name"})
            continue
        why = _reason(column)
        if why:
            left_out.append({"column": str(name), "why": why})
            continue
        columns[str(name)], said = _filled(column)
        notes += [f"column {name}: {note}" for note in said]
    return pd.DataFrame(columns, index=frame.index), left_out, notes


def _reason(column: pd.Series) -> str:
    """Return why a column is left out; nothing where it is kept."""
    present = column.dropna()
    try:
        distinct = present.nunique()
    except TypeError:  # lists and the like, which pandas cannot count
        distinct = None
    if distinct is None or pd.api.types.is_complex_dtype(column):
        return "it holds neither numbers nor text"
    if distinct <= 1:
        return "it has one value only" if distinct else "it is empty"
    if len(present) < (1 - MOSTLY_MISSING) * len(column):
        return f"{100 * (1 - len(present) / len(column)):.0f} % of its values are missing"
    share = distinct / len(present)
    if pd.api.types.is_bool_dtype(column):
        return ""
    if pd.api.types.is_numeric_dtype(column):
        whole = len(present) > FEW and share > NEARLY_UNIQUE and bool((present % 1 == 0).all())
        return "nearly every row has its own whole number, as an id has" if whole else ""
    if pd.api.types.is_datetime64_any_dtype(column) or _dates(present):
        return "it holds dates"
    if distinct > FEW and share > TEXT_UNIQUE:
        words = present.astype(str).str.count(r"\S+").mean()
        return "it is free text" if words >= 3 else "nearly every row has its own value, as an id or a name has"
    return ""


def _dates(values: pd.Series, tried: int = 200) -> bool:
    """Tell whether texts are dates, by the first few."""
    texts = values.astype(str).head(tried)
    if not texts.str.contains(r"\d[-/.:]\d").mean() > 0.9:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas says that it guesses: that is what is asked of it
        return bool(pd.to_datetime(texts, errors="coerce", format="mixed").notna().mean() > 0.9)


def _filled(column: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return a column without gaps, as numbers or as a categorical, and what was done to it."""
    notes = []
    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        numbers = column.astype(float).replace([np.inf, -np.inf], np.nan)
        if gaps := int(numbers.isna().sum()):
            notes.append(f"{gaps:,} missing values were filled with the median")
        return numbers.fillna(numbers.median()), notes
    present = column.dropna()
    texts = as_text(present).reindex(column.index)
    if gaps := int(texts.isna().sum()):
        notes.append(f"{gaps:,} missing values are a category of their own")
    common = present.astype(str).value_counts().index
    if len(common) > MOST_VALUES:
        kept = set(as_text(present).value_counts().index[:MOST_VALUES])
        texts = texts.where(texts.isin(kept) | texts.isna(), POOLED)
        notes.append(f"it has {len(common):,} values; the {MOST_VALUES} most frequent are kept apart")
    texts = texts.fillna(MISSING)
    return pd.Series(pd.Categorical(texts, sorted(texts.unique())), index=column.index), notes
