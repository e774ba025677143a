"""Skeletons of plug-ins: a package of one's own with a plug-in that works, its entry point and its test."""

import keyword
import re
from pathlib import Path
from string import Template

from fairpriv import listing, registry
from fairpriv.errors import BadRequest, StoreError, unknown

_HERE = Path(__file__).parent
# what `fairpriv new` writes -> the groups of its entry points, the plug-in's own first
KINDS = {
    "attack": ("attacks",),
    "defense": ("defenses",),
    "dataset": ("datasets",),
    "paper": ("protocols", "papers"),
}


def write(kind: str, name: str, into: Path) -> list[Path]:
    """Write the skeleton of a plug-in below `into`; return the files.

    Templates stand in skeletons/KIND/ and are named as what they become, `NAME` for the plug-in's name.
    """
    if kind not in KINDS:
        raise unknown("kind of skeleton", kind, KINDS)
    _check(kind, name)
    home = into / f"fairpriv_{name}"
    if home.exists():
        raise BadRequest(f"{home} is there already: choose another name, or another folder with --into")
    entries = [f'[project.entry-points."fairpriv.{group}"]\n{name} = "fairpriv_{name}"' for group in KINDS[kind]]
    class_name = "".join(part.capitalize() for part in name.split("_"))
    words = {"name": name, "class_name": class_name, "entry_points": "\n\n".join(entries)}
    made = []
    for template in [_HERE / "pyproject.toml.txt", *sorted((_HERE / kind).rglob("*.txt"))]:
        place = template.relative_to(_HERE / kind if template.is_relative_to(_HERE / kind) else _HERE)
        path = home / str(place.with_suffix("")).replace("NAME", name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(template.read_text(encoding="utf-8")).substitute(words), encoding="utf-8")
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error}") from error
        made.append(path)
    return made


def _check(kind: str, name: str) -> None:
    """Refuse a name that could not be a module, or that is taken."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise BadRequest(f"a name is made of small letters, digits and _, and starts with a letter, got {name!r}")
    group = KINDS[kind][0]
    taken = {group: {*registry.candidates(group), *(() if kind == "paper" else listing.options(kind))}}
    if kind == "paper":  # it brings an experiment of its name
        taken |= {which: {row["name"] for row in listing.LISTS[which]()} for which in ("papers", "experiments")}
    for what, known in taken.items():
        if name in known:
            raise BadRequest(f"{name!r} is one of fairpriv's own {what}: choose another name")
