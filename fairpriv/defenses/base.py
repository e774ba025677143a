"""What a defense is, of any family. Each family has a folder, with its base class in base.py and all its code."""

from dataclasses import dataclass
from typing import ClassVar

from fairpriv.registry import Plugin


@dataclass(frozen=True)
class Defense(Plugin):
    """A defense; each says in `paper` where it comes from.

    Examples
    --------
    What an experiment accepts is a family; every family's base is one of these:

    >>> from fairpriv import Defense, FairLearner, QueryDefense, RepresentationDefense
    >>> all(issubclass(family, Defense) for family in (FairLearner, QueryDefense, RepresentationDefense))
    True
    >>> Defense.kind
    'defenses'
    """

    kind: ClassVar[str] = "defenses"
    name: ClassVar[str]
    paper: ClassVar[str] = ""
