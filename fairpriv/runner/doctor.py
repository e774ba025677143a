"""Is this machine ready: Python, packages, engines, data, results."""

import importlib.util
import os
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fairpriv import registry
from fairpriv.datasets import sources
from fairpriv.paths import share
from fairpriv.runner import arithmetic, pin


def _row(check: str, ok: bool | None, detail: str) -> dict[str, str]:
    return {"check": check, "state": {True: "ok", False: "FAIL", None: "absent"}[ok], "detail": detail}


def _writable(folder: Path) -> tuple[bool, str]:
    existing = next(p for p in (folder, *folder.resolve().parents) if p.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=existing):
            return True, str(folder)
    except OSError as error:
        return False, f"{existing}: {error.strerror}"


def checkup(results: Path) -> list[dict[str, str]]:
    """Return one row a check."""
    rows = [_row("python", (3, 11) <= sys.version_info[:2] <= (3, 13), sys.version.split()[0])]
    for package in ("numpy", "scipy", "pandas", "scikit-learn", "hydra-core", "matplotlib", "joblib"):
        try:
            rows.append(_row(package, True, version(package)))
        except PackageNotFoundError:
            rows.append(_row(package, False, "not installed"))
    rows.append(_row("cores", True, f"{os.cpu_count()}, {pin.processor()}"))
    rows.append(_row("pin", not pin.why_not() or None, pin.told()))
    rows.append(_row("arithmetic", *arithmetic.check()))
    rows.append(_row("conf", (share("conf") / "config.yaml").exists(), str(share("conf"))))
    for engine, module in (("dask", "distributed"), ("ray", "ray")):
        there = importlib.util.find_spec(module) is not None
        rows.append(_row(f"engine {engine}", there or None, "ready" if there else f"pip install 'fairpriv[{engine}]'"))
    for kind in registry.KINDS:
        _, broken = registry.names(kind)
        for name, error in broken.items():
            rows.append(_row(f"{kind[:-1]} {name}", False, f"{type(error).__name__}: {error}"))
    for file in sources.catalog():
        ready = file.state in ("cached", "local")
        detail = file.path if ready else f"{file.state}: fairpriv data fetch {file.dataset}"
        rows.append(_row(f"data {file.dataset}", True if ready else None, detail))
    rows.append(_row("results", *_writable(results)))
    return rows
