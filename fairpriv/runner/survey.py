"""What is done, missing or outdated, and why; and how long the rest will take."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from fairpriv import datasets
from fairpriv.cells import Cell
from fairpriv.errors import BadRequest, DataUnavailable, FairprivError
from fairpriv.runner.kept import Kept
from fairpriv.runner.library import Library
from fairpriv.stamps.closure import Code
from fairpriv.stamps.stamp import Stamp, changed, code_behind, combination, differences, versions

UNKNOWN = "data not at hand"
_TRUSTED_SECONDS = 20.0


@dataclass
class Seat:
    """One cell of a job: what it should be stamped with, how it stands, and the finished cell it has."""

    cell: Cell
    state: str  # done, missing, outdated, failed, not run
    why: str = ""
    kept: Kept | None = None
    data: str | None = None  # sum of the data's files; None while it is not at hand
    extra: bool = False  # not of this request, but of the folder

    @property
    def stamp(self) -> Stamp:
        """Return the stamp of the cell as it would be computed now."""
        return Stamp(self.cell.identity, self.data or "", code_behind(self.cell).digest)

    @property
    def held(self) -> Kept:
        """Return the finished cell of a seat that has one: every seat that is done, or outdated with it kept."""
        if self.kept is None:
            raise ValueError(f"no finished cell here: {self.cell.identity}")
        return self.kept


@dataclass(frozen=True)
class _Ground:
    """What all cells of a point stand on: their code, the sum of their data, and the packages that are here."""

    code: Code
    data: str | None
    versions: Mapping[str, str]


class Surveyor:
    """Looks at cells one by one; what many share (sums of data, code) is looked at once a point."""

    def __init__(self, library: Library, strict: bool = False, recompute: bool = False) -> None:
        self.library, self.strict, self.recompute = library, strict, recompute
        self.other_versions: Counter[str] = Counter()
        self._sums: dict[str, str | None] = {}
        self._grounds: dict[str, _Ground] = {}
        self._other: dict[tuple[str, str], str] = {}

    def data_sum(self, cell: Cell) -> str | None:
        """Return the sum of a cell's data where its files are here; nothing is downloaded."""
        if "dataset" not in cell.plugins:
            return ""
        name = json.dumps(cell.plugins["dataset"], sort_keys=True)
        if name not in self._sums:
            params = dict(cell.plugins["dataset"])
            self._sums[name] = datasets.sums_at_hand(params.pop("name"), params)
        return self._sums[name]

    def look(self, cell: Cell, extra: bool = False) -> Seat:
        """Return how a cell stands."""
        try:
            ground = self._ground(cell)
        except FairprivError as error:  # a plug-in that is no longer there
            return Seat(cell, "outdated", str(error), self._last(cell), extra=extra)
        code, data = ground.code, ground.data
        known = self.library.by_cell.get(cell.identity, [])
        same = [k for k in known if k.stamp.code == code.digest and data in (None, k.stamp.data)]
        if same and not self.recompute:
            kept = same[-1]
            seat = Seat(cell, "done", kept=kept, data=kept.stamp.data, extra=extra)
            other = self._other_versions(kept, ground)
            if other and self.strict:
                return Seat(cell, "outdated", other, kept, data, extra)
            if other:
                self.other_versions[other] += 1
            return seat
        if not known:
            return Seat(cell, "missing", UNKNOWN if data is None else "", data=data, extra=extra)
        if self.recompute and same:
            return Seat(cell, "outdated", "recompute=true", same[-1], data, extra)
        return Seat(cell, "outdated", self._why(known[-1], code.digest, code.definitions, data), known[-1], data, extra)

    def _ground(self, cell: Cell) -> _Ground:
        if cell.point not in self._grounds:
            code = code_behind(cell)
            self._grounds[cell.point] = _Ground(code, self.data_sum(cell), versions(code.packages))
        return self._grounds[cell.point]

    def _other_versions(self, kept: Kept, ground: _Ground) -> str:
        """Say which packages a cell was made with other versions of ("" for none)."""
        pair = kept.origin.text, ground.code.digest
        if pair not in self._other:
            self._other[pair] = _packages(differences(kept.origin.versions, ground.versions))
        return self._other[pair]

    def _last(self, cell: Cell) -> Kept | None:
        known = self.library.by_cell.get(cell.identity, [])
        return known[-1] if known else None

    def _why(self, kept: Kept, digest: str, now: Mapping[str, str], data: str | None) -> str:
        if kept.stamp.code == digest:
            return "the data changed" if data is not None else UNKNOWN
        then = self.library.codes.get(kept.stamp.code)
        if then is None:
            return "the code changed"
        names = changed(then, now)
        if not names:
            return "the same definitions are put together in another way"
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return ", ".join(names[:3]) + more


def _packages(other: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {versions_}" for name, versions_ in other.items())


def expected(seats: Sequence[Seat], library: Library) -> list[float | None]:
    """Return the seconds that each of these cells will take; None where there is no precedent.

    A cell takes what it took before, of whatever code; else the mean of those with its plug-ins, or of its protocol.
    """
    if not seats:
        return []
    by_plugins: dict[Any, list[float]] = defaultdict(list)
    by_protocol: dict[str, list[float]] = defaultdict(list)
    for kept in library.by_key.values():
        by_plugins[kept.cell.protocol, combination(kept.cell)].append(kept.seconds)
        by_protocol[kept.cell.protocol].append(kept.seconds)
    means = {kind: fmean(times) for kind, times in (*by_plugins.items(), *by_protocol.items())}
    found = []
    for seat in seats:
        cell = seat.cell
        same = [kept.seconds for kept in library.by_cell.get(cell.identity, ())]
        mean = means.get((cell.protocol, combination(cell)), means.get(cell.protocol))
        found.append(same[-1] if same else mean)
    return found


def forecast(seats: Sequence[Seat], library: Library, jobs: int) -> tuple[float, int]:
    """Return (seconds that the unfinished cells will take, how many of them have no precedent)."""
    times = expected([seat for seat in seats if seat.state not in ("done", "not run") and not seat.extra], library)
    return sum(time for time in times if time is not None) / max(jobs, 1), times.count(None)


def time_left(whole: float, spent: float, elapsed: float) -> float:
    """Return the seconds left of a forecast of which so much is spent: corrected by how it has done so far.

    The first seconds of the forecast (20, or a tenth of it) count for no more than what is spent of them, so that a
    slow start does not stand for all that follows.
    """
    trusted = min(_TRUSTED_SECONDS, whole / 10)
    ahead = max(trusted - spent, 0.0)  # as if the rest of them went as forecast
    measured = spent + ahead
    return (whole - spent) * ((elapsed + ahead) / measured if measured else 1.0)


def duration(seconds: float) -> str:
    """Write a time in words: "35 s", "4 min", "2 h 10 min"."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def told(seats: Sequence[Seat], library: Library, jobs: int) -> str:
    """Say in a line how a job stands: counts, and the time the rest will take."""
    counts = Counter(seat.state for seat in seats if not seat.extra)
    kept = sum(seat.extra for seat in seats)
    parts = [f"{counts['done']} of {counts.total()} cells reused"]
    parts += [f"{counts[state]} {state}" for state in ("missing", "outdated", "failed", "not run") if counts[state]]
    parts += [f"{kept} more in the folder"] if kept else []
    seconds, unknown = forecast(seats, library, jobs)
    if unknown:
        parts.append(f"no time known for {unknown} of them")
    if seconds:
        parts.append(f"about {duration(seconds)} to go")
    return ", ".join(parts)


def reasons(seats: Iterable[Seat]) -> dict[str, int]:
    """Return why cells are outdated, each reason with its number of cells."""
    return dict(Counter(seat.why for seat in seats if seat.state == "outdated").most_common())


# The sum of a dataset, why it cannot be had, and what is wrong with its content.
Brought = tuple[str, DataUnavailable | None, DataUnavailable | None]


def bring(cell: Cell) -> Brought:
    """Bring and read a cell's data: its sum, why it cannot be had, and what is wrong with its content."""
    params = dict(cell.plugins["dataset"])
    name = params.pop("name")
    try:
        found = datasets.sums(name, params)
    except DataUnavailable as error:
        return "", error, None
    try:
        datasets.load(name, params)
    except DataUnavailable as error:
        return found, None, error
    except MemoryError as error:
        raise BadRequest(f"dataset {name} does not fit into memory: {error}") from error
    return found, None, None
