"""HSLS: xie2024's own file is read where it is at hand, else the stand-in, and either says which."""

import numpy as np
import pandas as pd
import pytest

from fairpriv import datasets
from fairpriv.errors import DataUnavailable


def _made_up(n=14_512):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((n, 3)), columns=["ses", "efficacy", "interest"])
    frame["studentrace"] = rng.integers(0, 8, n) / 7
    frame["studentgender"] = rng.integers(0, 2, n)
    frame["grade9thbin"], frame["grade12thbin"] = rng.integers(0, 2, (2, n))
    frame.loc[:2, "ses"] = -8  # no answer
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty FAIRPRIV_DATA with a folder for HSLS, and an empty cache."""
    monkeypatch.setenv("FAIRPRIV_DATA", str(tmp_path))
    monkeypatch.setenv("FAIRPRIV_CACHE", str(tmp_path / "cache"))
    (tmp_path / "hsls").mkdir()
    return tmp_path / "hsls"


def test_own_file_is_preferred(folder):
    frame = _made_up()
    frame.to_csv(folder / "hsls_knn_impute.csv", index=False)
    data = datasets.load("hsls")
    assert len(data) == 14_509
    assert data.notes == ("HSLS as xie2024 prepared it",)
    assert list(data.features) == ["ses", "efficacy", "interest", "X1SEX"]
    np.testing.assert_array_equal(data.label, frame["grade9thbin"][3:])
    race = (frame["studentrace"][3:] * 7).round()
    np.testing.assert_array_equal(data.group, race.isin((1, 7)))
    assert data.train is None


def test_another_table_is_refused(folder):
    frame = _made_up(100)
    frame.to_csv(folder / "hsls_knn_impute.csv", index=False)
    with pytest.raises(DataUnavailable, match="has 97 rows, the published file gives 14,509"):
        datasets.load("hsls")
    frame.drop(columns="studentrace").to_csv(folder / "hsls_knn_impute.csv", index=False)
    with pytest.raises(DataUnavailable, match="has no column studentrace"):
        datasets.load("hsls")


def test_absent_says_where_to_get_it(folder):
    with pytest.raises(DataUnavailable, match=r"hsls_imputed_train.csv .* cannot be had .*HsiangHsu/Fair-Projection"):
        datasets.load("hsls")
