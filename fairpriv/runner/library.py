"""All finished cells at hand: those in the store and those committed in results folders."""

import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fairpriv.runner.folder import STAMPS, Folder, read_folder
from fairpriv.runner.kept import Kept
from fairpriv.runner.store import Store


class Library:
    """Finished cells of a results directory, by key and by what the cell is."""

    def __init__(self, store: Store, folders: Iterable[Folder]) -> None:
        self.store = store
        self.folders = {folder.path: folder for folder in folders}
        self.by_key: dict[str, Kept] = {}
        self.by_cell: dict[str, list[Kept]] = defaultdict(list)
        self.codes: dict[str, Mapping[str, str]] = dict(store.codes())
        self._place: dict[str, Folder | Store] = {}
        for kept in store.kept().values():
            self.add(kept, store)
        for folder in self.folders.values():
            self.codes |= folder.codes
            for kept in folder.kept:
                if kept.stamp.key not in self.by_key:
                    self.add(kept, folder)

    def add(self, kept: Kept, place: Folder | Store) -> None:
        """Take in a finished cell; of several with one key the last counts."""
        if kept.stamp.key in self.by_key:
            self.by_cell[kept.stamp.cell].remove(self.by_key[kept.stamp.key])
        self.by_key[kept.stamp.key] = kept
        self.by_cell[kept.stamp.cell].append(kept)
        self._place[kept.stamp.key] = place

    def arrays(self, kept: Kept) -> dict[str, np.ndarray]:
        """Return the arrays of a finished cell."""
        return self._place[kept.stamp.key].arrays(kept)

    @property
    def notices(self) -> list[str]:
        """Return what could not be read, a line each."""
        return [*self.store.notices, *(n for folder in self.folders.values() for n in folder.notices)]


@contextmanager
def many_objects() -> Iterator[None]:
    """Hold the garbage collector off while many objects are made that all stay: it would go through them each time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@many_objects()
def open_library(results: Path, experiments: Iterable[str] | None = None, read_only: bool = False) -> Library:
    """Open the store of a results directory and read its committed folders (of these experiments, or all)."""
    store = Store(results, read_only)
    places = [results] if experiments is None else [results / name for name in experiments]
    paths = sorted({path.parent for place in places for path in place.rglob(STAMPS)})
    return Library(store, map(read_folder, paths))
