"""Where conf/ and experiments/ are: beside the package in a checkout, inside it in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def share(name: str) -> Path:
    """Return the folder `conf` or `experiments`."""
    packed = _PACKAGE / "_share" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name
