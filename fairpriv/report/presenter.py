"""What is made of an experiment's finished rows: tables, figures, and checks of the paper's claims.

A protocol names the module that presents it (`presented_by`); the module's `PRESENTERS` has an entry for it. A protocol
that names none gets the means over seeds as its only table.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from fairpriv.report.check import Check
from fairpriv.report.summary import summarise

Tables = dict[str, pd.DataFrame]
Arrays = Callable[..., Any]  # arrays(**axes): those of the first cell with these values


def _means(rows: pd.DataFrame) -> Tables:
    """Return the mean of every metric over seeds, one row per point of the grid."""
    after = list(rows.columns).index("seed") + 1
    axes = list(rows.columns[: after - 1])
    metrics = [c for c in rows.columns[after:] if c != "seconds" and pd.api.types.is_numeric_dtype(rows[c])]
    return {"summary": summarise(rows, axes, metrics)} if axes and metrics else {}


def _no_figures(rows: pd.DataFrame, arrays: Arrays) -> dict[str, Any]:
    return {}


def _no_checks(rows: pd.DataFrame) -> dict[str, Check]:
    return {}


@dataclass(frozen=True)
class Beside:
    """What is made of an experiment's rows and those of another whose results stand beside it."""

    experiment: str
    tables: Callable[[pd.DataFrame, pd.DataFrame], Tables]
    figures: Callable[[pd.DataFrame, pd.DataFrame], dict[str, Any]]


@dataclass(frozen=True)
class Presenter:
    """Three functions of the finished rows: tables and figures by file name, checks by the claim's id.

    `beside` makes more of them where another experiment's results are there too; what is not there costs nothing.
    """

    tables: Callable[[pd.DataFrame], Tables] = _means
    figures: Callable[[pd.DataFrame, Arrays], dict[str, Any]] = _no_figures
    checks: Callable[[pd.DataFrame], dict[str, Check]] = _no_checks
    beside: Beside | None = None


def presenter_of(protocol: type) -> Presenter:
    """Return the presenter of a protocol."""
    if not protocol.presented_by:
        return Presenter()
    return importlib.import_module(protocol.presented_by).PRESENTERS[protocol.name]
