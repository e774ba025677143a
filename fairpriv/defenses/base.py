"""What a defense is, of any family. Each family has a folder, with its base class in base.py and all its code."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.registry import Plugin


@dataclass(frozen=True)
class Defense(Plugin):
    """A defense; each says in `paper` where it comes from."""

    kind: ClassVar[str] = "defenses"
    name: ClassVar[str]
    paper: ClassVar[str] = ""
