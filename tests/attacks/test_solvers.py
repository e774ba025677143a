"""Both solvers in one process, whichever is asked first: their own copies of HiGHS do not get along."""

import subprocess
import sys

import pytest

CVXPY = "from fairpriv.mechanisms.convex_strategy import convex"
ORTOOLS = "from ortools.sat.python import cp_model"


@pytest.mark.parametrize("order", [(CVXPY, ORTOOLS), (ORTOOLS, CVXPY)], ids=["cvxpy first", "ortools first"])
def test_either_may_be_imported_first(order):
    done = subprocess.run([sys.executable, "-c", "; ".join(order)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
