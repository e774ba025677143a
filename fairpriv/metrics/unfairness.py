"""Unfairness in exact arithmetic (ferry2023, Table I): the largest distance of a group's rate to that of all."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

from fairpriv.errors import BadRequest

METRICS = ("SP", "PE", "EO", "EOdds")
# The labels whose examples a metric looks at, one slice each; None: everyone.
LABELS = {"SP": (None,), "PE": (0,), "EO": (1,), "EOdds": (0, 1)}


def as_fraction(name: str, value: Any) -> Fraction:
    """Return a number in [0, 1] exactly; a float stands for its decimal text, so that 0.1 is 1/10."""
    try:
        if isinstance(value, bool) or not isinstance(value, Real | Decimal | str):
            raise ValueError
        if isinstance(value, Rational):
            exact = Fraction(int(value.numerator), int(value.denominator))
        else:
            exact = Fraction(str(value)) if isinstance(value, str | Decimal) else Fraction(repr(float(value)))
    except (ValueError, ZeroDivisionError, InvalidOperation):
        raise BadRequest(f"{name} must be a number in [0, 1], got {value!r}") from None
    if not 0 <= exact <= 1:
        raise BadRequest(f"{name} must be in [0, 1], got {value!s}")
    return exact


def metric_slices(metric: str, label: np.ndarray) -> list[tuple[int | None, np.ndarray]]:
    """Return (label, rows) of each slice a metric looks at; a slice without rows is refused."""
    out = []
    for wanted in LABELS[metric]:
        rows = np.arange(len(label)) if wanted is None else np.flatnonzero(np.asarray(label) == wanted)
        if len(rows) == 0:
            what = "negatives" if wanted == 0 else "positives"
            raise BadRequest(f"metric {metric} looks at examples with label {wanted}: the labels have no {what}")
        out.append((wanted, rows))
    return out


def unfairness(metric: str, predictions: np.ndarray, group: np.ndarray, label: np.ndarray) -> Fraction:
    """Return max over groups |P(ŷ = 1 | slice) − P(ŷ = 1 | s, slice)|, for EOdds the larger of both slices.

    Groups that a slice lacks say nothing and are passed over.
    """
    worst = Fraction(0)
    for _, rows in metric_slices(metric, label):
        h, g = np.asarray(predictions)[rows] == 1, np.asarray(group)[rows]
        overall = Fraction(int(h.sum()), len(rows))
        for value in np.unique(g):
            members = h[g == value]
            worst = max(worst, abs(overall - Fraction(int(members.sum()), len(members))))
    return worst
