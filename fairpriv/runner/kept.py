"""A finished cell as it is kept: its stamp, its metrics and arrays, and a checksum over all of it."""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from fairpriv.cells import Cell
from fairpriv.stamps.stamp import Stamp


def array_sum(array: np.ndarray) -> str:
    """Return the sum of an array: its kind, shape and bytes."""
    head = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(head + np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def array_sums(arrays: Mapping[str, np.ndarray]) -> dict[str, str]:
    """Return the sum of each array."""
    return {name: array_sum(array) for name, array in arrays.items()}


def savez(buffer: io.BytesIO, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays as a compressed .npz; numpy's own signature takes a name for one of its options."""
    save: Callable[..., None] = np.savez_compressed
    save(buffer, **arrays)


def pack(arrays: Mapping[str, np.ndarray]) -> bytes | None:
    """Return arrays as the bytes of an .npz (no pickle)."""
    if not arrays:
        return None
    buffer = io.BytesIO()
    savez(buffer, arrays)
    return buffer.getvalue()


def unpack(blob: bytes | None) -> dict[str, np.ndarray]:
    """Return the arrays of `pack`."""
    if blob is None:
        return {}
    with np.load(io.BytesIO(blob), allow_pickle=False) as archive:
        return dict(archive)


@dataclass(frozen=True)
class Origin:
    """Where a cell was computed: package versions, processor, pin, and the revision of the code."""

    versions: Mapping[str, str]
    processor: str = ""
    pin: str = ""
    revision: str = ""

    @cached_property
    def text(self) -> str:
        """Return it as JSON."""
        return json.dumps(vars_of(self), sort_keys=True)

    @classmethod
    @cache
    def parse(cls, text: str) -> "Origin":
        """Return the origin of a text: one for all cells that have it."""
        return cls(**json.loads(text))


def vars_of(origin: Origin) -> dict[str, Any]:
    """Return an origin's fields as plain data."""
    names = ("versions", "processor", "pin", "revision")
    return {name: getattr(origin, name) for name in names}


@dataclass(frozen=True)
class Kept:
    """One finished cell."""

    stamp: Stamp
    metrics: Mapping[str, Any]
    seconds: float
    origin: Origin
    arrays: Mapping[str, str] = field(default_factory=dict)  # name -> sum; the bytes are fetched when asked for

    @cached_property
    def cell(self) -> Cell:
        """Return the cell."""
        return Cell.parse(self.stamp.cell)

    @cached_property
    def sum(self) -> str:
        """Return the checksum of everything that was computed."""
        said = [self.stamp.key, json.dumps(self.metrics), self.seconds, sorted(self.arrays.items())]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]

    def describe(self) -> str:
        """Name the cell as a reader of cells.csv would: its axes and seed."""
        return describe(self.cell)


def describe(cell: Cell) -> str:
    """Name a cell by its axes and seed."""
    return ", ".join(f"{axis}={value}" for axis, value in cell.axes.items()) + f", seed={cell.seed}"
