"""Whether workers here compute the bytes that the committed results were made of.

A few operations of each kind that cells are made of, with sums of what came out, held against those recorded for the
same packages. Run as a module it prints the sums of this machine; `doctor` asks for them from a pinned process.
"""

import hashlib
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fairpriv.runner import pin

PACKAGES = {"numpy": "numpy", "scipy": "scipy", "jax": "jaxlib"}  # kind of operation -> who computes it
_RECORD = Path(__file__).with_name("arithmetic.json")  # "numpy 2.4.6" -> operation -> sum
_SHAPES = ((64, 10, 100), (100, 256, 100), (463, 100, 100), (100, 1500, 100), (16, 256, 256), (300, 1000, 1))


def _sum(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


def _numpy(rng: np.random.Generator) -> dict[str, str]:
    x = rng.standard_normal((200, 300))
    return {
        "product": _sum(x @ x.T),
        "float32 product": _sum(x.astype(np.float32) @ x.T.astype(np.float32)),
        "functions": _sum([np.exp(x), np.log(abs(x)), np.tanh(x), np.sin(x)]),
        "sums": _sum(x.sum(axis=0)),
        "solution": _sum(np.linalg.solve(x @ x.T, x[:, 0])),
    }


def _scipy(rng: np.random.Generator) -> dict[str, str]:
    from scipy import linalg, optimize

    a, b = rng.standard_normal((40, 60)), rng.standard_normal(40)
    least = optimize.linprog(np.ones(120), A_eq=np.hstack([a, -a]), b_eq=b, method="highs").x
    return {"factors": _sum(linalg.cho_factor(a @ a.T)[0]), "linear program": _sum(least)}


def _jax(rng: np.random.Generator) -> dict[str, str]:
    from fairpriv.jax_cpu import jax, jnp, matmul

    found = {}
    for m, k, n in _SHAPES:
        a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
        slopes = jax.jit(jax.grad(lambda a, b: jnp.square(matmul(a, b)).sum(), (0, 1)))(a, b)
        found[f"product {m}x{k}x{n}"] = _sum(np.concatenate([np.ravel(part) for part in slopes]))
    x = rng.standard_normal(10_000).astype(np.float32)
    for name in ("exp", "tanh", "sum"):
        found[name] = _sum(jax.jit(getattr(jnp, name))(x))
    found["reciprocal root"] = _sum(jax.jit(lambda x: 1 / jnp.sqrt(1 + jnp.abs(x)))(x))
    return found


def sums() -> dict[str, dict[str, str]]:
    """Return what this process computes: "numpy 2.4.6" -> operation -> sum."""
    kinds = {"numpy": _numpy, "scipy": _scipy, "jax": _jax}
    return {f"{p} {version(p)}": kinds[kind](np.random.default_rng(0)) for kind, p in PACKAGES.items()}


def check() -> tuple[bool | None, str]:
    """Compare a pinned process' sums with the recorded ones; None where the packages have no record."""
    done = subprocess.run(
        [sys.executable, "-m", __name__], env=os.environ | pin.variables(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        return False, f"could not be tried: {(done.stderr.strip().splitlines() or ['no output'])[-1]}"
    record = json.loads(_RECORD.read_text(encoding="utf-8"))
    here = json.loads(done.stdout)
    known = {package: ours for package, ours in here.items() if package in record}
    wrong = [f"{p}: {name}" for p, ours in known.items() for name in ours if ours[name] != record[p].get(name)]
    if wrong:
        return False, f"other bytes than recorded, and so may cells have: {', '.join(wrong)}"
    unknown = [package for package in here if package not in record]
    if unknown:
        return None, f"nothing recorded for {', '.join(unknown)}: cells may differ from committed ones in last bits"
    return True, f"the recorded bytes ({', '.join(known)})"


if __name__ == "__main__":
    print(json.dumps(sums(), indent=1))
