"""Where conf/ and experiments/ are: beside the package in a checkout, inside it in an installed wheel.

A package from outside brings a paper of its own by an entry point of the group `fairpriv.papers` that names a module or
package whose folder holds `conf/` and `experiments/`.
"""

import importlib.util
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def share(name: str) -> Path:
    """Return the folder `conf` or `experiments`."""
    packed = _PACKAGE / "_share" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name


@cache
def shares(name: str) -> tuple[Path, ...]:
    """Return all folders `conf` or `experiments`: our own, then those of papers from outside."""
    found = [share(name)]
    for entry in sorted(entry_points(group="fairpriv.papers"), key=lambda e: e.name):
        folder = _folder(entry.module)
        if folder is not None and (folder / name).is_dir():
            found.append(folder / name)
    return tuple(dict.fromkeys(found))


def _folder(module: str) -> Path | None:
    """Return the folder of a module or package; None where it is not to be found (then it brings nothing)."""
    try:
        spec = importlib.util.find_spec(module)
    except Exception:  # a parent package that does not import
        return None
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve()
    return Path(spec.origin).resolve().parent if spec.origin else None
