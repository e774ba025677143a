"""Datasets: one file each, giving a Dataset."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from fairpriv import registry
from fairpriv.datasets import sources
from fairpriv.datasets.base import Dataset, Loader
from fairpriv.errors import BadRequest, DataUnavailable

__all__ = ["Dataset", "Loader", "load", "sums", "sums_at_hand"]


def load(name: str, params: Mapping[str, Any] | None = None) -> Dataset:
    """Return the dataset of this name with these options; a process reads each only once.

    The arrays are shared between callers and therefore read-only.
    """
    loader = registry.build("datasets", name, params)
    try:
        hash(loader)
    except TypeError:
        several = ", ".join(k for k, v in (params or {}).items() if isinstance(v, list | dict))
        raise BadRequest(f"dataset {name}: an option has several values where it takes one: {several}") from None
    # The sums are part of the key: a user's own file may change between two calls.
    return _loaded(loader, loader.sums())


def sums(name: str, params: Mapping[str, Any] | None = None) -> str:
    """Return the sha256 of the files behind a dataset; refuses, like `load`, when they cannot be had."""
    return registry.build("datasets", name, params).sums()


def sums_at_hand(name: str, params: Mapping[str, Any] | None = None) -> str | None:
    """Return the same where the files are on this machine; None where they would have to be brought."""
    with sources.offline():
        try:
            return sums(name, params)
        except DataUnavailable:
            return None


@lru_cache(maxsize=8)
def _loaded(loader: Loader, _: str) -> Dataset:
    dataset = loader.load()
    for array in (dataset.label, dataset.group, dataset.train):
        if array is not None:
            array.setflags(write=False)
    return dataset
