"""Where results go: results/NAME/ for the experiment as the paper has it, a folder below it for any other request."""

import hashlib
import re
from collections.abc import Collection, Iterable
from pathlib import PurePath
from typing import Any

from hydra.core.override_parser.types import Override

LONGEST = 120
# How and with how many seeds an experiment is run does not make it another one.
_NEUTRAL = re.compile(r"experiment|seeds|sweep\.grid\.[^.]+\.seeds|engine(\..*)?|jobs|results_dir|reuse|recompute")
_UNSAFE = re.compile(r"[^\w=,.+~\[\]{}()-]", re.ASCII)


def own_folder(overrides: Iterable[Override], sweeps: Collection[str] = ()) -> str:
    """Return the folder below results/NAME/ that these overrides have to themselves; "" for results/NAME/ itself.

    Overrides come in the order of their keys, so that the same request has the same folder however it is typed.
    `sweeps` are the keys of a multirun: each of its combinations has its folder, whatever they are.
    """
    last = {o.key_or_group: o for o in overrides}
    kept = [o for key, o in sorted(last.items()) if _counts(o, key in sweeps)]
    whole = ",".join(f"{'~' if o.is_delete() else ''}{o.key_or_group}={_value(o.value())}" for o in kept)
    shown = ",".join(_shown(o) for o in kept)
    lost = _UNSAFE.search(shown) is not None or any(_hides(o) for o in kept)
    name = _UNSAFE.sub("_", shown)
    if lost or len(name) > LONGEST:  # two requests must not share a folder
        name = f"{name[: LONGEST - 9]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"
    return name


def _counts(override: Override, swept: bool) -> bool:
    key = override.key_or_group
    if key in ("experiment", "results_dir"):  # these have folders of their own anyway
        return False
    if swept:
        return True
    if key == "profile":
        return override.value() not in ("quick", "paper")
    return _NEUTRAL.fullmatch(key) is None


def _value(value: Any) -> str:
    """Return a value as it would be typed."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list):
        return f"[{','.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{_value(v)}" for k, v in value.items()) + "}"
    return str(value)


def _path(override: Override) -> PurePath | None:
    """Return the path that an override gives, if it does."""
    value = override.value()
    return PurePath(value) if override.key_or_group.endswith(".path") and isinstance(value, str) else None


def _hides(override: Override) -> bool:
    """Say whether a path's folder is left out of the name."""
    path = _path(override)
    return path is not None and len(path.parts) > 1


def _shown(override: Override) -> str:
    if override.is_delete():
        return f"~{override.key_or_group}"
    path = _path(override)
    value = _value(override.value()) if path is None else path.stem
    return f"{override.key_or_group}={value}"
