"""The store of finished cells: SQLite in WAL mode, written by the driver alone, one transaction a cell."""

import io
import json
import re
import sqlite3
import time
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fairpriv.errors import StoreError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS cells (
  key TEXT PRIMARY KEY, cell TEXT NOT NULL, metrics TEXT NOT NULL, arrays BLOB, seconds REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS failures (
  key TEXT PRIMARY KEY, cell TEXT NOT NULL, error TEXT NOT NULL, traceback TEXT NOT NULL, at TEXT NOT NULL
);
"""


def pack(arrays: Mapping[str, np.ndarray]) -> bytes | None:
    """Return arrays as the bytes of an .npz (no pickle)."""
    if not arrays:
        return None
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def unpack(blob: bytes | None) -> dict[str, np.ndarray]:
    """Return the arrays of `pack`."""
    if blob is None:
        return {}
    with np.load(io.BytesIO(blob), allow_pickle=False) as archive:
        return dict(archive)


class Store:
    """Finished and failed cells of one results directory.

    A file that SQLite cannot read is kept aside, what can still be read of it is carried over, and `notice` says so.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "cells.sqlite"
        self.notice = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._db = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            raise StoreError(
                f"cannot write results to {folder}: {error}; choose another with results_dir=PATH"
            ) from error

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=30)
        try:
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
        except sqlite3.DatabaseError as error:
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
        for row in _readable_rows(aside):
            db.execute("INSERT OR IGNORE INTO cells VALUES (?, ?, ?, ?, ?)", row)
            saved += 1
        db.commit()
        self.notice = (
            f"the store was damaged ({fault}): kept aside as {aside.name}, {saved} finished cells carried over"
        )
        return db

    def done(self, keys: Iterable[str]) -> set[str]:
        """Return which of these keys are finished."""
        wanted = set(keys)
        return {key for (key,) in self._db.execute("SELECT key FROM cells") if key in wanted}

    def put(self, key: str, cell: str, metrics: Mapping[str, Any], arrays: bytes | None, seconds: float) -> None:
        """Keep a finished cell (and forget its earlier failure)."""
        row = (key, cell, json.dumps(metrics), arrays, seconds)
        self._write(
            ("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?)", row), ("DELETE FROM failures WHERE key = ?", (key,))
        )

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

    def rows(self, keys: Iterable[str]) -> dict[str, tuple[dict[str, Any], float]]:
        """Return (metrics, seconds) of the finished ones among these keys."""
        wanted = set(keys)
        query = self._db.execute("SELECT key, metrics, seconds FROM cells")
        return {key: (json.loads(metrics), seconds) for key, metrics, seconds in query if key in wanted}

    def arrays(self, key: str) -> dict[str, np.ndarray]:
        """Return the arrays of a finished cell."""
        row = self._db.execute("SELECT arrays FROM cells WHERE key = ?", (key,)).fetchone()
        return unpack(row[0]) if row else {}

    def failures(self, keys: Iterable[str]) -> dict[str, tuple[str, str, str]]:
        """Return (error, traceback, time) of the failed ones among these keys."""
        wanted = set(keys)
        query = self._db.execute("SELECT key, error, traceback, at FROM failures")
        return {key: (error, trace, at) for key, error, trace, at in query if key in wanted}

    def cells(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the canonical text of the failed ones among these keys."""
        wanted = set(keys)
        return {key: cell for key, cell in self._db.execute("SELECT key, cell FROM failures") if key in wanted}

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self._db.close()


def _whole(row: tuple[Any, ...]) -> bool:
    """Say whether a rescued row is one that was written: a lost page can leave half of one."""
    key, cell, metrics, arrays, _ = row
    try:
        json.loads(cell), json.loads(metrics), unpack(arrays)
    except (ValueError, TypeError, OSError, zipfile.BadZipFile):
        return False
    return re.fullmatch("[0-9a-f]{64}", key) is not None


def _readable_rows(path: Path) -> Iterable[tuple[Any, ...]]:
    """Yield what a damaged store still gives, row by row; a row on a lost page is skipped."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA writable_schema=ON")  # else SQLite refuses a file shorter than its header says, whole
    try:
        last = db.execute("SELECT max(rowid) FROM cells").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        last = None
    if last is None:
        last = 10**6
    misses = 0
    for rowid in range(1, last + 1):
        try:
            row = db.execute(
                "SELECT key, cell, metrics, arrays, seconds FROM cells WHERE rowid = ?", (rowid,)
            ).fetchone()
            misses = 0 if row else misses + 1
        except sqlite3.DatabaseError:
            row, misses = None, misses + 1
        if row and _whole(row):
            yield row
        if misses > 5000:  # the table's root itself is gone
            break
    db.close()
