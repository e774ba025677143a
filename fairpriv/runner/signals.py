"""SIGTERM and SIGHUP end a run as Ctrl-C does: partial results written, and how to resume."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
# A batch system that ends a job, and a terminal that is closed.
_CODES = {"SIGTERM": 143, "SIGHUP": INTERRUPTED}


class Stopped(KeyboardInterrupt):
    """The process was asked to end; `exit_code` is what it ends with."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


def exit_code_of(stop: KeyboardInterrupt) -> int:
    """Return the exit code of an interruption."""
    return stop.exit_code if isinstance(stop, Stopped) else INTERRUPTED


@contextmanager
def stopping() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise `Stopped` in the main thread (elsewhere signals cannot be taken)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _: FrameType | None) -> None:
        raise Stopped(_CODES[signal.Signals(number).name])

    known = [getattr(signal, name) for name in _CODES if hasattr(signal, name)]  # Windows has no SIGHUP
    before = {number: signal.signal(number, stop) for number in known}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
