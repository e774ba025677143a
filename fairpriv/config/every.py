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
    left_out, added = (_names(f"{key}.{word}", values.get(word)) for word in ("but", "also"))
    return [*family_members(axis, str(values["every"]), left_out), *added]


def _names(key: str, said: Any) -> list[str]:
    """Return a name, or a list of them, as a list."""
    names = [] if said is None else list(said) if isinstance(said, list | tuple) else [said]
    for name in names:
        if not isinstance(name, str):
            raise BadRequest(f"{key} must be names, got {said!r}")
    return names
