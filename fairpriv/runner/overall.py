"""One progress view over many experiments: a bar each and one for all, the time left weighed by what cells take."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fairpriv.runner.progress import Progress
from fairpriv.runner.survey import duration, time_left

_LINE_SECONDS = 10.0


@dataclass
class Part:
    """What one experiment has still to do: cells, and the seconds they are forecast to take together."""

    cells: int
    seconds: float
    done: int = 0

    @property
    def spent(self) -> float:
        """Return the forecast seconds of what is done."""
        return self.seconds * self.done / self.cells if self.cells else 0.0


class Overall(Progress):
    """Tells how far all experiments are together. The driver speaks to it as to the progress of one."""

    def __init__(self, parts: Mapping[str, Part], quiet: bool = False) -> None:
        super().__init__(quiet)
        self.parts = dict(parts)
        self._started = self._line = time.monotonic()
        self._failed = 0
        self._rows: dict[str, Any] = {}

    @property
    def left(self) -> float:
        """Return the seconds left: the forecast of the rest, corrected by how the forecast has done so far."""
        spent = sum(part.spent for part in self.parts.values())
        whole = sum(part.seconds for part in self.parts.values())
        return time_left(whole, spent, time.monotonic() - self._started)

    def say(self, text: str) -> None:
        """Print one line, above the bars where there are some."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            super().say(text)

    def open(self) -> None:
        """Show the bars (on a terminal)."""
        if self.mode != "bar":
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = RichProgress(*columns, console=Console(stderr=True))
        for name, part in self.parts.items():
            self._rows[name] = self._bar.add_task(name, total=part.cells, left="")
        self._all = self._bar.add_task("all", total=sum(p.cells for p in self.parts.values()), left="")
        self._bar.start()

    def begin(
        self, name: str, total: int, times: Sequence[float | None], failed: int, not_run: Mapping[str, int]
    ) -> None:
        """Go on to an experiment, whose time is known from the start."""
        self._name = name
        self._failed += failed
        for why, number in not_run.items():
            self.say(f"{name}: {number} cells not run: {why}")

    def cell(self, expected: float | None, failed: bool, error: str = "") -> None:
        """Count one finished cell."""
        part = self.parts[self._name]
        part.done += 1
        self._failed += failed
        if failed and self._failed <= 3:
            self.say(f"{self._name}: a cell failed: {error}")
        done = sum(p.done for p in self.parts.values())
        told = f"{self._failed} failed, " if self._failed else ""
        if self._bar is not None:
            self._bar.update(self._rows[self._name], completed=part.done)
            self._bar.update(self._all, completed=done, left=f"{told}about {duration(self.left)} left")
        elif time.monotonic() - self._line > _LINE_SECONDS:
            self._line = time.monotonic()
            number = [*self.parts].index(self._name) + 1
            cells = sum(p.cells for p in self.parts.values())
            here = f"{number}/{len(self.parts)} {self._name}: {part.done}/{part.cells} cells"
            self.say(f"{here}; all: {done}/{cells} cells, {told}about {duration(self.left)} left")

    def end(self) -> None:
        """Keep the bars: the next experiment goes on in them."""

    def close(self) -> None:
        """Take the bars away."""
        super().end()
