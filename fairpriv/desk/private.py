"""The desk with a budget: it takes queries, charges, answers and remembers."""

import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from fairpriv.desk import ledger, query, state
from fairpriv.desk.clients import Client
from fairpriv.desk.costs import UNIT, Cost
from fairpriv.desk.drawing import LEVEL, Drawer
from fairpriv.desk.query import Query
from fairpriv.desk.turns import Turn
from fairpriv.errors import FairprivError


class Refused(FairprivError):
    """The budget does not allow the answer."""


class Unavailable(FairprivError):
    """The state could not be written: nothing was spent and nothing answered."""


@dataclass(frozen=True)
class Answered:
    """An answer: the ledger's row, and whether it had been given before."""

    row: dict[str, Any]
    repeated: bool
    left: float

    def told(self) -> dict[str, Any]:
        """Return what the client is sent."""
        row = self.row
        cost = 0.0 if self.repeated else row["cost_epsilon"] / UNIT
        return json.loads(row["answers"]) | {
            "metric": row["metric"],
            "defense": row["defense"],
            "level": LEVEL,
            "cost": None if row["defense"] == "none" else cost,
            "budget_left": self.left,
            "repeated": self.repeated,
            "seq": row["seq"],
            "hash": row["hash"],
        }


class PrivateDesk:
    """Answers bias queries on the people of a state file, within its budget.

    Any number of these, in threads or processes, may share a state file: the budget is kept by SQLite's transactions.
    Noise comes from the operating system's randomness.

    Parameters
    ----------
    path : Path
        The state file, made by `fairpriv desk init`.
    most_rows : int
        The most models a query may ask about.
    unsafe_exact : bool
        Give exact answers to queries with defense `none`. For tests of attacks: afterwards nothing is protected.
    """

    def __init__(self, path: Path, most_rows: int = 10_000, unsafe_exact: bool = False) -> None:
        self._path, self._local = Path(path), threading.local()
        self.most_rows, self.unsafe_exact = most_rows, unsafe_exact
        self.declared = state.declaration(self._db)
        self.label, group = state.people(self._db)
        self._drawer = Drawer(self.declared, self.label, group)

    @property
    def _db(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        if not hasattr(self._local, "db"):
            self._local.db = state.connect(self._path)
        return self._local.db

    def settle(self) -> None:
        """Fold the write-ahead log into the file: a copy of a desk that was stopped has all its answers."""
        self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @property
    def _turn(self) -> Turn:
        """Return this thread's place in the queue of those who write."""
        if not hasattr(self._local, "turn"):
            self._local.turn = Turn(self._path)
        return self._local.turn

    def read(self, body: Any) -> Query:
        """Check a query; what it costs follows."""
        return query.read(body, self.declared, self.most_rows, self.unsafe_exact)

    def prepare(self, asked: Query) -> None:
        """Do what takes long and needs no secret, before a transaction is begun."""
        query.prepare(asked, self.label)

    def answer(self, asked: Sequence[tuple[Client, Query]]) -> list[Answered | FairprivError]:
        """Answer queries in one transaction; each is answered or refused, and what is returned is on the disk."""
        db = self._db
        try:
            with self._turn:
                db.execute("BEGIN IMMEDIATE")
                try:
                    found = [self._answer(db, client, one) for client, one in asked]
                    db.execute("COMMIT")
                except BaseException:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
                    raise
        except sqlite3.Error as error:
            return [Unavailable(f"the ledger cannot be written ({type(error).__name__}): nothing was spent")] * len(
                asked
            )
        return found

    def _answer(self, db: sqlite3.Connection, client: Client, one: Query) -> Answered | FairprivError:
        """Give the stored answer; or reserve the cost and, only then, look at the data and draw."""
        desk, own = ledger.spent(db, ledger.WHOLE, client.name)
        row = ledger.find(db, one.key)
        if row is not None:
            return Answered(row, True, self._left(client, desk, own))
        for whose, spent, share in (("the desk", desk, 1.0), (client.name, own, client.share)):
            if self.declared.budget.left(spent + one.cost, share) < 0:
                left = max(0, self.declared.budget.left(spent, share)) / UNIT
                cost = one.cost.epsilon / UNIT
                return Refused(f"the budget is not enough: the answer costs {cost:g}, {whose} has {left:g} left")
        db.execute("SAVEPOINT one")
        try:
            ledger.reserve(db, client.name, one.cost, one.defense.name == "none")
            row = ledger.append(db, self._entry(client, one) | {"answers": self._drawn(one)})
        except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError, FairprivError) as error:
            db.execute("ROLLBACK TO one")  # the other queries of the transaction are not to suffer for it
            # the error's own words could hold what the desk knows
            return Unavailable(f"the answer could not be worked out ({type(error).__name__}): nothing was spent")
        finally:
            db.execute("RELEASE one")
        return Answered(row, False, self._left(client, desk + one.cost, own + one.cost))

    @staticmethod
    def _entry(client: Client, one: Query) -> dict[str, Any]:
        return {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": client.name,
            "query": one.key,
            "metric": one.metric,
            "defense": one.defense.name,
            "epsilon": None if one.defense.name == "none" else one.defense.epsilon,
            "delta": one.delta,
            "rows": len(one.h),
            "cost_epsilon": one.cost.epsilon,
            "cost_delta": one.cost.delta,
            "cost_rdp": one.cost.rdp,
        }

    def _drawn(self, one: Query) -> str:
        """Return answers with their intervals, as stored."""
        answers, widths, grid = self._drawer.draw(one)
        intervals = np.stack([answers - widths, answers + widths], axis=-1)
        told = {"answers": answers.tolist(), "intervals": intervals.tolist(), "grid": np.asarray(grid).tolist()}
        return json.dumps(told, allow_nan=False)

    def _left(self, client: Client, desk: Cost, own: Cost) -> float:
        """Return the epsilon that a client can surely still spend: of its share, and of the desk."""
        budget = self.declared.budget
        return max(0, min(budget.left(own, client.share), budget.left(desk))) / UNIT

    def budget(self, client: Client) -> dict[str, Any]:
        """Return what a client and the whole desk may spend, have spent and have left."""
        budget, db = self.declared.budget, self._db
        desk, own = ledger.spent(db, ledger.WHOLE, client.name)
        exact = ledger.exact_answers(db)
        told = {"client": client.name, "share": client.share}
        told |= _account(budget.epsilon * client.share, budget.left(own, client.share))
        told["left"] = self._left(client, desk, own)
        told["desk"] = _account(budget.epsilon, budget.left(desk))
        return told | {"void": f"{exact} exact answers were given: nothing is protected" if exact else None}

    def ledger(self, client: Client | None, after: int = 0, limit: int = -1) -> list[dict[str, Any]]:
        """Return the ledger as a client may see it: everybody's rows, its own with the answers. None: all of it."""
        rows = ledger.entries(self._db, after, limit)
        return [ledger.shown(row, client is None or row["client"] == client.name) for row in rows]

    def schema(self) -> dict[str, Any]:
        """Return what may be asked and what is promised."""
        declared = self.declared
        return {
            "people": declared.people,
            "positives": declared.positives,
            "label": declared.label,
            "protected": declared.protected,
            "privileged": list(declared.privileged),
            "metrics": list(declared.metrics),
            "defenses": {name: f"costs {query.moves(declared, name)} × epsilon" for name in query.offered(declared)},
            "epsilon": declared.epsilon,
            "delta": declared.delta,
            "sizes": declared.sizes,
            "group_sizes": declared.group_sizes,
            "minority_share": declared.minority_share,
            "protects": state.PROTECTS[declared.sizes],
            "assumes": "each group has a member in every class of the label asked about",
            "interval": f"holds with probability {LEVEL}"
            + (
                "" if declared.sizes == "public" else ", if the smaller group has at least minority_share of the people"
            ),
            "composition": "epsilon adds up"
            if not declared.delta
            else f"epsilon, or Rényi at {declared.budget.order:g}",
            "repeats": "the same query gets the same stored answer, from whichever client, and costs nothing",
            "most_rows": self.most_rows,
            "unsafe_exact": self.unsafe_exact,
        }


def _account(budget: float, left: int) -> dict[str, float]:
    left = max(0, left) / UNIT
    return {"budget": budget, "spent": round(budget - left, 9), "left": left}
