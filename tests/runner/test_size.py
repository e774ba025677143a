"""What is committed stays small enough to clone, and tables say as much as anybody reads."""

import subprocess

import pandas as pd
import pytest

from fairpriv.runner.present import Drawing, _write_table
from tests.conftest import ROOT

MOST_BYTES = 40_000_000


def test_committed_results_stay_under_40_mb():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: nothing is committed here")
    listed = subprocess.run(["git", "ls-files", "-z", "results"], cwd=ROOT, capture_output=True, text=True, check=True)
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    sizes = {path: path.stat().st_size for path in paths if path.is_file()}
    assert sizes
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:5]
    assert sum(sizes.values()) < MOST_BYTES, [f"{path.name}: {sizes[path]:,}" for path in largest]


def test_a_table_is_written_with_six_digits_its_spread_with_three_and_reads_back_with_its_types(tmp_path):
    table = pd.DataFrame(
        {
            "name": ["a", "b", "c"],
            "seeds": [3, 4, 5],
            "share": [2 / 3, float("inf"), float("nan")],
            "share_ci": [1 / 3, 12_345.6, 12_345.0],
            "count": [12_345_678.0, 1e-9 / 3, -100.0],
            "maybe": pd.array([1 / 3, None, 2.0], dtype="Float64"),
        }
    )
    _write_table(tmp_path, "one", table, Drawing())
    text = (tmp_path / "tables" / "one.csv").read_text()
    assert text.splitlines() == [
        "name,seeds,share,share_ci,count,maybe",
        "a,3,0.666667,0.333,12345678.0,0.333333",
        "b,4,inf,12300.0,3.33333e-10,",
        "c,5,,12345.0,-100.0,2.0",
    ]
    assert (pd.read_csv(tmp_path / "tables" / "one.csv").dtypes == table.astype({"maybe": float}).dtypes).all()
