"""A results folder as it is committed: cells.csv, the stamps of its rows beside it, and the arrays of its figures.

cells.csv is the one place of the numbers. stamps.json.gz says for each finished row what it was computed from, of which
type its metrics are, and its checksum; arrays.npz holds the arrays that figures ask for, each distinct one once, under
its sum.
"""

import csv
import gzip
import io
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fairpriv.cells import split
from fairpriv.errors import StoreError
from fairpriv.runner.kept import Kept, Origin, array_sum, savez
from fairpriv.stamps.stamp import Stamp

CELLS, STAMPS, ARRAYS = "cells.csv", "stamps.json.gz", "arrays.npz"
FORMAT = 2

_TYPES: dict[type, str] = {bool: "b", int: "i", float: "f", str: "s", type(None): "n"}
_READ: dict[str, Callable[[str], Any]] = {
    "b": lambda text: text == "True",
    "i": lambda text: int(text) if text.lstrip("-").isdigit() else int(float(text)),
    "f": lambda text: float(text) if text else float("nan"),
    "s": str,
    "n": lambda _: None,
}


def _type(value: Any) -> str:
    plain = _TYPES.get(type(value))
    return plain or next(_TYPES[kind] for kind in (bool, int, float, str, type(None)) if isinstance(value, kind))


def replace_file(path: Path, content: str | bytes) -> bool:
    """Write a file whole or not at all, and only where it changes; say whether it did."""
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    part.replace(path)
    return True


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written, before the work is done; nothing is made yet."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    why = "is not a folder" if not there.is_dir() else "is read-only" if not os.access(there, os.W_OK | os.X_OK) else ""
    if why:
        raise StoreError(f"cannot write results to {folder}: {there} {why}; choose another with results_dir=PATH")


@dataclass
class Folder:
    """What a results folder holds: its finished cells in the order of cells.csv."""

    path: Path
    kept: list[Kept] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def arrays(self, kept: Kept) -> dict[str, np.ndarray]:
        """Return the arrays of a finished cell, all of them; none where one is not there or does not match its sum."""
        if not kept.arrays or not (self.path / ARRAYS).is_file():
            return {}
        try:
            with (self.path / ARRAYS).open("rb") as file, np.load(file, allow_pickle=False) as archive:
                found = {name: archive[sum_] for name, sum_ in kept.arrays.items() if sum_ in archive}
        except Exception:  # broken bytes: zip, zlib and numpy have errors of their own, and the sums tell what is whole
            return {}
        whole = {name: array_sum(array) for name, array in found.items()} == dict(kept.arrays)
        return found if whole else {}


def _norm(value: Any) -> str:
    """Write a value of an axis so that what was put into a CSV and what comes out of it agree."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(value)
    try:
        return repr(float(value))
    except (TypeError, ValueError):
        return str(value)


def _by_axes(rows: Sequence[Mapping[str, str]], axes: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Return the place of each finished row; an open one may have axes that no finished cell has, and look alike."""
    norm = cache(_norm)  # a column has few values
    done = [(number, row) for number, row in enumerate(rows) if row.get("seconds")]
    return {tuple(norm(row.get(axis)) for axis in (*axes, "seed")): number for number, row in done}


def _unzip(path: Path) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    if said.get("format") == 1:  # each code with its definitions written out
        return said
    if said.get("format") != FORMAT:
        raise ValueError(f"format {said.get('format')}, not {FORMAT}")
    definitions = said.pop("definitions")
    return said | {"codes": {name: dict(definitions[i] for i in places) for name, places in said["codes"].items()}}


def read_folder(path: Path) -> Folder:
    """Read a results folder; a row that does not match its checksum is named in `notices` and left out."""
    if not (path / STAMPS).is_file() or not (path / CELLS).is_file():
        return Folder(path)
    try:
        with (path / CELLS).open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except (OSError, ValueError, csv.Error) as error:
        return Folder(path, notices=[f"{path / CELLS} cannot be read ({error}): its cells count as missing"])
    try:
        return _stamped(path, _unzip(path / STAMPS), rows)
    except (OSError, EOFError, zlib.error, ValueError, TypeError, LookupError, AttributeError) as error:
        why = str(error) or type(error).__name__
        return Folder(path, notices=[f"{path / STAMPS} cannot be read ({why}): its cells count as missing"])


def _stamped(path: Path, said: Mapping[str, Any], rows: Sequence[Mapping[str, str]]) -> Folder:
    """Return the rows that are as their stamps say."""
    folder = Folder(path, codes=said["codes"])
    points = _points([entry[0] for entry in said["cells"]])
    axes = sorted({axis for point in points.values() for axis in point})
    places = _by_axes(rows, axes)
    values = {text: tuple(_norm(point.get(axis)) for axis in axes) for text, point in points.items()}
    origins = [Origin(**origin) for origin in said["origins"]]
    found: list[tuple[int, Kept]] = []
    for text, data, code, origin, shape, arrays, sum_ in said["cells"]:
        point, seed = split(text)
        place = places.get((*values[point], _norm(seed)))
        stamp = Stamp(text, said["data"][data], code)
        kept = (
            None if place is None else _kept(rows[place], stamp, origins[origin], said["shapes"][shape], arrays or {})
        )
        if place is None or kept is None or kept.sum != sum_:
            name = ", ".join(f"{a}={v}" for a, v in points[point].items())
            folder.notices.append(f"{path / CELLS}: {name}, seed={seed} does not match its checksum")
            continue
        found.append((place, kept))
    folder.kept = [kept for _, kept in sorted(found, key=lambda pair: pair[0])]
    return folder


def _points(identities: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the axes of each point among these cells, by its text; its seeds share it."""
    points = dict.fromkeys(split(identity)[0] for identity in identities)
    return {point: json.loads(f"{point}}}")["axes"] for point in points}


def _kept(
    row: Mapping[str, str], stamp: Stamp, origin: Origin, shape: list[list[str]], arrays: dict[str, str]
) -> Kept | None:
    try:
        metrics = {name: _READ[kind](row[name]) for name, kind in shape}
        return Kept(stamp, metrics, float(row["seconds"]), origin, arrays)
    except (TypeError, KeyError, ValueError):
        return None


class _Index:
    """Numbers distinct things in the order in which they come."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._known: dict[Any, int] = {}

    def __call__(self, item: Any, key: Any = None) -> int:
        """Return the number of a thing, which is known by itself or by a key."""
        key = item if key is None else key
        if key not in self._known:
            self._known[key] = len(self.items)
            self.items.append(item)
        return self._known[key]


def stamps_of(kept: Iterable[Kept], codes: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return what stamps.json.gz says of these finished cells."""
    data, origins, shapes, definitions = _Index(), _Index(), _Index(), _Index()
    cells = []
    used = set()
    for one in kept:
        shape = tuple((name, _type(value)) for name, value in one.metrics.items())
        stamp = one.stamp
        places = data(stamp.data), stamp.code, origins(one.origin, one.origin.text), shapes(shape)
        cells.append([stamp.cell, *places, dict(one.arrays) or 0, one.sum])
        used.add(stamp.code)
    kept_codes = {name: list(map(definitions, codes[name].items())) for name in sorted(used) if name in codes}
    tables = {"data": data.items, "origins": [json.loads(one.text) for one in origins.items], "shapes": shapes.items}
    return {"format": FORMAT, "definitions": definitions.items, "codes": kept_codes, **tables, "cells": cells}


def write_stamps(path: Path, kept: Sequence[Kept], codes: Mapping[str, Mapping[str, str]]) -> None:
    """Write stamps.json.gz, only where what it says changes (another zlib packs the same into other bytes)."""
    said = json.dumps(stamps_of(kept, codes), separators=(",", ":"))
    target = path / STAMPS
    if target.is_file() and _text(target) == said:
        return
    replace_file(target, gzip.compress(said.encode(), mtime=0))


def _text(path: Path) -> str | None:
    try:
        return gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, zlib.error, ValueError):
        return None


def write_arrays(path: Path, kept: Sequence[Kept], arrays: Callable[[Kept], Mapping[str, np.ndarray]]) -> None:
    """Write arrays.npz: those of these cells that are at hand, each distinct one once; only where the set changes."""
    wanted = {sum_ for one in kept for sum_ in one.arrays.values()}
    target = path / ARRAYS
    if not wanted:
        target.unlink(missing_ok=True)
        return
    if target.is_file() and _array_names(target) == wanted:
        return
    found: dict[str, np.ndarray] = {}
    for one in kept:
        if set(one.arrays.values()) - set(found):
            found |= {array_sum(array): array for array in arrays(one).values()}
    buffer = io.BytesIO()
    savez(buffer, {name: found[name] for name in sorted(found)})
    replace_file(target, buffer.getvalue())


def _array_names(path: Path) -> set[str] | None:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name.removesuffix(".npy") for name in archive.namelist()} if archive.testzip() is None else None
    except Exception:  # broken bytes: it is written anew
        return None


def tidy_frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return records as a frame whose CSV is the same whatever the other rows: whole numbers stay whole."""
    table = pd.DataFrame.from_records(list(records))
    for column in table.select_dtypes("float"):  # a cell without the axis must not turn m = 40 into 40.0
        given = [r[column] for r in records if r.get(column) is not None]
        if given and all(isinstance(v, int) for v in given):
            table[column] = table[column].astype("Int64")
    last = [c for c in ("status", "seconds", "why") if c in table]
    return table[[c for c in table.columns if c not in last] + last]
