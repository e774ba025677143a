"""The ledger: one row per answer that was paid for, each chained to the one before by its hash.

A row is written in the transaction that reserves its cost and holds the answer, so an answer is sent only if it is in
the ledger. A changed row breaks its own hash, a missing one the chain; rows cut off at the end are missed by the head
and the sums, which are kept apart. Whoever may write to the file can make all of these anew: note the head elsewhere
(`fairpriv desk ledger --verify --head HASH` finds out whether the chain still goes through it).
"""

import hashlib
import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from fairpriv.desk.costs import UNIT, Cost
from fairpriv.desk.state import Declaration, commitment, genesis

WHOLE = ""  # the name of the whole desk among those who spend; no client has it
COLUMNS = (
    *("seq", "time", "client", "query", "metric", "defense", "epsilon", "delta", "rows"),
    *("cost_epsilon", "cost_delta", "cost_rdp", "answers", "previous"),
)


def row_hash(row: dict[str, Any]) -> str:
    """Return the hash of a row: the answers enter by their own sum, so that the chain can be shown without them."""
    told = {name: row[name] for name in COLUMNS} | {"answers": hashlib.sha256(row["answers"].encode()).hexdigest()}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def find(db: sqlite3.Connection, query: str) -> dict[str, Any] | None:
    """Return the row that answered this very query, if there is one."""
    row = db.execute(f"SELECT {', '.join(COLUMNS)}, hash FROM ledger WHERE query = ?", (query,)).fetchone()
    return dict(zip((*COLUMNS, "hash"), row)) if row else None


def spent(db: sqlite3.Connection, *names: str) -> list[Cost]:
    """Return what each of these has spent; `WHOLE` is the whole desk."""
    marks = ", ".join("?" * len(names))
    found = {
        name: Cost(*cost)
        for name, *cost in db.execute(f"SELECT name, epsilon, delta, rdp FROM spent WHERE name IN ({marks})", names)
    }
    return [found.get(name, Cost()) for name in names]


def exact_answers(db: sqlite3.Connection) -> int:
    """Return how many exact answers were given: with one, nothing is protected any more."""
    row = db.execute("SELECT exact FROM spent WHERE name = ?", (WHOLE,)).fetchone()
    return row[0] if row else 0


def reserve(db: sqlite3.Connection, client: str, cost: Cost, exact: bool) -> None:
    """Add a cost to the sums of the client and the desk, within the caller's transaction."""
    added = (cost.epsilon, cost.delta, cost.rdp, exact)
    db.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?, 1, ?), (?, ?, ?, ?, 1, ?) ON CONFLICT (name) DO UPDATE SET "
        "epsilon = epsilon + excluded.epsilon, delta = delta + excluded.delta, rdp = rdp + excluded.rdp, "
        "answers = answers + 1, exact = exact + excluded.exact",
        (WHOLE, *added, client, *added),
    )


def append(db: sqlite3.Connection, entry: dict[str, Any]) -> dict[str, Any]:
    """Write the row of a cost that was reserved, within the same transaction; return it with its number and hash."""
    last, previous = db.execute("SELECT seq, hash FROM head").fetchone()
    row = entry | {"seq": last + 1, "previous": previous}
    row["hash"] = row_hash(row)
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    values = [row[name] for name in (*COLUMNS, "hash")]
    db.execute(f"INSERT INTO ledger ({', '.join(COLUMNS)}, hash) VALUES ({marks})", values)
    db.execute("UPDATE head SET seq = ?, hash = ?", (row["seq"], row["hash"]))
    return row


def entries(db: sqlite3.Connection, after: int = 0, limit: int = -1) -> list[dict[str, Any]]:
    """Return rows in order, as they are stored."""
    rows = db.execute(
        f"SELECT {', '.join(COLUMNS)}, hash FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    )
    return [dict(zip((*COLUMNS, "hash"), row)) for row in rows]


def shown(row: dict[str, Any], answers: bool) -> dict[str, Any]:
    """Return a row for reading: its cost as epsilon (null for an exact answer), the answers if they may be seen."""
    exact = row["defense"] == "none"
    told = {name: value for name, value in row.items() if name != "answers"}
    told |= {"cost": None if exact else row["cost_epsilon"] / UNIT, "exact": exact}
    told["answers_sha256"] = hashlib.sha256(row["answers"].encode()).hexdigest()
    return told | (json.loads(row["answers"]) if answers else {})


@dataclass(frozen=True)
class Checked:
    """What a check of the ledger found: rows, the head, and everything that is wrong."""

    rows: int
    head: str
    faults: tuple[str, ...]


def verify(db: sqlite3.Connection, noted: str | None = None) -> Checked:
    """Check every row, the chain, the sums and the budget; `noted` is a head that somebody wrote down earlier."""
    db.execute("BEGIN")  # one moment, whoever is writing
    try:
        content, people = db.execute("SELECT content, people FROM declared").fetchone()
        faults = [] if commitment(*db.execute("SELECT * FROM people").fetchone()) == people else ["the people changed"]
        rows, head = entries(db), db.execute("SELECT hash FROM head").fetchone()[0]
        kept = {row[0]: row[1:] for row in db.execute("SELECT * FROM spent")}
    finally:
        db.execute("ROLLBACK")
    start = genesis(content, people)
    faults += _chain(rows, start, head) + _sums(rows, kept)
    if Declaration.read(content).budget.left(_sum(rows)) < 0:
        faults.append("more was spent than the budget")
    if noted is not None and noted not in {start, *(row["hash"] for row in rows)}:
        faults.append(f"the chain does not go through {noted}")
    return Checked(len(rows), head, tuple(faults))


def _chain(rows: list[dict[str, Any]], start: str, head: str) -> list[str]:
    faults, previous, seq = [], start, 0
    for row in rows:
        if row["seq"] != seq + 1:
            faults.append(f"row {seq + 1} is missing")
        elif row["previous"] != previous:
            faults.append(f"row {row['seq']} does not follow from what stands before it")
        if row_hash(row) != row["hash"]:
            faults.append(f"row {row['seq']} was changed")
        previous, seq = row["hash"], row["seq"]
    return faults if previous == head else [*faults, f"rows are missing after row {seq}, or the head was changed"]


def _sum(rows: list[dict[str, Any]]) -> Cost:
    return sum((Cost(r["cost_epsilon"], r["cost_delta"], r["cost_rdp"]) for r in rows), Cost())


def _sums(rows: list[dict[str, Any]], kept: dict[str, tuple[int, ...]]) -> list[str]:
    """Compare the sums that were kept with those of the rows."""
    by_name = {WHOLE: rows} if rows else {}
    for row in rows:
        by_name.setdefault(row["client"], []).append(row)
    faults = []
    for name in sorted({*by_name, *kept}):
        own = by_name.get(name, [])
        total = _sum(own)
        exact = sum(row["defense"] == "none" for row in own)
        if kept.get(name) != (total.epsilon, total.delta, total.rdp, len(own), exact):
            faults.append(f"the sums of {name or 'the desk'} are not those of its rows")
    return faults
