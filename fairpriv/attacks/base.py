"""What an attack is, of any family: it receives only a view, never the sensitive column.

Each family has a folder, with its base class in base.py and all its code.
"""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.registry import Plugin


@dataclass(frozen=True)
class AnyAttack(Plugin):
    """An attack of any family; each says in `paper` where it comes from."""

    kind: ClassVar[str] = "attacks"
    name: ClassVar[str]
    paper: ClassVar[str] = ""
