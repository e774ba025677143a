"""Perturbing a column of a million users against multi-freq-ldpy, the authors' library, user by user.

It is no dependency: `pip install multi-freq-ldpy` (it brings numba) to take the measurement, which is skipped without.
"""

import importlib
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fairpriv.mechanisms.ldp import PROTOCOLS
from tests.benchmarks.fastest import fastest

N, K, EPSILON = 1_000_000, 74, 1.0
SIZES = (1_000, 10_000, 100_000, 1_000_000)
FEWER = 100_000  # users given to the library; its time is scaled up, since it takes them one at a time
MINE = {"grr": "GRR", "rappor": "UE", "oue": "UE", "ss": "SS"}


def _reference(name: str) -> Callable[[int], Any] | str:
    """Return the library's client for one user, or why there is none."""
    try:
        module = importlib.import_module(f"multi_freq_ldpy.pure_frequency_oracles.{MINE[name]}")
    except ImportError as error:
        return f"skipped: {error} (pip install multi-freq-ldpy)"
    client = getattr(module, f"{MINE[name]}_Client")
    more = {"optimal": name == "oue"} if MINE[name] == "UE" else {}
    return lambda value: client(value, K, EPSILON, **more)


def bench() -> list[tuple[str, float, float, float, str]]:
    """Return (name, our seconds, reference seconds, ratio, note) for each measurement."""
    values = np.random.default_rng(0).integers(0, K, N)
    rows = []
    for name in MINE:
        protocol = PROTOCOLS[name](K, EPSILON)
        ours = fastest(lambda protocol=protocol: protocol.perturb(values, np.random.default_rng(1)))
        tracemalloc.start()
        reports = protocol.perturb(values, np.random.default_rng(1))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        note = f"{1e9 * ours / N:.0f} ns a user; peak {peak >> 20} MB, {reports.nbytes >> 20} of them the reports"
        client, reference = _reference(name), float("nan")
        if isinstance(client, str):
            note = client
        else:
            few = values[:FEWER]
            client(few[0])  # compile
            reference = fastest(lambda client=client, few=few: [client(v) for v in few], 2) * N / FEWER
        rows.append((f"{name}, n={N:,} k={K}, vs multi-freq-ldpy", ours, reference, reference / ours, note))
    return rows


def growth(sizes: Sequence[int] = SIZES) -> Iterator[tuple[str, int, float]]:
    """Yield (method, users, seconds) of perturbing one column."""
    for name in MINE:
        protocol, client = PROTOCOLS[name](K, EPSILON), _reference(name)
        if not isinstance(client, str):
            client(0)  # compile
        for n in sizes:
            values = np.random.default_rng(0).integers(0, K, n)
            yield f"{name} (ours)", n, fastest(lambda p=protocol, v=values: p.perturb(v, np.random.default_rng(1)))
            if not isinstance(client, str) and n <= FEWER:
                yield f"{name}, multi-freq-ldpy", n, fastest(lambda c=client, v=values: [c(x) for x in v], 1)
