"""The state of a desk: one SQLite file with what was declared, the people, what was spent and the ledger.

The file holds the protected attribute: it is made readable by its owner only. Everything declared is public and fixed
when the desk is made, as the ledger's sums mean something for one relation, one budget and one data set only.
"""

import hashlib
import json
import os
import secrets
import sqlite3
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from fairpriv import validate
from fairpriv.desk.costs import Budget
from fairpriv.errors import BadRequest
from fairpriv.metrics.gaps import GAPS

SIZES = ("secret", "public")
VERSION = 1
WAIT = 60  # seconds to wait for another process that is writing
TABLES = """
CREATE TABLE declared (content TEXT NOT NULL, people TEXT NOT NULL);
CREATE TABLE people (label BLOB NOT NULL, protected BLOB NOT NULL, salt BLOB NOT NULL);
CREATE TABLE spent (
  name TEXT PRIMARY KEY, epsilon INTEGER NOT NULL, delta INTEGER NOT NULL, rdp INTEGER NOT NULL,
  answers INTEGER NOT NULL, exact INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE head (seq INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE TABLE ledger (
  seq INTEGER PRIMARY KEY, time TEXT NOT NULL, client TEXT NOT NULL, query TEXT NOT NULL UNIQUE, metric TEXT NOT NULL,
  defense TEXT NOT NULL, epsilon REAL, delta REAL, rows INTEGER NOT NULL, cost_epsilon INTEGER NOT NULL,
  cost_delta INTEGER NOT NULL, cost_rdp INTEGER NOT NULL, answers TEXT NOT NULL, previous TEXT NOT NULL,
  hash TEXT NOT NULL);
"""
PROTECTS = {
    "secret": "the protected attribute of any one person, against whoever knows everything else; "
    "group sizes are not published",
    "public": "which of two people of the same label is in which group, where the sizes of the groups are known, by "
    "label too",
}


@dataclass(frozen=True)
class Declaration:
    """What everybody may know about a desk."""

    people: int
    positives: int
    label: str
    protected: str
    privileged: tuple[str, ...]
    metrics: tuple[str, ...]
    epsilon: float
    delta: float
    sizes: str
    minority_share: float
    group_sizes: dict[str, tuple[int, int]] | None  # (N0, N1) of all, and by label, where sizes are public
    version: int = VERSION

    def __post_init__(self) -> None:
        """Check what the operator chose."""
        validate.number("epsilon", self.epsilon, above=0, at_most=1e6)
        validate.number("delta", self.delta, at_least=0, below=1)
        validate.choice("sizes", self.sizes, SIZES)
        validate.number("minority-share", self.minority_share, above=0, at_most=0.5)
        for metric in self.metrics:
            validate.choice("metrics", metric, GAPS)

    @property
    def budget(self) -> Budget:
        """Return what may be spent."""
        return Budget(self.epsilon, self.delta)

    def content(self) -> str:
        """Return the declaration as text, always the same."""
        return json.dumps(asdict(self), sort_keys=True)

    @staticmethod
    def read(text: str) -> "Declaration":
        """Return the declaration that a text holds."""
        found = json.loads(text)
        for name in ("privileged", "metrics"):
            found[name] = tuple(found[name])
        return Declaration(**found)


def classes_of(metric: str, label: np.ndarray) -> list[np.ndarray]:
    """Return masks of the people each answer of a metric is about."""
    name = metric.removeprefix("abs_")
    return [np.ones(len(label), bool)] if name == "sp" else [label == y for y in ((1,) if name == "eo" else (1, 0))]


def check_people(metrics: tuple[str, ...], label: np.ndarray, group: np.ndarray) -> None:
    """Refuse metrics that somebody is missing for; the operator, who has the data, may be told."""
    bad = [
        metric
        for metric in metrics
        for people in classes_of(metric, label)
        if people.sum() < 3 or len(np.unique(group[people])) < 2
    ]
    if bad:
        left = [metric for metric in metrics if metric not in bad]
        raise BadRequest(
            f"{', '.join(dict.fromkeys(bad))} cannot be answered: a class of the label has fewer than 3 people or one "
            f"group only; declare --metrics {' '.join(left) or '(none is left)'}"
        )


def public_sizes(label: np.ndarray, group: np.ndarray) -> dict[str, tuple[int, int]]:
    """Return (N0, N1) of all and by label."""
    parts = {"all": np.ones(len(label), bool), "label 1": label == 1, "label 0": label == 0}
    return {name: (int((group[p] == 0).sum()), int((group[p] == 1).sum())) for name, p in parts.items()}


def commitment(label: bytes, protected: bytes, salt: bytes) -> str:
    """Return a sum of the people that shows a change and tells nothing, as the salt is secret."""
    return hashlib.sha256(salt + hashlib.sha256(label).digest() + hashlib.sha256(protected).digest()).hexdigest()


def genesis(content: str, people: str) -> str:
    """Return what the first row of the ledger is chained to: the declaration and the people."""
    return hashlib.sha256(f"{content}\n{people}".encode()).hexdigest()


def create(path: Path, declared: Declaration, label: np.ndarray, group: np.ndarray) -> None:
    """Make the state file; one that exists is never touched: its ledger would be lost."""
    check_people(declared.metrics, label, group)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise BadRequest(f"{path} exists: a desk's ledger is never overwritten; choose another --state") from None
    except OSError as error:
        raise BadRequest(f"{path} cannot be made: {error.strerror}") from error
    salt, content = secrets.token_bytes(32), declared.content()
    blobs = label.astype(np.int8).tobytes(), group.astype(np.int8).tobytes()
    people = commitment(*blobs, salt)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(TABLES)
        db.execute("INSERT INTO people VALUES (?, ?, ?)", (*blobs, salt))
        db.execute("INSERT INTO head VALUES (0, ?)", (genesis(content, people),))
        db.execute("INSERT INTO declared VALUES (?, ?)", (content, people))  # last: a file without it is not finished
    finally:
        db.close()


def connect(path: Path) -> sqlite3.Connection:
    """Open the state file; what is committed is on the disk before anybody hears of it."""
    if not Path(path).is_file():
        raise BadRequest(f"no such state file: {path}; `fairpriv desk init` makes one")
    db = sqlite3.connect(path, timeout=WAIT, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA synchronous=FULL")
        if db.execute("SELECT count(*) FROM declared").fetchone()[0] != 1:
            raise BadRequest(f"{path} is not a finished desk")
        version = json.loads(db.execute("SELECT content FROM declared").fetchone()[0])["version"]
        counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("people", "head")]
        db.execute("SELECT 1 FROM spent, ledger LIMIT 1")
    except (sqlite3.DatabaseError, ValueError, TypeError, KeyError):
        db.close()
        raise BadRequest(f"{path} is not the state of a desk") from None
    if version != VERSION or counts != [1, 1]:
        db.close()
        why = "is not the state of a desk" if version == VERSION else f"is of format {version}, and not {VERSION}"
        raise BadRequest(f"{path} {why}")
    return db


def declaration(db: sqlite3.Connection) -> Declaration:
    """Return what was declared."""
    return Declaration.read(db.execute("SELECT content FROM declared").fetchone()[0])


def people(db: sqlite3.Connection) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and groups."""
    label, group = db.execute("SELECT label, protected FROM people").fetchone()
    return np.frombuffer(label, dtype=np.int8), np.frombuffer(group, dtype=np.int8)
