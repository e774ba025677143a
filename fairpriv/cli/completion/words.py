"""What may stand next on a command line: read off file names and source, so that a shell need not wait for it."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from fairpriv import plugin_source, registry, yaml_files
from fairpriv.cli.assess import KEYS
from fairpriv.paths import shares

GROUPS = {kind[:-1]: kind for kind in registry.KINDS if kind != "protocols"}  # dataset= picks one of datasets
SETTINGS = ("jobs", "seeds", "results_dir", "reuse", "recompute")
_VALUES = {"reuse": ("same", "strict"), "recompute": ("true", "false")}
_FLAG = re.compile(r'(?:add_argument|\badd)\(\s*(?:"-\w", )?"(--[a-z][a-z-]*)"')
_SHARED_FLAGS = {"arguments.results_dir(": "--results-dir", "arguments.as_json(": "--json", "desk_parser(": "--state"}


def options(group: str) -> list[str]:
    """Return the choices of a config group: its files in conf/, and plug-ins, which need none."""
    files = {path.stem for folder in shares("conf") for path in (folder / group).glob("[!_]*.yaml")}
    return sorted(files | set(registry.candidates(GROUPS[group]) if group in GROUPS else ()))


def _option(group: str, name: str) -> yaml_files.Content:
    """Return what the file of an option says; nothing where it has none."""
    paths = [folder / group / f"{name}.yaml" for folder in shares("conf")]
    return next((yaml_files.read(path) for path in paths if path.is_file()), {})


def _chosen(words: Iterable[str], group: str) -> str:
    """Return the option of a group that the words pick; "" for none."""
    return next((word.partition("=")[2] for word in words if word.startswith(f"{group}=")), "")


def _parameters(group: str, name: str) -> list[str]:
    """Return the parameters of the plug-in behind an option, as far as its source tells them."""
    plugin = _option(group, name).get("name") or name
    modules = registry.places(GROUPS[group]).get(plugin, ())
    return sorted({*(plugin_source.described(modules[0]) or ())} if len(modules) == 1 else ())


def _overrides(words: Sequence[str]) -> list[str]:
    """Return what `fairpriv run` takes: `key=`, and behind a key its values."""
    key, equals, value = words[-1].partition("=")
    if equals:
        choices = options(key) if key in ("experiment", "profile", "engine", *GROUPS) else _VALUES.get(key, ())
        before = value.rpartition(",")  # a sweep: defense=conceal,la
        return [f"{key}={before[0]}{before[1]}{choice}" for choice in choices]
    axes = _option("experiment", _chosen(words, "experiment")).get("axes") or ()
    keys = [*("experiment", "profile", "engine"), *GROUPS, *SETTINGS, *axes]
    if "." in key and (group := key.split(".")[0]) in GROUPS:
        keys += [f"{group}.{name}" for name in _parameters(group, _chosen(words, group))]
    return [f"{name}=" for name in dict.fromkeys(keys)]


def _audit(words: Sequence[str]) -> list[str]:
    key, equals, _ = words[-1].partition("=")
    if equals:
        return [f"{key}={name}" for name in options(key)] if key == "defense" else []
    return [f"{name}=" for name in ("defense", "epsilon", "n", "m", "metric", "samples", "share")]


def _assess(words: Sequence[str]) -> list[str]:
    """Return the keys of an assessment once its file stands there; the file itself is the shell's to complete."""
    there = any("=" not in word for word in words[:-1])
    return [f"{key}=" for key in KEYS] if there and "=" not in words[-1] else []


def _everything(words: Sequence[str]) -> list[str]:
    named = [name for group in ("experiment", "profile", "engine") for name in options(group)]
    papers = [path.parent.name for folder in shares("experiments") for path in folder.glob("*/paper.yaml")]
    return sorted({*named, *papers, *(name for kind in registry.KINDS for name in registry.candidates(kind))})


def _experiments(words: Sequence[str]) -> list[str]:
    return options("experiment")


def _first(choices: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the choices for a command's first word."""
    return list(choices) if len(words) == 1 else []


def _data(words: Sequence[str]) -> list[str]:
    return ["list", "fetch", "verify"] if len(words) == 1 else ["all", *registry.candidates("datasets")]


_LISTS = ("experiments", "papers", "datasets", "attacks", "defenses", "models", "profiles", "engines")
POSITIONALS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "run": _overrides,
    "audit": _audit,
    "assess": _assess,
    "show": _everything,
    "data": _data,
    **dict.fromkeys(("status", "verify", "adopt", "render", "reproduce"), _experiments),
    "list": partial(_first, _LISTS),
    "desk": partial(_first, ("init", "serve", "ledger")),
    "new": partial(_first, ("attack", "defense", "dataset", "paper")),
    "completion": partial(_first, ("bash", "zsh", "fish")),
}


def flags(command: str, verb: str = "") -> list[str]:
    """Return the flags of a command, read off its source."""
    place = Path(__file__).parents[1] / command
    path = place.with_suffix(".py") if not place.is_dir() else place / f"{verb}.py"
    source = path.read_text(encoding="utf-8") if path.is_file() else ""
    shared = [flag for call, flag in _SHARED_FLAGS.items() if call in source]
    return sorted({*_FLAG.findall(source), *shared, "--help"})


def candidates(words: Sequence[str], commands: Iterable[str]) -> list[str]:
    """Return what the last of these words (those behind `fairpriv`) may become, in the shape in which it is typed."""
    *before, last = words or [""]
    if not before:
        found = [*commands, "--help", "--version"]
    elif last.startswith("-"):
        found = flags(before[0], before[1] if len(before) > 1 else "")
    elif before[-1] == "--profile":
        found = options("profile")
    elif before[-1].startswith("--") and before[-1] not in ("--multirun", "--dry-run", "--json", "--force", "--strict"):
        found = []  # the value of a flag: a path, a number
    else:
        found = POSITIONALS.get(before[0], lambda _: [])([*before[1:], last])
    return [word for word in found if word.startswith(last)]
