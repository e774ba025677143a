"""The store of finished cells: SQLite in WAL mode, written by the driver alone, one transaction per cell."""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fairpriv.errors import StoreError
from fairpriv.runner.kept import Kept, Origin, array_sums, pack, unpack
from fairpriv.seeds import digest
from fairpriv.stamps.stamp import Stamp

FORMAT = 2
BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)  # the second where the broken bytes stand in SQLite's message
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS cells (
  key TEXT PRIMARY KEY, identity TEXT NOT NULL, cell TEXT NOT NULL, data TEXT NOT NULL, code TEXT NOT NULL,
  origin TEXT NOT NULL, metrics TEXT NOT NULL, arrays BLOB, array_sums TEXT NOT NULL, seconds REAL NOT NULL,
  sum TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS by_identity ON cells (identity);
CREATE TABLE IF NOT EXISTS codes (digest TEXT PRIMARY KEY, definitions TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS failures (
  key TEXT PRIMARY KEY, cell TEXT NOT NULL, error TEXT NOT NULL, traceback TEXT NOT NULL, at TEXT NOT NULL
);
PRAGMA user_version = {FORMAT};
"""
_COLUMNS = "cell, data, code, origin, metrics, array_sums, seconds, sum"
_INSERT = "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def _row(kept: Kept, blob: bytes | None) -> tuple[Any, ...]:
    stamp = kept.stamp
    return (
        *(stamp.key, digest(stamp.cell), stamp.cell, stamp.data, stamp.code, kept.origin.text),
        *(json.dumps(kept.metrics), blob, json.dumps(kept.arrays), kept.seconds, kept.sum),
    )


def _kept(row: tuple[Any, ...]) -> Kept | None:
    """Return the finished cell of a row; None where the row is not what was written."""
    cell, data, code, origin, metrics, sums, seconds, said = row
    try:
        kept = Kept(Stamp(cell, data, code), json.loads(metrics), seconds, Origin.parse(origin), json.loads(sums))
        return kept if kept.sum == said else None
    except (ValueError, TypeError, AttributeError):  # not even JSON
        return None


class Store:
    """Finished and failed cells of one results directory.

    A file that SQLite cannot read is kept aside, what can still be read of it is carried over, and `notices` says so;
    opened `read_only`, nothing is moved or written. A row that does not match its checksum is not a finished cell.
    """

    def __init__(self, folder: Path, read_only: bool = False) -> None:
        self.path = folder / "cells.sqlite"
        self.notices: list[str] = []
        self._db = self._look()
        if not read_only and self.path.exists():
            self.open()

    def open(self) -> None:
        """Open the file for writing; a request that is refused before leaves no trace."""
        self._db.close()
        self.notices.clear()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            raise StoreError(
                f"cannot write results to {self.path.parent}: {error}; choose another with results_dir=PATH"
            ) from error

    def _look(self) -> sqlite3.Connection:
        """Open the file for reading only; an empty store stands for one that is not there or cannot be read."""
        empty = sqlite3.connect(":memory:")
        empty.executescript(_SCHEMA)
        if not self.path.exists():
            return empty
        try:
            # beside a file in WAL mode SQLite writes to read it, unless it is told that nobody else can write either
            alone = "" if os.access(self.path.parent, os.W_OK) else "&immutable=1"
            db = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro{alone}", uri=True, timeout=30)
            db.text_factory = _decode
            if db.execute("PRAGMA user_version").fetchone()[0] == FORMAT:
                db.execute("SELECT count(*) FROM cells").fetchone()
                empty.close()
                return db
            fault = "an older format"
        except BROKEN as error:
            fault = str(error)
        self.notices.append(f"{self.path} cannot be read ({fault}): the next run keeps it aside and goes on")
        return empty

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=30)
        db.text_factory = _decode
        try:
            known = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if known and db.execute("PRAGMA user_version").fetchone()[0] != FORMAT:
                raise sqlite3.DatabaseError("an older format")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
            db.executescript(_SCHEMA)
        except BaseException:
            db.close()
            raise
        return db

    def _open(self) -> sqlite3.Connection:
        try:
            db = self._connect()
            if (fault := db.execute("PRAGMA quick_check(1)").fetchone()[0]) == "ok":
                return db
            db.close()
        except BROKEN as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            fault = str(error)
        return self._rescue(fault)

    def _rescue(self, fault: str) -> sqlite3.Connection:
        """Move the unreadable file aside and carry over every row that can still be read."""
        aside = self.path.with_name(f"cells.broken-{time.strftime('%Y%m%dT%H%M%S')}-{time.time_ns() % 10**6}.sqlite")
        for suffix in ("-wal", "-shm", ""):
            part = self.path.with_name(self.path.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        db = self._connect()
        saved = 0
        for kept, blob in _readable(aside):
            db.execute(_INSERT, _row(kept, blob))
            saved += 1
        db.commit()
        self.notices.append(
            f"the store was damaged ({fault}): kept aside as {aside.name}, {saved} finished cells carried over"
        )
        return db

    def _select(self, where: str = "", values: tuple[Any, ...] = ()) -> Iterator[Kept]:
        for key, *row in self._rows(f"SELECT key, {_COLUMNS} FROM cells {where}", values):
            kept = _kept(tuple(row))
            if kept is not None and kept.stamp.key == key:
                yield kept
            else:
                self._notice(f"{self.path}: a finished cell does not match its checksum ({_name(row[0])})")

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, as far as broken pages let it."""
        try:
            yield from self._db.execute(query, values)
        except BROKEN as error:
            self._notice(f"{self.path} cannot be read to its end ({error})")

    def _notice(self, said: str) -> None:
        if said not in self.notices:
            self.notices.append(said)

    def kept(self) -> dict[str, Kept]:
        """Return all finished cells by key; one that does not match its checksum is named in `notices`."""
        return {kept.stamp.key: kept for kept in self._select()}

    def keys(self) -> set[str]:
        """Return the keys of the finished cells, unchecked."""
        return {key for (key,) in self._db.execute("SELECT key FROM cells")}

    def codes(self) -> dict[str, dict[str, str]]:
        """Return the definitions of every code that a finished cell was computed by."""
        found = {}
        for name, text in self._rows("SELECT digest, definitions FROM codes"):
            try:
                found[name] = dict(json.loads(text))
            except (ValueError, TypeError):  # broken bytes: what is outdated is not told by name
                self._notice(f"{self.path}: the definitions behind some finished cells cannot be read")
        return found

    def put(self, kept: Kept, arrays: bytes | None) -> None:
        """Keep a finished cell (and forget its earlier failure)."""
        self._write((_INSERT, _row(kept, arrays)), ("DELETE FROM failures WHERE key = ?", (kept.stamp.key,)))

    def take_in(self, found: Iterable[tuple[Kept, Mapping[str, np.ndarray]]]) -> None:
        """Keep finished cells that were computed elsewhere."""
        rows = [(_INSERT, _row(kept, pack(arrays))) for kept, arrays in found]
        if rows:
            self._write(*rows)

    def put_codes(self, codes: Mapping[str, Mapping[str, str]]) -> None:
        """Keep the definitions behind the cells."""
        known = set(self.codes())
        new = [(name, json.dumps(dict(found))) for name, found in codes.items() if name not in known]
        if new:
            self._write(*(("INSERT OR REPLACE INTO codes VALUES (?, ?)", row) for row in new))

    def fail(self, key: str, cell: str, error: str, traceback: str) -> None:
        """Keep a failed cell with its traceback; it is not taken for finished."""
        row = (key, cell, error, traceback, time.strftime("%Y-%m-%d %H:%M:%S"))
        self._write(("INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)", row))

    def _write(self, *statements: tuple[str, tuple[Any, ...]]) -> None:
        try:
            with self._db:
                for sql, values in statements:
                    self._db.execute(sql, values)
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"cannot write to {self.path}: {error}; finished cells are safe, free space or use results_dir=PATH"
            ) from error

    def arrays(self, kept: Kept) -> dict[str, np.ndarray]:
        """Return the arrays of a finished cell; none where they do not match their sums."""
        row = next(self._rows("SELECT arrays FROM cells WHERE key = ?", (kept.stamp.key,)), None)
        found = _arrays(row[0]) if row else {}
        return found if array_sums(found) == dict(kept.arrays) else {}

    def failures(self, keys: Iterable[str]) -> dict[str, tuple[str, str, str, str]]:
        """Return (cell, error, traceback, time) of the failed ones among these keys."""
        wanted = set(keys)
        query = self._rows("SELECT key, cell, error, traceback, at FROM failures")
        return {key: tuple(rest) for key, *rest in query if key in wanted}

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self._db.close()


def _decode(text: bytes) -> str:
    """Read text whose bytes may have been broken: the row's checksum finds it, not an exception."""
    return text.decode(errors="replace")


def _name(cell: Any) -> str:
    return cell if isinstance(cell, str) and len(cell) < 400 else f"{str(cell)[:400]}..."


def _arrays(blob: bytes | None) -> dict[str, np.ndarray]:
    try:
        return unpack(blob)
    except Exception:  # broken bytes: zip, zlib and numpy have errors of their own, and the sums tell what is whole
        return {}


def _readable(path: Path) -> Iterator[tuple[Kept, bytes | None]]:
    """Yield what a damaged store still gives, row by row; a row on a lost page, or half of one, is skipped."""
    db = sqlite3.connect(path)
    db.text_factory = _decode
    db.execute("PRAGMA writable_schema=ON")  # else SQLite refuses a file shorter than its header says, whole
    try:
        last = db.execute("SELECT max(rowid) FROM cells").fetchone()[0] or 0
    except BROKEN:
        last = 10**6
    misses = 0
    for rowid in range(1, last + 1):
        try:
            row = db.execute(f"SELECT arrays, {_COLUMNS} FROM cells WHERE rowid = ?", (rowid,)).fetchone()
            misses = 0 if row else misses + 1
        except BROKEN:
            row, misses = None, misses + 1
        if row and (kept := _kept(row[1:])) and (row[0] is None or array_sums(_arrays(row[0])) == dict(kept.arrays)):
            yield kept, row[0]
        if misses > 5000:  # the table's root itself is gone
            break
    db.close()
