"""YAML files read by libyaml where it is there: ten times as fast as in Python, and `fairpriv list` reads dozens."""

from pathlib import Path
from typing import Any

import yaml

Content = dict[str, Any]
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path) -> Content:
    """Return what a file holds."""
    content: Content = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
    return content
