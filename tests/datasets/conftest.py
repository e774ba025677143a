"""What the dataset tests share: an empty cache, a way to skip when data cannot be had."""

import pytest

from fairpriv import datasets
from fairpriv.errors import DataUnavailable


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty cache directory and no FAIRPRIV_DATA."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("FAIRPRIV_CACHE", str(cache))
    monkeypatch.delenv("FAIRPRIV_DATA", raising=False)
    return cache


@pytest.fixture
def load():
    """Load a real dataset, or skip with the reason."""

    def _load(name, **params):
        try:
            return datasets.load(name, params)
        except DataUnavailable as error:
            pytest.skip(str(error))

    return _load
