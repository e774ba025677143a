"""What there is, as `fairpriv list` says it: read off source files and conf/, so that it takes no time."""

from collections.abc import Callable
from functools import partial

from fairpriv import plugin_source, registry, yaml_files
from fairpriv.paths import shares

Row = dict[str, str]


def plugins(kind: str) -> list[Row]:
    """Return name, paper and summary of every plug-in of a kind, broken ones last with their import error."""
    whole: list[Row] = []
    broken: list[Row] = []
    for name, modules in registry.places(kind).items():
        told = [plugin_source.read(module) for module in modules]
        if name not in registry.outside(kind) and all(told):
            whole += [_row(t.name, t.paper, t.about) for t in told if t]
            continue
        error = registry.load(kind, name)
        if error is not None:
            broken.append(_row(name, "", f"BROKEN: {type(error).__name__}: {error}"))
        else:
            found = [cls for cls in registry.registered(kind) if cls.__module__ in modules]
            whole += [_row(cls.name, cls.paper, registry.summary(cls)) for cls in found]
    return sorted(whole, key=lambda row: row["name"]) + broken


def _row(name: str, paper: str, about: str) -> Row:
    return {"name": name, "paper": paper, "about": about.split("\n", 1)[0]}


def options(group: str) -> dict[str, yaml_files.Content]:
    """Return the files of a config group (experiment, profile, engine) by name; a paper from outside brings its own."""
    folders = [folder / group for folder in shares("conf")]
    paths = [path for folder in reversed(folders) for path in folder.glob("[!_]*.yaml")]  # ours win
    return {path.stem: yaml_files.read(path) for path in sorted(paths, key=lambda path: path.stem)}


def left_out(experiment: str) -> str:
    """Return why `fairpriv reproduce` leaves an experiment out unless it is named; nothing where it does not."""
    return str(options("experiment")[experiment].get("left_out") or "")


def _options(group: str) -> list[Row]:
    return [_row(name, said.get("paper") or "", said.get("about") or "") for name, said in options(group).items()]


def _papers() -> list[Row]:
    from fairpriv.report.papers import papers

    return [_row(paper.key, paper.key, ", ".join(paper.experiments)) for paper in papers()]


LISTS: dict[str, Callable[[], list[Row]]] = {
    "experiments": partial(_options, "experiment"),
    "papers": _papers,
    **{kind: partial(plugins, kind) for kind in ("datasets", "attacks", "defenses", "models")},
    "profiles": partial(_options, "profile"),
    "engines": partial(_options, "engine"),
}
