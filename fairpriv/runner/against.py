"""Cells computed anew held against committed ones: how many are equal byte for byte, which are not, and why."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairpriv.runner.kept import Kept, Origin
from fairpriv.runner.library import Library
from fairpriv.runner.recompute import Again, again, compare
from fairpriv.runner.verify import LOCAL
from fairpriv.stamps.stamp import changed, differences

UNEXPLAINED = "code, data, packages and processor are the same: it does not reproduce"


@dataclass(frozen=True)
class Difference:
    """A cell that did not come out equal: rounding or different, in what, and what could have made it so."""

    cell: str
    verdict: str
    detail: str
    why: str


@dataclass
class Comparison:
    """One experiment's cells against the committed ones."""

    equal: int = 0
    with_companions: int = 0  # of the equal ones: only together with the cells they were first computed with
    new: int = 0  # cells that are not among the committed ones
    differences: list[Difference] = field(default_factory=list)

    @property
    def compared(self) -> int:
        """Return how many cells have a committed counterpart."""
        return self.equal + len(self.differences)

    @property
    def different(self) -> list[Difference]:
        """Return what differs by more than rounding."""
        return [d for d in self.differences if d.verdict != "rounding"]

    def __str__(self) -> str:
        """Say it in a line."""
        said = f"{self.equal} of {self.compared} cells equal, byte for byte"
        if not self.compared:
            return f"no committed cells to compare its {self.new} with"
        more = [f"{self.new} more have no committed counterpart"] if self.new else []
        return "; ".join([said, *more])

    def reasons(self) -> dict[tuple[str, str], list[Difference]]:
        """Return the differences by verdict and reason."""
        found: dict[tuple[str, str], list[Difference]] = {}
        for one in self.differences:
            found.setdefault((one.verdict, one.why), []).append(one)
        return found


def _other_place(then: Origin, now: Origin) -> list[str]:
    """Say in what two cells were computed elsewhere: packages, processor, pin."""
    found = [f"{name} {versions}" for name, versions in differences(then.versions, now.versions).items()]
    if then.processor != now.processor:
        found.append(f"processor {then.processor or 'unknown'} -> {now.processor or 'unknown'}")
    if then.pin != now.pin:
        found.append(f"pin {then.pin or 'none'} -> {now.pin or 'none'}")
    return found


def _why(then: Kept, now: Kept, codes: tuple[Mapping[str, Any], Mapping[str, Any]]) -> str:
    """Say what could have made two results of one cell differ; "" where nothing could."""
    found = []
    if then.stamp.code != now.stamp.code:
        names = changed(codes[0].get(then.stamp.code, {}), codes[1].get(now.stamp.code, {}))
        found.append("the committed cell is of other code (" + ", ".join(names[:3]) + ")")
    if then.stamp.data != now.stamp.data:
        found.append("other data")
    return ", ".join([*found, *_other_place(then.origin, now.origin)])


def _counterpart(kept: Kept, committed: Library) -> Kept | None:
    """Return the committed cell that a new one is held against: of the same code where there is one."""
    known = committed.by_cell.get(kept.stamp.cell, [])
    return committed.by_key.get(kept.stamp.key) or (known[-1] if known else None)


def against(made: Iterable[Kept], own: Library, committed: Library, jobs: int | None = None) -> Comparison:
    """Compare cells with the committed ones.

    Some protocols compute cells together, and another profile has other companions. What nothing else explains is
    computed once more with the companions that it was committed with.
    """
    found = Comparison()
    unexplained: list[tuple[Kept, Again]] = []
    for kept in made:
        then = _counterpart(kept, committed)
        if then is None:
            found.new += 1
            continue
        one = compare(then, kept.metrics, kept.arrays)
        if one.verdict == "equal":
            found.equal += 1
        elif why := _why(then, kept, (committed.codes, own.codes)):
            found.differences.append(Difference(then.describe(), one.verdict, one.detail, why))
        else:
            unexplained.append((then, one))
    _once_more(unexplained, committed, found, jobs or os.cpu_count() or 1)
    return found


def _once_more(unexplained: list[tuple[Kept, Again]], committed: Library, found: Comparison, jobs: int) -> None:
    """Compute cells again with their companions of old, and count what is equal then."""
    if not unexplained:
        return
    kept = list(committed.by_key.values())
    places = {one.stamp.key: place for place, one in enumerate(kept)}
    for one, _ in again(kept, [places[then.stamp.key] for then, _ in unexplained], LOCAL, jobs):
        if one.verdict == "equal":
            found.equal += 1
            found.with_companions += 1
        else:
            found.differences.append(Difference(one.kept.describe(), one.verdict, one.detail, UNEXPLAINED))
