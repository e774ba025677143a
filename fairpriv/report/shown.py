"""`fairpriv show NAME`: one experiment, paper, profile, engine or plug-in as a record."""

import inspect
from collections.abc import Iterable
from typing import Any

from fairpriv import config, registry
from fairpriv.errors import unknown
from fairpriv.report.papers import papers


def record_of(name: str) -> dict[str, Any]:
    """Return what there is to know of a name; its kind comes first."""
    config.start()
    known = [*config.options("experiment")]
    if name in known:
        return _experiment(name)
    for paper in papers():
        known.append(paper.key)
        if name == paper.key:
            return _paper(paper)
    for kind in registry.KINDS:
        names, _ = registry.names(kind)
        known += names
        if name in names:
            return _plugin(kind, registry.find(kind, name))
    for group in ("profile", "engine"):
        known += config.options(group)
        if name in config.options(group):
            said = config.option(group, name)
            settings = {k: v for k, v in said.items() if k not in ("name", "about")}
            return {group: name, "about": said.get("about") or "", "settings": settings}
    raise unknown("name", name, set(known))


def in_order(values: Iterable[Any]) -> list[Any]:
    """Return distinct values, numbers by size before words by spelling, null last."""

    def rank(value: Any) -> tuple[int, float, str]:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return 0, float(value), ""
        return (2 if value is None else 1), 0.0, str(value)

    return [value for _, value in sorted({rank(v): v for v in values}.items())]


def _experiment(name: str) -> dict[str, Any]:
    """Return an experiment: how many cells each profile has, and the values of every axis that can be pinned."""
    plans = {p: config.plan([f"experiment={name}", f"profile={p}"]) for p in config.options("profile")}
    first = next(iter(plans.values()))
    values = {
        axis: [v if not isinstance(v, list | dict) else str(v) for p in plans.values() for v in _seen(p.cells, axis)]
        for axis in first.config["axes"]
    }
    return {
        "experiment": name,
        "about": first.config["about"],
        "paper": first.paper,
        "cells": {p: len(plan.cells) for p, plan in plans.items()},
        "axes": {axis: in_order(found) for axis, found in values.items()},
    }


def _seen(cells: Iterable[Any], axis: str) -> Iterable[Any]:
    return (c.axes[axis] for c in cells if axis in c.axes)


def _paper(paper: Any) -> dict[str, Any]:
    """Return a paper: its citation, its experiments, what of it is held against ours."""
    return {
        "paper": paper.key,
        **{key: str(value) for key, value in paper.citation.items()},
        "experiments": paper.experiments,
        "tables": {t.name: f"{t.title} ({len(t.numbers)} numbers, {t.experiment})" for t in paper.tables},
        "claims": {c["id"]: c["text"] for c in paper.claims},
    }


def _plugin(kind: str, cls: type) -> dict[str, Any]:
    """Return a plug-in: where it is from, what it does, its parameters."""
    params = {k: "required" if v is ... else v for k, v in registry.parameters(cls).items()}
    return {
        "kind": kind,
        "name": cls.name,
        "paper": cls.paper,
        "about": inspect.getdoc(cls),
        "parameters": params,
    }
