"""`{every: FAMILY, but: [...], also: [...]}`: an axis that holds every plug-in of a family, whoever brought it.

FAMILY is the name of a base class; `but` leaves out plug-ins or whole families, `also` adds further options.
"""

from collections.abc import Collection, Mapping
from typing import Any

from fairpriv import registry
from fairpriv.cells import GROUPS
from fairpriv.errors import BadRequest, unknown

WORDS = ("every", "but", "also")


def family_members(group: str, family: str, left_out: Collection[str] = ()) -> list[str]:
    """Return the plug-ins of a group whose class, or one it derives from, is called so; but those left out alike."""
    kind = GROUPS[group]
    called = {n: {n, *(c.__name__ for c in registry.find(kind, n).__mro__)} for n in registry.names(kind)[0]}
    if not any(family in names for names in called.values()):
        raise unknown(f"family of {group}", family, set().union(*called.values()) - {"object", *called})
    return [name for name, names in called.items() if family in names and not names & set(left_out)]


def expanded(key: str, axis: str, values: Any) -> Any:
    """Return the values of an axis with `{every: FAMILY}` replaced by its members; other values as they are."""
    if axis not in GROUPS or not isinstance(values, Mapping):
        return values
    for word in values:
        if word not in WORDS:
            raise unknown(f"key in {key}", word, WORDS)
    if "every" not in values:
        raise BadRequest(f"{key} must name a family: {{every: FAMILY}}, got {dict(values)!r}")
    members = family_members(axis, values["every"], values.get("but") or ())
    return [*members, *(values.get("also") or ())]
