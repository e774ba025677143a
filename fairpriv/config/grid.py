"""The cells of a request: the experiment's blocks with the command line's choices in place, and plug-ins resolved."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fairpriv.cells import GROUPS, Cell, expand
from fairpriv.config.compose import option, parameters_of
from fairpriv.config.overrides import Request
from fairpriv.config.settings import NOT_AXES, Block, Settings, axis_values, number
from fairpriv.errors import BadRequest, unknown
from fairpriv.registry import essential, find
from fairpriv.seeds import canonical

MOST_CELLS = 2_000_000
Chosen = Mapping[str, Sequence[Any]]
Product = tuple[Mapping[str, Sequence[Any]], Sequence[int]]


def chosen_axes(request: Request, settings: Settings) -> dict[str, list[Any]]:
    """Return the axes that the command line pins, with their values."""
    names, out = settings.axis_names, {}
    for axis in sorted(names & request.typed):
        out[axis] = axis_values(axis, axis, _typed(request, axis))
    for axis in sorted(request.typed - names):
        if axis in settings.axes and axis not in GROUPS and "." not in axis:
            raise BadRequest(f"{axis} is not an axis of {settings.name} here: valid: {', '.join(sorted(names))}")
    return out


def _typed(request: Request, axis: str) -> Any:
    if axis in GROUPS:
        return request.choices.get(axis)
    node: Any = request.config
    for part in axis.split("."):
        node = node[part]
    return node


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _for_dataset(settings: Settings, wanted: Sequence[str] | None) -> list[Block]:
    """Return the blocks of a dataset: those that name it, or those for any other."""
    blocks = list(settings.grid.values())
    if wanted is None:
        return blocks
    known = [b for b in blocks if set(wanted) & set(_listed(b.get("dataset")))]
    if known:
        return known
    if not settings.any:
        names = {d for b in blocks for d in _listed(b.get("dataset")) if d is not None}
        raise unknown(f"dataset for {settings.name}", wanted[0], names)
    return [{"dataset": list(wanted)} | dict(block) for block in settings.any]


def _without_alien(block: Block, picked: Mapping[str, str | None]) -> Block:
    """Drop swept parameters that a plug-in new to the block does not have."""
    for group, name in picked.items():
        if name is not None and name not in _listed(block.get(group)):
            has = parameters_of(group, name)
            block = {a: v for a, v in block.items() if not a.startswith(f"{group}.") or a.split(".", 1)[1] in has}
    return block


def blocks(settings: Settings, chosen: Chosen, family: Chosen, picked: Mapping[str, str | None]) -> list[Block]:
    """Return the blocks that are meant.

    `chosen` are the axes pinned by this job, `family` the values its multirun gives them over all its combinations
    (each combination is then of the same blocks), `picked` the plug-ins it names.
    """
    out = _for_dataset(settings, chosen.get("dataset"))
    for axis in chosen:  # blocks that know a value are meant; where none does, it is new to all
        if axis != "dataset":
            wanted = {canonical(v) for v in family[axis]}
            knowing = [b for b in out if wanted & {canonical(number(v)) for v in _listed(b.get(axis))}]
            out = knowing or [b for b in out if axis not in _listed(b.get("keeps"))] or out
    return [_without_alien(block, picked) for block in out]


def _resolve(request: Request, settings: Settings, point: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the plug-ins of one point of the grid, with all their parameters."""
    plugins = {}
    for group in GROUPS:
        picked = point.get(group) if group in point else request.choices.get(group)
        if picked is None:
            continue
        # the user's own parameters belong to the option they picked
        own = request.choices.get(group) == picked
        base = (settings.plugins[group] if own else None) or option(group, picked)
        dotted = {a.split(".", 1)[1]: v for a, v in point.items() if a.startswith(f"{group}.")}
        params = {k: v for k, v in (dict(base) | dotted).items() if v != "???"}
        plugins[group] = essential(find(GROUPS[group], params["name"]), params)
    return plugins


def cells_of(request: Request, settings: Settings, chosen: Chosen, family: Chosen) -> list[Cell]:
    """Return the cells of a request, each once, in the grid's order."""
    products = products_of(request, settings, chosen, family)
    total = sum(math.prod(map(len, axes.values())) * len(seeds) for axes, seeds in products)
    if not 0 < total <= MOST_CELLS:
        raise BadRequest(f"{settings.name} would have {total} cells here: it takes 1 to {MOST_CELLS}")
    later = find("protocols", settings.protocol).later
    return expand(settings.protocol, products, lambda point: _resolve(request, settings, point), later)


def products_of(request: Request, settings: Settings, chosen: Chosen, family: Chosen) -> list[Product]:
    """Return the blocks of a request: the values of their axes, and their seeds."""
    picked = {g: request.choices[g] for g in GROUPS if g in request.typed}
    products: list[Product] = []
    for block in blocks(settings, chosen, family, picked):
        seeds = settings.seeds
        if seeds is None:
            seeds = _seeds(block, settings)
        own = {a: [number(v) for v in _listed(values)] for a, values in block.items() if a not in NOT_AXES}
        products.append(({a: chosen.get(a, values) for a, values in own.items()}, seeds))
    return products


def _seeds(block: Block, settings: Settings) -> Sequence[int]:
    own = block.get("seeds")
    return settings.profile_seeds if own is None else range(own) if isinstance(own, int) else own
