"""The arithmetic of workers, pinned: the same bytes on every x86-64 processor that has AVX2.

Left alone, OpenBLAS, NumPy, glibc and XLA each choose their kernels by the processor they find. Other kernels add in
another order, a last bit differs, and after a fit or a threshold so does a decision. The pin holds them all to AVX2.
It must be in the environment before anything numeric is loaded: it is set for workers, and workers compute all cells.
"""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version

NAME = "avx2"
_MARK = "FAIRPRIV_PIN"  # tells a worker that it was started pinned
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")
_AVX512 = ("F", "VL", "BW", "DQ", "CD", "ER", "PF")
# XLA's YNN kernels choose by processor whatever the instruction set they are held to; older versions have none.
_YNN_SINCE = (0, 9)


def _installed(package: str) -> tuple[int, int]:
    try:
        major, minor, *_ = version(package).split(".")
        return int(major), int(minor)
    except (PackageNotFoundError, ValueError):
        return (0, 0)


@cache
def processor() -> str:
    """Return the processor's name."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


@cache
def why_not() -> str:
    """Say why workers cannot be pinned here; nothing where they can."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"the processor is {platform.machine()}, not x86-64"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), None)
    except OSError:
        return ""  # not Linux: every x86-64 processor of the last ten years has AVX2
    missing = [f for f in ("avx2", "fma") if flags is not None and f not in flags]
    return f"the processor has no {' and no '.join(missing)}" if missing else ""


def variables() -> dict[str, str]:
    """Return the environment variables of a worker: one thread, and the pin where there can be one."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in _THREADS}
    if why_not():
        return one_thread | {_MARK: "none"}
    numpy_names = "X86_V4 AVX512_ICL AVX512_SPR"
    if _installed("numpy") < (2, 4):
        numpy_names = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
    flags = ["--xla_cpu_max_isa=AVX2"]
    if _installed("jaxlib") >= _YNN_SINCE:
        flags.append("--xla_cpu_experimental_ynn_fusion_type=")
    given = [f for f in os.environ.get("XLA_FLAGS", "").split() if f not in flags]
    tunables = "glibc.cpu.hwcaps=" + ",".join(f"-AVX512{part}" for part in _AVX512)
    return one_thread | {
        _MARK: NAME,
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": numpy_names,
        "GLIBC_TUNABLES": tunables,
        "XLA_FLAGS": " ".join([*given, *flags]),
    }


@contextmanager
def environment() -> Iterator[dict[str, str]]:
    """Have the pin in this process' environment while workers are started, and take it out again."""
    before = {name: os.environ.get(name) for name in variables()}
    os.environ.update(variables())
    try:
        yield variables()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def told() -> str:
    """Say in a line what workers compute with."""
    if why_not():
        return f"workers are not pinned: {why_not()}; cells may differ from another machine's in their last bits"
    return "workers compute with AVX2 whatever the processor has: the same bytes on every x86-64 machine"


def worker() -> bool:
    """Return whether this process was started as a worker, with one thread from its first import on."""
    return _MARK in os.environ


def state() -> str:
    """Return how this process was started: "avx2", or "none"."""
    return os.environ.get(_MARK, "none")
