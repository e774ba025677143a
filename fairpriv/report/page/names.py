"""Names that a reader knows, in place of those of columns, metrics and options; captions of figures."""

import re
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from fairpriv import yaml_files

_HERE = Path(__file__).parent


@cache
def _said(file: str) -> dict[str, dict[str, str]]:
    return yaml_files.read(_HERE / file)


def column(name: str) -> str:
    """Return what a column of the grid is called on the page."""
    return str(_said("names.yaml")["columns"].get(name) or name.rsplit(".", 1)[-1].replace("_", " "))


def metric(name: str) -> str:
    """Return what a metric is called on the page."""
    return str(_said("names.yaml")["metrics"].get(name) or name.replace("_", " "))


def value(text: str) -> str:
    """Return what an option or a setting is called on the page; numbers stay."""
    return str(_said("names.yaml")["values"].get(text) or text.replace("_", " ").replace("+", ", "))


def spelled(text: str) -> str:
    """Return a sentence with names that a reader knows in place of the options' and metrics' own."""
    known = _said("names.yaml")["metrics"] | _said("names.yaml")["values"]
    return re.sub(r"\b\w+_\w+\b", lambda found: str(known.get(found[0], found[0])), text)


def caption(experiment: str, figure: str) -> str:
    """Return what to see in a figure; its name where nobody has said."""
    own = _said("captions.yaml").get(experiment, {})
    fits = (text for pattern, text in own.items() if fnmatchcase(figure, pattern))
    return next(fits, figure.replace("_", " "))


def natural(name: str) -> tuple[bool, list[tuple[int, str]]]:
    """Return a key that puts the paper's figures first, and figure2 before figure10."""
    parts = [(int(p), "") if p.isdigit() else (-1, p) for p in re.split(r"(\d+)", name) if p]
    return not name.startswith("figure"), parts
