"""Progress: a bar with time left on a terminal, a plain line now and then elsewhere, nothing for programs."""

import sys
import time
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from fairpriv.runner.survey import duration, time_left


class Progress:
    """Tells how far a run is. `mode`: bar, lines or quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.mode = "quiet" if quiet else "bar" if sys.stderr.isatty() else "lines"
        self._bar: Any = None

    def say(self, text: str) -> None:
        """Print one line (not when quiet)."""
        if self.mode != "quiet":
            print(text, file=sys.stderr, flush=True)

    def begin(
        self, name: str, total: int, times: Sequence[float | None], failed: int, not_run: Mapping[str, int]
    ) -> None:
        """Start a job of `total` cells, those to be computed with the seconds that each is expected to add.

        The others are settled: done, failed already, or cannot run here (by reason).
        """
        self._name, self._total, self._failed = name, total, failed
        self._done = total - len(times)
        known = [seconds for seconds in times if seconds is not None]
        self._unknown = fmean(known) if known else None  # what a cell without precedent is taken to cost
        self._whole, self._spent = sum(self._cost(seconds) for seconds in times), 0.0
        self._start = self._told = time.monotonic()
        for why, number in not_run.items():
            self.say(f"{name}: {number} cells not run: {why} (fairpriv status says more)")
        if self.mode == "bar" and times:
            self._open()

    def _open(self) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("[red]{task.fields[failed]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = RichProgress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(self._name, total=self._total, completed=self._done, failed="", left="")
        self._bar.start()

    def _cost(self, seconds: float | None) -> float:
        """Return what a cell counts for: its seconds, the mean of the others', or as much as any other."""
        return seconds if seconds is not None else self._unknown if self._unknown is not None else 1.0

    def _left(self) -> str:
        """Say how long the rest will take: by the forecast as corrected so far, or where there is none by the past."""
        elapsed = time.monotonic() - self._start
        if self._unknown is not None:
            return f"about {duration(time_left(self._whole, self._spent, elapsed))} left"
        if self._spent < self._whole / 20:
            return "time left not known yet"
        return f"about {duration(elapsed / self._spent * (self._whole - self._spent))} left"

    def cell(self, expected: float | None, failed: bool, error: str = "") -> None:
        """Count one finished cell."""
        self._done += 1
        self._spent += self._cost(expected)
        self._failed += failed
        if failed and self._failed <= 3:
            (self._bar.console.print if self._bar else self.say)(f"{self._name}: a cell failed: {error}")
        if self._bar:
            told = f"{self._failed} failed" if self._failed else ""
            self._bar.update(self._task, completed=self._done, failed=told, left=self._left())
        elif time.monotonic() - self._told > 5:
            self._told = time.monotonic()
            self.say(f"{self._name}: {self._done}/{self._total} done, {self._failed} failed, {self._left()}")

    def end(self) -> None:
        """Stop the bar."""
        if self._bar:
            self._bar.stop()
            self._bar = None
