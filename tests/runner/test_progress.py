"""Progress: the time left is the forecast of the cells that are left, corrected by how it has done so far."""

import pytest

from fairpriv.runner.progress import Progress
from fairpriv.runner.survey import time_left


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("fairpriv.runner.progress.time.monotonic", lambda: now[0])
    return now


def lines_of(capsys, clock, times, pace):
    """Return what is said while cells of these expected times take `pace` times as long."""
    view = Progress()
    view.mode = "lines"
    view.begin("toy", len(times) + 3, times, failed=0, not_run={})
    for seconds in times:
        clock[0] += pace * (1.0 if seconds is None else seconds)
        view.cell(seconds, failed=False)
    return capsys.readouterr().err.splitlines()


def test_a_long_cell_first_does_not_stand_for_the_rest(capsys, clock):
    first, *_, last = lines_of(capsys, clock, [60.0, *[0.1] * 600], pace=1.0)
    assert first == "toy: 4/604 done, 0 failed, about 60 s left"  # not 600 times 60 s
    assert last == "toy: 565/604 done, 0 failed, about 4 s left"


def test_the_forecast_is_corrected_by_the_pace_so_far(capsys, clock):
    said = lines_of(capsys, clock, [10.0] * 40, pace=3.0)
    assert said[19] == "toy: 23/43 done, 0 failed, about 10 min left"  # 200 s of the forecast, at three times that


def test_without_any_precedent_the_time_left_is_told_once_some_cells_are_done(capsys, clock):
    said = lines_of(capsys, clock, [None] * 100, pace=6.0)
    assert said[0].endswith("time left not known yet")
    assert said[49].endswith("about 5 min left")


def test_a_cell_without_precedent_counts_for_the_mean_of_the_others(capsys, clock):
    said = lines_of(capsys, clock, [30.0, None, 30.0, None], pace=1.0)
    assert [line.rsplit(", ", 1)[1] for line in said[:1]] == ["about 90 s left"]


@pytest.mark.parametrize(("spent", "elapsed", "left"), [(0, 0, 300), (10, 100, 290 * 110 / 20), (100, 200, 400)])
def test_a_slow_start_counts_for_what_it_is(spent, elapsed, left):
    assert time_left(300, spent, elapsed) == pytest.approx(left)


def test_nothing_to_do_takes_no_time():
    assert time_left(0, 0, 7) == 0
