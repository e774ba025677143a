"""Strict JSON: what every parser takes. JSON has no infinity and no NaN: they become "inf", "-inf" and null."""

import json
import math
from collections.abc import Mapping
from typing import Any


def _strict(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _strict(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_strict(v) for v in value]
    if hasattr(value, "item") and not isinstance(value, type):  # a number of numpy's
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else f"{value}"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def dumps(value: Any, indent: int | None = 1) -> str:
    """Return a value as strict JSON; what is no JSON type (a path, a date) as its text."""
    return json.dumps(_strict(value), indent=indent, allow_nan=False)
