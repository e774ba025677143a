"""A ledger that was touched is found out."""

import hashlib
import json
import shutil
import sqlite3
from itertools import pairwise

import numpy as np
import pytest

from fairpriv.desk import ledger, state
from fairpriv.desk.clients import Client
from fairpriv.desk.private import PrivateDesk
from fairpriv.errors import BadRequest
from tests.desk.serving import run

N = 20
ALICE, BOB = Client("alice", 0.5), Client("bob", 0.5)


@pytest.fixture
def path(tmp_path):
    """A desk with five answers."""
    label, group = np.arange(N) % 2, np.arange(N) // 2 % 2
    declared = state.Declaration(
        people=N,
        positives=int(label.sum()),
        label="y",
        protected="a",
        privileged=("1",),
        metrics=("sp", "eo"),
        epsilon=1.0,
        delta=0.0,
        sizes="secret",
        minority_share=0.1,
        group_sizes=None,
    )
    path = tmp_path / "desk.sqlite"
    state.create(path, declared, label, group)
    desk = PrivateDesk(path)
    rng = np.random.default_rng(0)
    for client in (ALICE, BOB, ALICE, BOB, ALICE):
        asked = {"metric": "sp", "defense": "laplace", "epsilon": 0.1, "predictions": rng.random((2, N)).tolist()}
        desk.answer([(client, desk.read(asked))])
    return path


def _faults(path, *changes: str) -> tuple[str, ...]:
    db = sqlite3.connect(path, isolation_level=None)
    for change in changes:
        db.execute(change)
    db.close()
    return ledger.verify(state.connect(path)).faults


def test_a_copy_of_a_stopped_desk_has_all_answers(path, tmp_path):
    others = state.connect(path)
    others.execute("SELECT count(*) FROM ledger").fetchone()  # SQLite itself folds its log when the last one leaves
    desk = PrivateDesk(path)
    asked = {"metric": "sp", "defense": "laplace", "epsilon": 0.05, "predictions": [[0.5] * N]}
    desk.answer([(ALICE, desk.read(asked))])
    desk.settle()
    shutil.copy(path, tmp_path / "copy.sqlite")
    assert ledger.verify(state.connect(tmp_path / "copy.sqlite")).rows == 6
    others.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DROP TABLE ledger", "is not the state of a desk"),
        ("DROP TABLE spent", "is not the state of a desk"),
        ("DELETE FROM people", "is not the state of a desk"),
        ("DELETE FROM head", "is not the state of a desk"),
        ("UPDATE declared SET content = '{'", "is not the state of a desk"),
        ("UPDATE declared SET content = '[]'", "is not the state of a desk"),
        (
            "UPDATE declared SET content = replace(content, '\"version\": 1', '\"version\": 2')",
            "is of format 2, and not 1",
        ),
        ("DELETE FROM declared", "is not a finished desk"),
    ],
)
def test_a_file_that_is_no_whole_desk_is_refused(path, change, said):
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(change)
    db.close()
    with pytest.raises(BadRequest, match=said):
        state.connect(path)


def test_an_untouched_ledger_is_whole(path):
    assert ledger.verify(state.connect(path)) == ledger.Checked(5, ledger.verify(state.connect(path)).head, ())
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("column", ["time", "client", "query", "metric", "defense", "answers", "previous", "hash"])
def test_every_column_counts(path, column):
    assert _faults(path, f"UPDATE ledger SET {column} = {column} || '0' WHERE seq = 3")


@pytest.mark.parametrize("column", ["rows", "epsilon", "delta", "cost_epsilon", "cost_delta", "cost_rdp"])
def test_every_number_counts(path, column):
    assert "row 3 was changed" in _faults(path, f"UPDATE ledger SET {column} = {column} + 1 WHERE seq = 3")


@pytest.mark.parametrize("row", [1, 3, 5])
def test_a_missing_row_is_found(path, row):
    said = "rows are missing after row 4" if row == 5 else f"row {row} is missing"
    assert any(fault.startswith(said) for fault in _faults(path, f"DELETE FROM ledger WHERE seq = {row}"))


def test_sums_people_and_declaration_are_checked(path):
    assert _faults(path, "UPDATE spent SET epsilon = 0 WHERE name = 'bob'") == (
        "the sums of bob are not those of its rows",
    )
    assert "the people changed" in _faults(path, "UPDATE people SET protected = label")
    assert _faults(path, """UPDATE declared SET content = replace(content, '"epsilon": 1.0', '"epsilon": 9.0')""")


def test_a_ledger_made_anew_misses_a_noted_head(path):
    noted = ledger.verify(state.connect(path)).head
    db = sqlite3.connect(path, isolation_level=None)
    for change in ("DELETE FROM ledger", "DELETE FROM spent"):
        db.execute(change)
    start = state.genesis(*db.execute("SELECT content, people FROM declared").fetchone())
    db.execute("UPDATE head SET seq = 0, hash = ?", (start,))
    db.close()
    assert ledger.verify(state.connect(path)).faults == ()
    assert ledger.verify(state.connect(path), noted).faults == (f"the chain does not go through {noted}",)


def test_the_command_says_so(path):
    done = run("ledger", "--state", path, "--verify")
    assert (done.returncode, done.stdout.strip().endswith("whole")) == (0, True)
    entries = json.loads(run("ledger", "--state", path, "--json").stdout)["entries"]
    assert sum(entry["cost"] for entry in entries) == pytest.approx(0.5)
    _faults(path, "UPDATE ledger SET epsilon = 0.05 WHERE seq = 2")
    done = run("ledger", "--state", path, "--verify")
    assert done.returncode == 1
    assert "row 2 was changed" in done.stdout


def test_a_client_can_check_the_chain_without_the_answers_of_others(path):
    rows = PrivateDesk(path).ledger(BOB)
    for before, row in pairwise(rows):
        assert row["previous"] == before["hash"]
        told = {name: row[name] for name in ledger.COLUMNS if name != "answers"} | {"answers": row["answers_sha256"]}
        assert hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest() == row["hash"]
