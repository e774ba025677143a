"""The arithmetic of workers, pinned: the same bytes on every x86-64 processor that has AVX2.

Left alone, OpenBLAS, NumPy, glibc and XLA each choose their kernels by the processor they find. Other kernels add in
another order, a last bit differs, and after a fit or a threshold so does a decision. The pin holds them all to AVX2.
It must be in the environment before anything numeric is loaded: it is set for workers, and workers compute all cells.
"""

import itertools
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version

NAME = "avx2-2"  # the second: XLA multiplies by Eigen and takes no reciprocal root from the processor
_MARK = "FAIRPRIV_PIN"  # tells a worker that it was started pinned
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")
_AVX512 = ("F", "VL", "BW", "DQ", "CD", "ER", "PF")
# XLA's flags beside its instruction set, and the version of jaxlib from which each is known: an unknown one ends it.
_XLA_FLAGS = {
    "--xla_cpu_experimental_ynn_fusion_type=": (0, 9),  # YNN kernels choose by processor, whatever set they are held to
    "--xla_cpu_enable_platform_dependent_math=false": (0, 10),  # rsqrtps: Intel's and AMD's differ in the last bits
}


def _installed(package: str) -> tuple[int, int]:
    try:
        major, minor, *_ = version(package).split(".")
        return int(major), int(minor)
    except (PackageNotFoundError, ValueError):
        return (0, 0)


@cache
def _cpuinfo() -> dict[str, str]:
    """Return what Linux says of the first processor; nothing elsewhere."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = itertools.takewhile(str.strip, file)
            return {name.strip(): said.strip() for name, _, said in (line.partition(":") for line in lines)}
    except OSError:
        return {}


@cache
def processor() -> str:
    """Return the processor's name, and its family and model: "AMD EPYC" alone is the name of many."""
    said = _cpuinfo()
    name = said.get("model name") or platform.processor() or platform.machine()
    return f"{name}, family {said['cpu family']}, model {said['model']}" if "cpu family" in said else name


@cache
def why_not() -> str:
    """Say why workers cannot be pinned here; nothing where they can."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return f"the processor is {platform.machine()}, not x86-64"
    if "flags" not in _cpuinfo():
        return ""  # not Linux: every x86-64 processor of the last ten years has AVX2
    missing = [f for f in ("avx2", "fma") if f not in _cpuinfo()["flags"].split()]
    return f"the processor has no {' and no '.join(missing)}" if missing else ""


def variables() -> dict[str, str]:
    """Return the environment variables of a worker: one thread, and the pin where there can be one."""
    one_thread = {f"{name}_NUM_THREADS": "1" for name in _THREADS}
    if why_not():
        return one_thread | {_MARK: "none"}
    numpy_names = "X86_V4 AVX512_ICL AVX512_SPR"
    if _installed("numpy") < (2, 4):
        numpy_names = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
    flags = ["--xla_cpu_max_isa=AVX2", *(flag for flag, since in _XLA_FLAGS.items() if _installed("jaxlib") >= since)]
    given = [f for f in os.environ.get("XLA_FLAGS", "").split() if f not in flags]
    tunables = "glibc.cpu.hwcaps=" + ",".join(f"-AVX512{part}" for part in _AVX512)
    return one_thread | {
        _MARK: NAME,
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": numpy_names,
        "GLIBC_TUNABLES": tunables,
        "XLA_FLAGS": " ".join([*given, *flags]),
        # XLA's products go through oneDNN, which makes its kernels for the processor at hand; Eigen's own were compiled
        "TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL": "false",
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
    """Return how this process was started: pinned, with the pin's name, or "none"."""
    return os.environ.get(_MARK, "none")
