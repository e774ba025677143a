"""`fairpriv verify`: a stratified sample of the finished cells, computed again."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fairpriv.cells import Cell
from fairpriv.errors import BadRequest, DataUnavailable, FairprivError
from fairpriv.registry import build
from fairpriv.runner.kept import Kept
from fairpriv.runner.library import open_library
from fairpriv.runner.recompute import Again, again, sample, within
from fairpriv.runner.status import folders
from fairpriv.runner.survey import Surveyor, bring, duration
from fairpriv.seeds import canonical

LOCAL = {"name": "local"}


@dataclass
class Verified:
    """What a verification found: counts, what is not equal in bytes, and what could not be computed here."""

    counts: Counter[str] = field(default_factory=Counter)
    unequal: list[Again] = field(default_factory=list)
    not_here: Counter[str] = field(default_factory=Counter)


def _absent_data(cell: Cell) -> str:
    """Return why a cell's data cannot be had here ("" where it can)."""
    _, missing, wrong = bring(cell) if "dataset" in cell.plugins else ("", None, None)
    fault = missing or wrong
    return fault.brief if fault else ""


def _absent_package(cell: Cell) -> str:
    """Return which package that only some cells need is not installed here ("" where none is lacking)."""
    try:
        build("protocols", cell.protocol).validate(cell)
    except DataUnavailable as error:
        return error.brief
    except FairprivError:
        pass  # what the present code refuses fails when it is computed, and says so
    return ""


def computable(kept: list[Kept]) -> tuple[list[Kept], Counter[str]]:
    """Return the cells whose data and packages can be had here, and why the others cannot."""
    looked: dict[str, str] = {}
    here: list[Kept] = []
    absent: Counter[str] = Counter()
    for one in kept:
        data, point = canonical(one.cell.plugins.get("dataset")), one.cell.point
        if point not in looked:
            looked[point] = _absent_package(one.cell)
        if data not in looked and not looked[point]:
            looked[data] = _absent_data(one.cell)
        why = looked[point] or looked[data]
        if why:
            absent[why] += 1
        else:
            here.append(one)
    return here, absent


def verify(
    results: Path,
    experiment: str | None,
    size: int,
    seed: int,
    say: Callable[[str], None],
    jobs: int | None = None,
    minutes: float | None = None,
) -> Verified:
    """Recompute a sample of the finished cells that the present code would reuse, within so many minutes if given."""
    if size < 1:
        raise BadRequest(f"--sample must be >= 1, got {size}")
    if minutes is not None and not minutes > 0:
        raise BadRequest(f"--minutes must be > 0, got {minutes:g}")
    workers = jobs or os.cpu_count() or 1
    library = open_library(results, read_only=True)
    surveyor = Surveyor(library)
    kept: list[Kept] = []
    for path in folders(results, experiment):
        if path in library.folders:
            seats = [surveyor.look(one.cell) for one in library.folders[path].kept]
            kept += [seat.held for seat in seats if seat.state == "done"]
            outdated = sum(seat.state != "done" for seat in seats)
            if outdated:
                say(f"{path}: {outdated} outdated cells left out (fairpriv status says why)")
    library.store.close()
    kept = list({one.stamp.key: one for one in kept}.values())
    if not kept:
        raise BadRequest(f"no finished cells of the present code in {results}: nothing to verify")
    found = Verified()
    # drawn first, so that only the data of the sample is brought
    places = sample(kept, size, seed)
    if minutes is not None:
        places = within(kept, places, 60 * minutes * workers)
        if not places:
            raise BadRequest(f"no cell of the sample takes less than {minutes:g} minutes: give more with --minutes")
    chosen, found.not_here = computable([kept[place] for place in places])
    keys = {one.stamp.key for one in chosen}
    wanted = [place for place, one in enumerate(kept) if one.stamp.key in keys]
    seconds = sum(kept[place].seconds for place in wanted)
    say(
        f"computing {len(wanted)} of {len(kept)} cells again: about {duration(seconds / workers)} on {workers} workers "
        "by recorded times, more where cells share work (--minutes M sets a limit)"
    )
    for one, _ in again(kept, wanted, LOCAL, workers):
        found.counts[one.verdict] += 1
        if one.verdict != "equal":
            found.unequal.append(one)
    return found
