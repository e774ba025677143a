"""Checks of parameters, in one place, with messages of one form: "epsilon must be > 0, got -1"."""

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

from fairpriv.errors import BadRequest


def _number(name: str, value: Any) -> float:
    if isinstance(value, Integral) and abs(int(value)) > 2**1023:
        raise BadRequest(f"{name} must be a number within what a float can hold, got one of more than 300 digits")
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise BadRequest(f"{name} must be a number, got {value!r}")
    return value


def number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
) -> None:
    """Refuse a value that is no number or outside the bounds (infinity passes open bounds)."""
    _number(name, value)
    for ok, text in (
        (value > above or above == -math.inf, f"> {above:g}"),
        (value >= at_least, f">= {at_least:g}"),
        (value < below or below == math.inf, f"< {below:g}"),
        (value <= at_most, f"<= {at_most:g}"),
    ):
        if not ok:
            raise BadRequest(f"{name} must be {text}, got {value!r}")


def integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> None:
    """Refuse a value that is not a whole number within [at_least, at_most]."""
    if at_least is not None and at_most is not None:
        wanted = f"a whole number between {at_least} and {at_most}"
    else:
        wanted = "a whole number"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise BadRequest(f"{name} must be {wanted}, got {value!r}")
    if at_least is not None and value < at_least:
        raise BadRequest(f"{name} must be {wanted if at_most is not None else f'>= {at_least}'}, got {value}")
    if at_most is not None and value > at_most:
        raise BadRequest(f"{name} must be {wanted if at_least is not None else f'<= {at_most}'}, got {value}")


def choice(name: str, value: Any, choices: Collection[Any]) -> None:
    """Refuse a value that is not one of the choices."""
    # 1 == True: a number is no yes or no; and a list is compared, not hashed
    if not any(value == c and isinstance(value, bool) == isinstance(c, bool) for c in choices):
        raise BadRequest(f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}")
