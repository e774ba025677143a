"""Progress: a bar with time left on a terminal, a plain line now and then elsewhere, nothing for programs."""

import sys
import time
from collections.abc import Mapping
from typing import Any


class Progress:
    """Tells how far a run is. `mode`: bar, lines or quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.mode = "quiet" if quiet else "bar" if sys.stderr.isatty() else "lines"
        self._bar: Any = None

    def say(self, text: str) -> None:
        """Print one line (not when quiet)."""
        if self.mode != "quiet":
            print(text, file=sys.stderr, flush=True)

    def begin(self, name: str, total: int, settled: int, failed: int, not_run: Mapping[str, int]) -> None:
        """Start a job of `total` cells: some are settled: done, failed already, or cannot run here (by reason)."""
        self._name, self._total, self._failed = name, total, failed
        self._done = settled
        self._fresh, self._start, self._told = 0, time.monotonic(), time.monotonic()
        for why, number in not_run.items():
            self.say(f"{name}: {number} cells not run: {why} (fairpriv status says more)")
        if self.mode == "bar" and total > self._done:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("[red]{task.fields[failed]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
            )
            self._bar = RichProgress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(name, total=total, completed=self._done, failed="")
            self._bar.start()

    def cell(self, failed: bool, error: str = "") -> None:
        """Count one finished cell."""
        self._done += 1
        self._fresh += 1
        self._failed += failed
        if failed and self._failed <= 3:
            (self._bar.console.print if self._bar else self.say)(f"{self._name}: a cell failed: {error}")
        if self._bar:
            self._bar.update(self._task, completed=self._done, failed=f"{self._failed} failed" if self._failed else "")
        elif time.monotonic() - self._told > 5:
            self._told = time.monotonic()
            left = (self._told - self._start) / self._fresh * (self._total - self._done)
            self.say(f"{self._name}: {self._done}/{self._total} done, {self._failed} failed, about {left:.0f} s left")

    def end(self) -> None:
        """Stop the bar."""
        if self._bar:
            self._bar.stop()
            self._bar = None
