"""A claim made in words or by a figure, held against our rows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A claim, and whether our rows bear it out."""

    claim: str
    holds: bool | None  # None: not run
    detail: str
    sure: bool | None = None  # of a claim that fails: whether it is more than chance; None: not asked
