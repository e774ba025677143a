"""`fairpriv show NAME`: one experiment, paper, profile, engine or plug-in as a record."""

import inspect
import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fairpriv import listing, plugin_source, registry
from fairpriv.errors import unknown
from fairpriv.report.papers import papers
from fairpriv.seeds import canonical


def record_of(name: str) -> dict[str, Any]:
    """Return what there is to know of a name; its kind comes first."""
    known = [*listing.options("experiment")]
    if name in known:
        return _experiment(name)
    for paper in papers():
        known.append(paper.key)
        if name == paper.key:
            return _paper(paper)
    for kind in registry.KINDS:
        known += registry.candidates(kind)
        if name in registry.candidates(kind):
            return _plugin(kind, name)
    for group in ("profile", "engine"):
        options = listing.options(group)
        known += options
        if name in options:
            said = options[name]
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
    from fairpriv import config  # Hydra: half a second that the others do without

    config.start()
    said, grids = config.grids_of(name)
    blocks = [axes for products in grids.values() for axes, _ in products]
    values = {
        axis: [v if not isinstance(v, list | dict) else str(v) for axes in blocks for v in axes.get(axis, ())]
        for axis in said["axes"]
    }
    return {
        "experiment": name,
        "about": said["about"],
        "paper": said.get("paper") or "",
        "cells": {p: _number(products) for p, products in grids.items()},
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


def _plugin(kind: str, name: str) -> dict[str, Any]:
    """Return a plug-in: where it is from, what it does, and of each parameter default, type, values and meaning."""
    modules = registry.places(kind)[name]
    ours = len(modules) == 1 and name not in registry.outside(kind)
    told, params = (plugin_source.read(modules[0]), plugin_source.described(modules[0])) if ours else (None, None)
    if told is None or params is None:
        cls = registry.find(kind, name)
        told, params = plugin_source.Told(cls.name, cls.paper, inspect.getdoc(cls) or ""), registry.described(cls)
    params = {k: v | ({"default": "required"} if v["default"] is ... else {}) for k, v in params.items()}
    return {"kind": kind, "name": told.name, "paper": told.paper, "about": told.about, "parameters": params}
