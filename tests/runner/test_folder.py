"""A results folder reads back what was written."""

import json
from dataclasses import replace

import numpy as np

from fairpriv.cells import Cell
from fairpriv.runner.folder import CELLS, read_folder, stamps_of, write_arrays, write_stamps
from fairpriv.runner.kept import Kept, Origin, array_sums
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


def test_arrays_of_a_cell_are_all_there_or_none(tmp_path):
    """Cells share arrays that are equal: what another cell left is not the whole of this one."""
    cells = [Cell("attribute_conceal", {"m": m}, {}, 0) for m in (1, 2)]
    arrays = [{"x": np.arange(3), "z": np.arange(4.0) + m} for m in (1, 2)]
    seats = []
    for cell, found in zip(cells, arrays):
        kept = Kept(Stamp(cell.identity, "", "code"), {"score": 0.5}, 0.1, Origin({}, "", "", ""), array_sums(found))
        seats.append(Seat(cell, "done", kept=kept))
    frame(seats).to_csv(tmp_path / CELLS, index=False)
    write_stamps(tmp_path, [seat.kept for seat in seats], {"code": {}})
    write_arrays(tmp_path, [seats[0].kept], lambda kept: arrays[0])
    folder = read_folder(tmp_path)
    assert set(folder.arrays(folder.kept[0])) == {"x", "z"}
    assert folder.arrays(folder.kept[1]) == {}


def test_stamps_do_not_depend_on_the_order_in_which_versions_are_named(tmp_path):
    kept = [_seat(False).kept]
    for names in (("numpy", "scipy"), ("scipy", "numpy")):
        origin = Origin(dict.fromkeys(names, "1.0"), "", "", "")
        said = json.dumps(stamps_of([replace(one, origin=origin) for one in kept], {"code": {}}))
        assert said == json.dumps(json.loads(said) | {"origins": [json.loads(origin.text)]})
        assert said.index("numpy") < said.index("scipy")
