"""The bench itself: parts are found, rows of others are kept, growth is drawn."""

import sys

import pandas as pd
import pytest

from tests.benchmarks import figures
from tests.benchmarks.__main__ import COLUMNS, NAMES, main, merged


def test_every_part_that_grows_has_a_title():
    import importlib

    grows = {n for n in NAMES if hasattr(importlib.import_module(f"tests.benchmarks.bench_{n}"), "growth")}
    assert grows == set(figures.TITLES)


def test_a_part_measured_again_replaces_its_rows_alone(tmp_path):
    path = tmp_path / "benchmarks.csv"
    merged(path, [{"bench": "a", "what": "x", "seconds": 1.0}, {"bench": "b", "what": "y"}], ["a", "b"]).to_csv(path)
    again = merged(path, [{"bench": "a", "what": "x", "seconds": 2.0}], ["a"])
    assert again[again["bench"] == "a"]["seconds"].tolist() == [2.0]
    assert again["bench"].tolist() == ["a", "b"]


def test_growth_is_written_and_drawn(tmp_path, capsys):
    assert main(["correction", "--tiny", "--into", str(tmp_path)]) == 0
    table = pd.read_csv(tmp_path / "benchmarks.csv")
    assert list(table.columns) == COLUMNS
    assert {"exact (ours)", "np.sort"} <= set(table["what"])
    assert (tmp_path / "benchmarks/correction.png").stat().st_size > 5000


def test_the_exponent_is_that_of_the_larger_sizes():
    import numpy as np

    sizes = np.array([10.0, 100, 1000, 10_000])
    assert figures.slope(sizes, 5 + 1e-3 * sizes**2) == pytest.approx(2, abs=0.01)


def test_the_overhead_of_an_engine_is_what_neither_work_nor_start_explains():
    from tests.benchmarks import bench_engines as engines

    pytest.importorskip("psutil")
    start, each, work = 7.0, 0.02, 0.3

    def run(cells):
        return engines.Taken(1.0, start + cells * (each + work), cells * work, cells)

    assert engines.overhead(run(50), run(250)) == pytest.approx((each, start))
    spent = engines._processor_seconds([sys.executable, "-c", "sum(range(20_000_000))"])
    assert 0.05 < spent < 20
