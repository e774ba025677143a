"""Nothing is told that was not paid for: by refusals, by errors, by how long an answer takes."""

import time

import numpy as np
from scipy import stats

from fairpriv.desk import query, state
from fairpriv.desk.clients import Client
from fairpriv.desk.drawing import Drawer
from fairpriv.desk.private import Answered, PrivateDesk, Refused, Unavailable
from fairpriv.desk.state import Declaration
from tests.desk.serving import make_state

ALICE = Client("alice")
N = 60


class Careless:
    """A drawer whose errors say what it saw."""

    def draw(self, *_):
        raise ValueError("person 3 is in group 1")


def _ask(desk, epsilon=0.5, value=0.5, metric="sp"):
    asked = {"metric": metric, "predictions": [[value] * N], "defense": "laplace", "epsilon": epsilon}
    (found,) = desk.answer([(ALICE, desk.read(asked))])
    return found


def test_refusals_and_repeats_do_not_look_at_anybody(tmp_path):
    desk = PrivateDesk(make_state(tmp_path, n=N, epsilon=1))
    first = _ask(desk)
    desk._drawer = Careless()
    again, refused = _ask(desk), _ask(desk, epsilon=0.6)
    assert isinstance(again, Answered)
    assert again.row == first.row
    assert again.repeated
    assert isinstance(refused, Refused)
    assert "group" not in str(refused)


def test_an_error_tells_its_kind_alone_and_costs_nothing(tmp_path):
    desk = PrivateDesk(make_state(tmp_path, n=N, epsilon=1))
    desk._drawer = Careless()
    asked = desk.read({"metric": "sp", "predictions": [[0.5] * N], "defense": "laplace", "epsilon": 0.5})
    desk.prepare(asked)
    (found,) = desk.answer([(ALICE, asked)])
    assert isinstance(found, Unavailable)
    assert str(found) == "the answer could not be worked out (ValueError): nothing was spent"
    assert desk.budget(ALICE)["spent"] == 0
    assert desk.ledger(None) == []


def test_an_answer_takes_as_long_whoever_is_in_which_group():
    """Equal groups against 4 % and 96 %: which of two times is longer is a coin toss, within six deviations."""
    n, times = 400, 500
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, n).astype(np.int8)
    declared = Declaration(
        people=n, positives=int(label.sum()), label="y", protected="s", privileged=("m",), metrics=("sp",), epsilon=5.0,
        delta=0.0, sizes="secret", minority_share=0.1, group_sizes=None,
    )  # fmt: skip
    rows = rng.random((5, n)).tolist()
    equal, few = (np.arange(n) % 2).astype(np.int8), (np.arange(n) >= 16).astype(np.int8)
    for defense in ("laplace", "conceal_exact"):
        asked = query.read({"metric": "sp", "predictions": rows, "defense": defense, "epsilon": 0.5}, declared, 10)
        drawers = [Drawer(declared, label, group) for group in (equal, few)]
        took = [[], []]
        for i in range(times + 20):
            for which in rng.permutation(2):
                start = time.perf_counter_ns()
                drawers[which].draw(asked)
                if i >= 20:  # the first ones calibrate
                    took[which].append(time.perf_counter_ns() - start)
        longer = stats.mannwhitneyu(*took).statistic / times**2
        assert abs(longer - 0.5) < 6 / np.sqrt(6 * times)


def test_the_declaration_tells_no_sizes_unless_they_are_public(tmp_path):
    for kind in ("secret", "public"):
        (tmp_path / kind).mkdir()
        path = make_state(tmp_path / kind, "--sizes", kind, n=N)
        told = state.declaration(state.connect(path)).content()
        assert ('"group_sizes": null' in told) == (kind == "secret")
