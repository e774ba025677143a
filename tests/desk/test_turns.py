"""Turns at writing: passed on at once, by the dead too."""

import subprocess
import sys
import threading
import time

import pytest

from fairpriv.desk import turns
from fairpriv.desk.turns import Turn

HOLD = """
import sys, time
from fairpriv.desk.turns import Turn
with Turn(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(turns.fcntl is None, reason="the system has no such locks: SQLite waits by itself")
def test_who_is_killed_passes_the_turn_on(tmp_path):
    path = tmp_path / "desk.sqlite"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    got = []

    def wait() -> None:
        with Turn(path):
            got.append(time.monotonic())

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.1)
    assert not got
    holder.kill()
    holder.communicate()
    waiting.join(30)
    assert got
    assert oct((tmp_path / "desk.sqlite-turn").stat().st_mode)[-3:] == "600"


def test_where_there_can_be_no_lock_nobody_waits(tmp_path):
    with Turn(tmp_path / "nowhere" / "desk.sqlite"), Turn(tmp_path / "nowhere" / "desk.sqlite"):
        pass
