"""The people an assessment is about: a table, checked, with its label, decisions and protected attributes."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from fairpriv import validate
from fairpriv.assessment import columns
from fairpriv.assessment.small import SMALL
from fairpriv.datasets.base import Dataset
from fairpriv.datasets.csv import as_text, favourable, some
from fairpriv.errors import BadRequest
from fairpriv.models.gradient_boosting import GradientBoosting
from fairpriv.protocols.bias_queries import cross_fitted
from fairpriv.seeds import stream

LEAST = 20  # people, below which nothing can be said
MOST_GROUPS = 30  # values of a protected attribute
MANY = 20_000  # people, from which on two models, each trained on half of them, do
TOLERATED = 5.0  # points above guessing that the recommendation allows the strongest attacker: our number, no law's
FEW = 8  # values of a column that a refusal may name
BANDS = 4  # that a protected number (an age) is cut into


@dataclass(frozen=True)
class Settings:
    """What is asked: the columns, what is favourable and who is advantaged, and how the desk would answer.

    Attributes
    ----------
    label, protected, prediction
        Columns: the true outcome, the protected attributes, and the model's decisions or scores (None: one is trained).
    positive : str or None
        The favourable value of the label.
    privileged : tuple of str
        Values of advantaged groups; none: the largest group of each attribute.
    queries : int or None
        Questions that the desk answers within its budget (None: 10).
    epsilon : float or None
        The budget of these answers together (None: the recommended one).
    seed : int
        Of every random draw.
    tolerance : float
        Points above guessing that the recommendation allows the strongest attacker.
    """

    label: str
    protected: tuple[str, ...]
    prediction: str | None = None
    positive: str | None = None
    privileged: tuple[str, ...] = ()
    queries: int | None = None
    epsilon: float | None = None
    seed: int = 0
    tolerance: float = TOLERATED

    def __post_init__(self) -> None:
        """Check what can be checked without the table."""
        named = [self.label, *self.protected, *([self.prediction] if self.prediction else [])]
        if not self.protected:
            raise BadRequest("protected must name at least one column")
        for name in named:
            if named.count(name) > 1:
                raise BadRequest(f"label, protected and prediction must be different columns, got {name!r} twice")
        if self.queries is not None:
            validate.integer("queries", self.queries, at_least=1)
        if self.epsilon is not None:
            validate.number("epsilon", self.epsilon, above=0, at_most=10_000)
        validate.integer("seed", self.seed, at_least=0)
        validate.number("tolerance", self.tolerance, above=0, below=50)


@dataclass(frozen=True, eq=False)
class People:
    """The table, ready: one entry a person in each array.

    `decision` is 0 or 1, `score` the model's output in [0, 1]; `trained` says that the model was trained here.
    """

    name: str
    features: pd.DataFrame
    label: np.ndarray
    score: np.ndarray
    decision: np.ndarray
    attributes: pd.DataFrame  # categoricals
    positive: str
    trained: bool
    rows: int  # of the file
    left_out: tuple[dict[str, str], ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        """Return the number of people."""
        return len(self.label)


def read(frame: pd.DataFrame, settings: Settings, name: str) -> People:
    """Check a table and make it ready; what cannot be used is refused in one line."""
    frame = frame.rename(columns=str)
    if frame.empty:
        raise BadRequest(f"{name} has no rows")
    used = [settings.label, *settings.protected, *([settings.prediction] if settings.prediction else [])]
    for column in used:
        _check_column(frame, column, name)
    complete = frame[used].notna().all(axis=1)
    notes = []
    if dropped := int((~complete).sum()):
        gaps = ", ".join(f"{c} ({n:,})" for c in used if (n := int(frame[c].isna().sum())))
        notes.append(f"{dropped:,} of {len(frame):,} rows have a missing value in {gaps} and are not counted")
    rows, frame = len(frame), frame[complete].reset_index(drop=True)
    if len(frame) < LEAST:
        raise BadRequest(f"{name} has {len(frame)} usable rows: at least {LEAST} people are needed")
    label, positive, said = _label(frame[settings.label], settings, name)
    attributes, more = _attributes(frame, settings, name)
    features, left_out, filled = columns.prepare(frame.drop(columns=used))
    notes += said + more + filled
    if settings.prediction:
        score, decision, said = _prediction(frame[settings.prediction], positive, settings.prediction, name)
        notes += said
    else:
        score = _trained(features, label, settings, name)
        decision = (score >= 0.5).astype(np.int8)
        notes.append("no prediction column was given: a model (gradient-boosted trees) was trained here, cross-fitted")
    return People(
        name, features, label, score, decision, attributes, positive,
        settings.prediction is None, rows, tuple(left_out), tuple(notes),
    )  # fmt: skip


def _check_column(frame: pd.DataFrame, column: str, name: str) -> None:
    if column not in frame:
        near = difflib.get_close_matches(column, list(frame), n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        if any(re.fullmatch(r"-?[\d.]+", title) for title in frame):  # no header: these are a person's values
            raise BadRequest(
                f"{name} has no column {column!r}: its first line must name the columns, and holds numbers"
            )
        raise BadRequest(f"{name} has no column {column!r}: {hint}columns: {some(list(frame), 20)}")
    if isinstance(frame[column], pd.DataFrame) or f"{column}.1" in frame:  # what pandas calls the second when reading
        raise BadRequest(f"{name} has several columns {column!r}: leave one of them")


def _told(texts: pd.Series) -> str:
    """Return the values of a column for a refusal: only where they are few, and each of at least 5 people."""
    counts = texts.value_counts()
    if len(counts) > FEW or counts.min() < SMALL:
        return f"one of its {len(counts):,} values"
    return ", ".join(sorted(counts.index))


def _label(column: pd.Series, settings: Settings, name: str) -> tuple[np.ndarray, str, list[str]]:
    values = as_text(column)
    found = sorted(values.unique())
    if len(found) > 2 and settings.positive is None:
        raise BadRequest(
            f"{name}: label {settings.label} has {len(found):,} values: say which one is favourable with "
            f"positive=VALUE ({_told(values)}); it is then held against all others"
        )
    positive = favourable(name, settings.label, found, settings.positive, shown=_told(values))
    notes = []
    if len(found) > 2:
        notes.append(f"column {settings.label} has {len(found)} values: {positive!r} is held against all others")
    if settings.positive is None:
        other = next(value for value in found if value != positive)
        notes.append(
            f"column {settings.label}: {positive!r} is taken for the favourable value, as nothing else was said; where "
            f"{other!r} is, say positive={other}"
        )
    return (values == positive).to_numpy().astype(np.int8), positive, notes


def _attributes(frame: pd.DataFrame, settings: Settings, name: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the protected attributes as categoricals; a number with many values is cut into bands."""
    out, notes = {}, []
    for attribute in settings.protected:
        column = frame[attribute]
        texts = as_text(column)
        if pd.api.types.is_numeric_dtype(column) and texts.nunique() > 2 * BANDS:
            cuts = np.unique(np.quantile(column, np.linspace(0, 1, BANDS + 1)[1:-1]).round(2))
            names = [f"up to {cuts[0]:g}", *(f"above {a:g} to {b:g}" for a, b in pairwise(cuts))]
            names.append(f"above {cuts[-1]:g}")
            band = np.searchsorted(cuts, column.to_numpy(float))
            out[attribute] = pd.Categorical.from_codes(band, names).remove_unused_categories()
            notes.append(f"column {attribute} is a number with {texts.nunique():,} values: cut into {len(names)} bands")
        else:
            out[attribute] = pd.Categorical(texts, sorted(texts.unique()))
        values = list(out[attribute].categories)
        if len(values) < 2:
            raise BadRequest(f"{name}: protected attribute {attribute} has one group only: {', '.join(values)}")
        if len(values) > MOST_GROUPS:
            raise BadRequest(
                f"{name}: protected attribute {attribute} has {len(values):,} values, at most {MOST_GROUPS} can be "
                "held against each other: group them into a new column first"
            )
    known = {value for column in out.values() for value in column.categories}
    for value in settings.privileged:
        if value not in known:
            there = "; ".join(f"{attribute}: {_told(pd.Series(column))}" for attribute, column in out.items())
            raise BadRequest(f"{name}: no group is called {value!r}: privileged must be of {there}")
    return pd.DataFrame(out), notes


def _prediction(column: pd.Series, positive: str, title: str, name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return scores in [0, 1], decisions, and how they were read."""
    texts = as_text(column)
    found = sorted(texts.unique())
    if positive in found and len(found) <= 2 and not set(found) <= {"0", "1"}:
        decision = (texts == positive).to_numpy().astype(np.int8)
        return decision.astype(float), decision, []
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(float)
    if others := int((~np.isfinite(numbers)).sum()):
        raise BadRequest(
            f"{name}: prediction {title} must hold scores, or decisions in the label's values; {others:,} of "
            f"{len(numbers):,} are neither"
        )
    low, high = float(numbers.min()), float(numbers.max())
    if low >= 0 and high <= 1:
        return numbers, (numbers >= 0.5).astype(np.int8), []
    score, median = (numbers - low) / (high - low) if high > low else np.zeros(len(numbers)), np.median(numbers)
    note = (
        f"column {title} is not within [0, 1]: a score above the median counts as selected (the rule of Local Law 144)"
    )
    return score, (numbers > median).astype(np.int8), [note]


def _trained(features: pd.DataFrame, label: np.ndarray, settings: Settings, name: str) -> np.ndarray:
    if features.empty or not len(features.columns):
        raise BadRequest(f"{name} has no column to learn from: give the model's decisions with prediction=COLUMN")
    if min(label.sum(), len(label) - label.sum()) < 5:
        raise BadRequest(f"{name}: fewer than 5 people have one of the outcomes of {settings.label}")
    # the protected attributes are not among the features, and no model of ours sees them
    nobody = np.arange(len(label)) % 2
    data = Dataset(name, features, label, nobody, pd.DataFrame(index=features.index), "", "")
    folds = 5 if len(label) <= MANY else 2
    return cross_fitted(data, GradientBoosting(trees=50), stream("assess", "model", settings.seed), folds)


def some_of(group: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most so many rows, drawn at random with the share of both groups kept (each with at least two)."""
    if len(group) <= most:
        return np.arange(len(group))
    rows: Sequence[np.ndarray] = []
    for value in (0, 1):
        members = np.flatnonzero(group == value)
        wanted = min(len(members), max(2, round(most * len(members) / len(group))))
        rows = [*rows, rng.choice(members, wanted, replace=False)]
    return np.sort(np.concatenate(rows))
