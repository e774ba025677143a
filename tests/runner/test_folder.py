"""A results folder reads back what was written."""

from fairpriv.cells import Cell
from fairpriv.runner.folder import CELLS, read_folder, write_stamps
from fairpriv.runner.kept import Kept, Origin
from fairpriv.runner.output import frame
from fairpriv.runner.survey import Seat
from fairpriv.stamps.stamp import Stamp


def _seat(audit, quiet=frozenset()):
    cell = Cell("attribute_conceal", {"m": 1, "audit": audit}, {}, 0, quiet)
    stamp = Stamp(cell.identity, "", "code")
    kept = Kept(stamp, {"score": 0.5 if quiet else 0.7}, 0.1, Origin({}, "", "", ""), {})
    return Seat(cell, "done", kept=kept)


def test_an_axis_that_came_later_may_stand_at_its_default_in_some_cells_only(tmp_path):
    """The cell at the default is the one from before the axis: nothing in its row tells them apart."""
    seats = [_seat(False, frozenset({"audit"})), _seat(True)]
    frame(seats).to_csv(tmp_path / CELLS, index=False)
    write_stamps(tmp_path, [seat.kept for seat in seats], {"code": {}})
    folder = read_folder(tmp_path)
    assert folder.notices == []
    assert folder.kept[0].cell == seats[0].cell.parse(seats[0].cell.identity)
    assert [(kept.cell.axes.get("audit"), kept.metrics["score"]) for kept in folder.kept] == [(None, 0.5), (True, 0.7)]
