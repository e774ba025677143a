"""What can go wrong, and one way to say it: a single line with the valid choices."""

import difflib
from collections.abc import Iterable


class FairprivError(Exception):
    """Anything fairpriv refuses; `exit_code` is what the command returns."""

    exit_code = 1


class BadRequest(FairprivError):
    """The request was wrong: one line saying what, with the valid choices or range."""

    exit_code = 2


class DataUnavailable(BadRequest):
    """A data file (or a package) could not be had: which, where it was sought and how to bring it.

    `brief` says the same in a few words, for tables.
    """

    def __init__(self, message: str, brief: str = "") -> None:
        super().__init__(message)
        self.brief = brief or message.split(" (")[0]


class DataCorrupt(BadRequest):
    """A data file is there and is not what it should be: its sum differs from the published one."""


class DoesNotFit(BadRequest):
    """A cell asks more of a dataset than it has: more rows, more queries, a smaller budget than its size allows.

    `axis` is the axis to change; `brief` says the same in a few words, for tables.
    """

    def __init__(self, message: str, axis: str = "") -> None:
        super().__init__(message)
        self.axis = axis
        self.brief = message


class StoreError(BadRequest):
    """The results directory cannot hold results (read-only, full, not a directory)."""


def unknown(kind: str, name: object, choices: Iterable[str]) -> BadRequest:
    """Build the error for a name that is not among the choices, closest names first."""
    names = sorted(str(c) for c in choices)
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return BadRequest(f"unknown {kind} {str(name)!r}: {hint}valid: {', '.join(names) or '(none)'}")
