"""Representations in JAX against the same in eager PyTorch, each on one thread: processor seconds, side by side.

Where PyTorch is not installed, FAIRPRIV_TORCH_PYTHON may name a Python that has it.
"""

import importlib.util
import math
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from tests.benchmarks.fastest import fastest, in_turns

# batch (xie2024, Table 5), rows, share of S = 1
MINE = (("adult", 1024, 16_281, 0.333), ("compas", 463, 1_852, 0.479))
ITERATIONS = 100  # timed, the fastest of several; 50,000 take five hundred times as long
SCALE = 500
ROUNDS = 3


class NoReference(Exception):
    """The reference cannot be run here, and why."""


def _torch_seconds(*args: object) -> float:
    """Return the reference's seconds."""
    python = os.environ.get("FAIRPRIV_TORCH_PYTHON") or (sys.executable if importlib.util.find_spec("torch") else None)
    if python is None:
        raise NoReference("no PyTorch here: pip install torch, or FAIRPRIV_TORCH_PYTHON=a Python that has it")
    command = [python, str(Path(__file__).with_name("torch_reference.py")), *map(str, args)]
    env = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        raise NoReference(done.stderr.strip().splitlines()[-1])
    return float(done.stdout)


def _both(ours: Callable[[], float], *args: object) -> tuple[float, float | str]:
    """Return our seconds and the reference's, or why there are none."""
    try:
        took = in_turns({"ours": ours, "reference": partial(_torch_seconds, *args)}, ROUNDS)
    except NoReference as error:
        return in_turns({"ours": ours}, ROUNDS)["ours"], str(error)
    return took["ours"], took["reference"]


def _row(name: str, ours: float, reference: float | str, scale: float, note: str) -> tuple:
    if isinstance(reference, str):
        return name, ours * scale, math.nan, math.nan, reference
    return name, ours * scale, reference * scale, reference / ours, note


def _encoder_epoch() -> float:
    from fairpriv.defenses.representation.base import Sample
    from fairpriv.registry import build

    rng = np.random.default_rng(0)
    n = 32_561
    sample = Sample(rng.standard_normal((n, 13)), rng.integers(0, 2, n), rng.integers(0, 2, n))
    epochs = 5
    method = build("defenses", "information_obfuscation", {"epsilon": 5.0, "batch": 512, "epochs": epochs})
    return fastest(lambda: method.fit(sample, rng)) / epochs


def _mine(batch: int, n: int, share: float, discrete: bool) -> float:
    from fairpriv.metrics.mine import mine

    rng = np.random.default_rng(0)
    z, s = rng.standard_normal((n, 2)), rng.random(n) < share
    if discrete:
        z = (rng.integers(0, 4, (n, 2))[:, :, None] == np.arange(4)).reshape(n, -1)
    return fastest(lambda: mine(z, s, rng, iterations=ITERATIONS, batch=batch), times=3)


def _settled(batch: int, n: int, share: float) -> float:
    """Return the seconds of one estimate as the quick profile makes it: fresh noise, stopped when settled."""
    from fairpriv.metrics.mine import mine

    rng = np.random.default_rng(0)
    s = rng.random(n) < share
    centres = rng.uniform(-0.5, 0.5, (n, 2)) * (0.5 + 0.5 * s[:, None])

    def draw(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return centres[rows] + rng.laplace(0, 0.4, (len(rows), 2))

    return fastest(lambda: mine(draw, s, rng, batch=batch, settle=True), times=1)


def bench() -> list[tuple[str, float, float, float, str]]:
    """Return (name, our seconds, reference seconds, ratio, note) for each measurement."""
    rows = [_row("one epoch of the Adult encoder, vs eager PyTorch", *_both(_encoder_epoch, "encoder"), 1, "")]
    for name, batch, n, share in MINE:
        for kind in ("values", "codes"):
            title = f"50,000 iterations of MINE, {name} {kind} (batch {batch}), vs eager PyTorch"
            ours, reference = _both(partial(_mine, batch, n, share, kind == "codes"), "mine", ITERATIONS, batch, n)
            rows.append(_row(title, ours, reference, SCALE, f"{ITERATIONS} timed, times {SCALE}"))
        whole = reference if isinstance(reference, str) else SCALE * reference
        title = f"one estimate of I(S;Z) as quick makes it, {name} values, vs 50,000 iterations of eager PyTorch"
        rows.append(_row(title, _settled(batch, n, share), whole, 1, "stopped when settled"))
    return rows
