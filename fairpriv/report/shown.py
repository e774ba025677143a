"""`fairpriv show NAME`: one experiment, paper, profile, engine or plug-in as a record."""

import inspect
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairpriv import config, registry
from fairpriv.errors import unknown
from fairpriv.report.papers import papers
from fairpriv.seeds import canonical


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
        known += registry.candidates(kind)
        if name in registry.candidates(kind):
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
    grids = {p: config.grid_of([f"experiment={name}", f"profile={p}"]) for p in config.options("profile")}
    said, _ = next(iter(grids.values()))
    blocks = [axes for _, products in grids.values() for axes, _ in products]
    values = {
        axis: [v if not isinstance(v, list | dict) else str(v) for axes in blocks for v in axes.get(axis, ())]
        for axis in said["axes"]
    }
    return {
        "experiment": name,
        "about": said["about"],
        "paper": said.get("paper") or "",
        "cells": {p: _number(products) for p, (_, products) in grids.items()},
        "axes": {axis: in_order(found) for axis, found in values.items()},
    }


def _number(products: Iterable[tuple[Mapping[str, Sequence[Any]], Iterable[int]]]) -> int:
    """Count the cells of some blocks; a point that stands in several has the seeds of all."""
    seeds = defaultdict(set)
    for axes, own in products:
        for point in itertools.product(*axes.values()):
            seeds[canonical(dict(zip(axes, point)))] |= set(own)
    return sum(map(len, seeds.values()))


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
    """Return a plug-in: where it is from, what it does, and of each parameter default, type, values and meaning."""
    params = registry.described(cls)
    for said in params.values():
        said["default"] = "required" if said["default"] is ... else said["default"]
    return {
        "kind": kind,
        "name": cls.name,
        "paper": cls.paper,
        "about": inspect.getdoc(cls),
        "parameters": params,
    }
