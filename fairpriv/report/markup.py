"""Pieces of a page: text that is escaped, and tags."""

from html import escape
from typing import Any


def escaped(text: Any) -> str:
    """Return a text as it stands on a page, quotes too."""
    return escape(str(text), quote=True)


def tag(name: str, content: str, **attributes: str) -> str:
    """Return a tag around content that is HTML already; attributes are escaped, empty ones left out."""
    given = "".join(f' {key.rstrip("_")}="{escaped(value)}"' for key, value in attributes.items() if value)
    return f"<{name}{given}>{content}</{name}>"
