"""Whatever bytes a results folder or a store holds: readers tell what cannot be read, and never end in a traceback."""

import gzip
import json
import random

import numpy as np
import pytest

from fairpriv.cells import Cell
from fairpriv.cli import main
from fairpriv.report.verdicts import read_cells
from fairpriv.runner.folder import ARRAYS, CELLS, STAMPS, read_folder, write_arrays, write_stamps
from fairpriv.runner.kept import Kept, Origin, array_sums, pack
from fairpriv.runner.output import frame, read_manifest
from fairpriv.runner.present import read_drawn
from fairpriv.runner.store import Store
from fairpriv.runner.survey import Seat
from fairpriv.stamps.stamp import Stamp

CODES = {"code": {f"a/{i}.py::name": str(i) for i in range(200)}}
ARRAY = {"x": np.arange(300) ** 2}


def kept(seed):
    stamp = Stamp(Cell("attribute_conceal", {"m": 1}, {}, seed).identity, "", "code")
    return Kept(stamp, {"score": 0.5 + seed}, 0.1, Origin({}, "", "", ""), array_sums(ARRAY))


CELLS_OF = [kept(seed) for seed in range(20)]


@pytest.fixture
def folder(tmp_path):
    frame([Seat(one.cell, "done", kept=one) for one in CELLS_OF]).to_csv(tmp_path / CELLS, index=False)
    write_stamps(tmp_path, CELLS_OF, CODES)
    write_arrays(tmp_path, CELLS_OF, lambda _: ARRAY)
    assert len(read_folder(tmp_path).kept) == 20
    return tmp_path


def broken(data: bytes, draw: random.Random) -> bytes:
    """Return bytes with some bits flipped, cut off, or nothing but noise."""
    way = draw.randrange(5)
    if way == 0:
        return data[: draw.randrange(len(data))]
    if way == 1:
        return draw.randbytes(200)
    out = bytearray(data)
    for _ in range((1, 3, 20)[way - 2]):
        out[draw.randrange(len(out))] ^= 1 << draw.randrange(8)
    return bytes(out)


@pytest.mark.parametrize("name", [CELLS, STAMPS, ARRAYS])
def test_a_folder_with_broken_bytes_is_read_as_far_as_it_is_whole(folder, name):
    draw, whole = random.Random(1), (folder / name).read_bytes()
    good = {one.sum for one in CELLS_OF}
    for _ in range(60):
        (folder / name).write_bytes(broken(whole, draw))
        found = read_folder(folder)
        assert {one.sum for one in found.kept} <= good
        assert len(found.kept) == 20 or found.notices
        for one in found.kept[:2]:
            arrays = found.arrays(one)
            assert not arrays or (arrays["x"] == ARRAY["x"]).all()


@pytest.mark.parametrize(
    "said",
    [
        *(None, 5, "x", [], [1], {}, {"format": 2}, {"format": 1}, {"format": [1]}),
        {"format": 2, "definitions": 5, "codes": {}, "cells": []},
        {"format": 2, "definitions": [], "codes": [], "cells": []},
        {"format": 2, "definitions": [], "codes": {"a": [5]}, "cells": []},
        {"format": 2, "definitions": [], "codes": {}, "data": [], "origins": [], "shapes": [], "cells": [[1]]},
        {"format": 2, "definitions": [], "codes": {}, "data": [], "origins": [{"z": 1}], "shapes": [], "cells": []},
    ],
)
def test_stamps_that_say_something_else_are_named(folder, said):
    (folder / STAMPS).write_bytes(gzip.compress(json.dumps(said).encode()))
    found = read_folder(folder)
    assert found.kept == []
    assert [notice.split(" (")[0] for notice in found.notices] == [f"{folder / STAMPS} cannot be read"]


def test_a_store_with_broken_bytes_is_read_as_far_as_it_is_whole(tmp_path):
    store = Store(tmp_path)
    store.open()
    store.put_codes(CODES)
    for one in CELLS_OF:
        store.put(one, pack(ARRAY))
    store.close()
    draw, whole = random.Random(2), store.path.read_bytes()
    for _ in range(80):
        store.path.write_bytes(broken(whole, draw))
        found = Store(tmp_path, read_only=True)
        cells, codes = found.kept(), found.codes()
        assert {one.sum for one in cells.values()} <= {one.sum for one in CELLS_OF}
        assert (len(cells) == 20 and codes == CODES) or found.notices or codes != CODES
        for one in list(cells.values())[:2]:
            arrays = found.arrays(one)
            assert not arrays or (arrays["x"] == ARRAY["x"]).all()
        assert found.failures(["a"]) == {}
        found.close()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a,b\n1,2\n", b'seed,status\n"1,2\n', b"see"])
@pytest.mark.parametrize("command", ["render", "report"])
def test_cells_that_cannot_be_read_are_one_line(folder, capsys, content, command):
    home = folder / "attribute_conceal"
    home.mkdir()
    for name in (CELLS, STAMPS):
        (folder / name).rename(home / name)
    (home / CELLS).write_bytes(content)
    assert main([command, "--results-dir", str(folder)]) == 2
    assert f"cannot read {home / CELLS}: " in capsys.readouterr().err.splitlines()[-1]


def test_a_number_too_long_is_no_whole_number(tmp_path):
    (tmp_path / CELLS).write_text(f"seed,status,x\n1,done,{'9' * 40}\n2,done,\n")
    assert read_cells(tmp_path / CELLS)["x"][0] == 1e40


def test_definitions_that_cannot_be_read_are_told_and_written_anew(tmp_path):
    store = Store(tmp_path)
    store.open()
    store.put_codes(CODES)
    store._db.execute("UPDATE codes SET definitions = '{\"a'")
    assert store.codes() == {}
    assert "definitions behind some finished cells cannot be read" in store.notices[0]
    store.put_codes(CODES)
    assert store.codes() == CODES
    store.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        *(("manifest.json", said) for said in (5, [1], {"cells": "x"}, {"not_run": [1]}, {"not_run": {"a": "b"}})),
        *(("manifest.json", said) for said in ({"failures": [[1]]}, {"failures": 5}, {"config": 5}, {"finished": {}})),
        ("manifest.json", {"config": {"protocol": [1]}}),
        *(("drawn.json", said) for said in (5, [1], {"files": 5}, {"faults": [1]}, {"of": 1})),
    ],
)
def test_what_is_of_another_kind_counts_as_not_there(tmp_path, name, said):
    (tmp_path / name).write_text(json.dumps(said))
    assert (read_manifest(tmp_path / name) if name == "manifest.json" else read_drawn(tmp_path)) == {}
