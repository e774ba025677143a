"""Whose turn it is to write: SQLite looks every few milliseconds whether a file is free, the system wakes the next."""

import os
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: SQLite's own waiting does
    fcntl = None  # type: ignore[assignment]


class Turn:
    """A lock that processes and threads pass on at once; the end of a process, in any way, passes it on too.

    It only saves time: it is SQLite's transactions that keep the budget. The lock is on a file of its own, as SQLite
    would lose its locks on the state file if anybody else closed it.
    """

    def __init__(self, state: Path) -> None:
        self._file: int | None = None
        if fcntl is None:
            return
        try:
            self._file = os.open(f"{state}-turn", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:  # a folder that may not be written to
            self._file = None

    def __enter__(self) -> None:
        """Wait for one's turn."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: Any) -> None:
        """Pass it on."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def __del__(self) -> None:
        if self._file is not None:
            os.close(self._file)
