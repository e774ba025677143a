"""The composed config as one checked object: past this point nothing is missing and everything has its type."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpriv import validate
from fairpriv.cells import GROUPS
from fairpriv.config.compose import options
from fairpriv.config.every import expanded
from fairpriv.errors import BadRequest, unknown

REUSE = ("same", "strict")
MOST_SEED = 2**32 - 1  # what numpy's and scikit-learn's generators take
MOST_WORKERS = 4096
Block = Mapping[str, Any]
# What a block may hold beside axes: its seeds, and the axes that it keeps: it makes no sense with values not its own.
NOT_AXES = ("seeds", "keeps")


@dataclass(frozen=True)
class Settings:
    """What a run needs to know.

    Attributes
    ----------
    name, protocol, paper : str
        The experiment's own name, who computes its cells, and the paper it is from ("" for none).
    axes : tuple of str
        The names its grid may use.
    grid : mapping
        Its blocks, by name.
    any : tuple of mapping
        The blocks for a dataset that none of them names.
    seeds : range, list or None
        The seeds of every block; None: each block's own.
    profile_seeds : range or list
        Those of a block that says nothing.
    plugins : mapping
        By group: the parameters of the option in force, or None.
    results_dir, jobs, engine, reuse, recompute
        Where results go and how cells are run.
    """

    name: str
    protocol: str
    paper: str
    axes: tuple[str, ...]
    grid: Mapping[str, Block]
    any: tuple[Block, ...]
    seeds: Sequence[int] | None
    profile_seeds: Sequence[int]
    plugins: Mapping[str, Mapping[str, Any] | None]
    results_dir: Path
    jobs: int
    engine: Mapping[str, Any]
    reuse: str
    recompute: bool

    @property
    def axis_names(self) -> set[str]:
        """Return the axes that some block has."""
        return {a for b in (*self.grid.values(), *self.any) for a in b} - set(NOT_AXES)

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Settings":
        """Check a composed config."""
        validate.choice("reuse", config["reuse"], REUSE)
        validate.choice("recompute", config["recompute"], (True, False))
        sweep, axes = _mapping("sweep", config.get("sweep")), tuple(_listed(config.get("axes") or ()))
        grid = _with_families("sweep.grid", _mapping("sweep.grid", sweep.get("grid")))
        anywhere = [] if sweep.get("any") is None else _listed(sweep["any"])
        anywhere = list(_with_families("sweep.any", dict(enumerate(anywhere))).values())
        own_seeds = config["seeds"]
        return cls(
            name=_name(config.get("name")),
            protocol=_text("protocol", config.get("protocol")),
            paper=config.get("paper") or "",
            axes=axes,
            grid={name: _block(f"sweep.grid.{name}", block, axes) for name, block in grid.items()},
            any=tuple(_block("sweep.any", block, axes) for block in anywhere),
            seeds=None if own_seeds is None else seeds_of("seeds", own_seeds),
            profile_seeds=seeds_of("profile.seeds", _mapping("profile", config["profile"]).get("seeds")),
            plugins={group: _plugin(group, config.get(group)) for group in GROUPS},
            results_dir=Path(_text("results_dir", config["results_dir"], "a path")),
            jobs=_jobs(config["jobs"]),
            engine=_engine(config["engine"]),
            reuse=config["reuse"],
            recompute=config["recompute"],
        )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _mapping(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise BadRequest(f"{key} must hold key: value pairs, got {value!r}")
    return value


def _text(key: str, value: Any, what: str = "a name") -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise BadRequest(f"{key} must be {what}, got {'null' if value is None else repr(value)}")
    return value


def _name(value: Any) -> str:
    """Refuse a name that could not be a folder below results/."""
    name = _text("name", value)
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        raise BadRequest(f"name must be made of letters, digits, _, - and ., got {value!r}")
    return name


def _plugin(group: str, value: Any) -> Mapping[str, Any] | None:
    if value is None:
        return None
    plugin = _mapping(group, value)
    _text(f"{group}.name", plugin.get("name"))
    return plugin


def _jobs(value: Any) -> int:
    if value is None:
        return os.cpu_count() or 1
    if isinstance(value, int) and not isinstance(value, bool) and value < 1:
        raise BadRequest(f"jobs must be a whole number >= 1, got {value}")
    validate.integer("jobs", value, at_least=1, at_most=MOST_WORKERS)
    return int(value)


def _engine(value: Any) -> Mapping[str, Any]:
    engine = _mapping("engine", value)
    name = _text("engine.name", engine.get("name"))
    if name not in options("engine"):
        raise unknown("engine", name, options("engine"))
    if engine.get("address") is not None:
        _text("engine.address", engine["address"], "an address such as tcp://host:8786")
    return engine


def seeds_of(key: str, value: Any) -> Sequence[int]:
    """Return the seeds that a number of them, or a list, stands for."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= MOST_SEED:
            raise BadRequest(f"{key} must be >= 1 and <= {MOST_SEED}, or a list of seeds, got {value}")
        return range(value)
    if not isinstance(value, list) or not value:
        raise BadRequest(f"{key} must be a number of seeds or a list of them, got {value!r}")
    for seed in value:
        validate.integer(f"each of {key}", seed, at_least=0, at_most=MOST_SEED)
    return value


def _with_families(key: str, blocks: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the blocks with families of plug-ins spelled out; a block for a family that has no member is none."""
    out = {}
    for name, block in blocks.items():
        if isinstance(block, Mapping):
            families = {a for a, values in block.items() if isinstance(values, Mapping)}
            block = {a: expanded(f"{key}.{name}.{a}", a, values) for a, values in block.items()}
            if any(block[a] == [] for a in families):
                continue
        out[name] = block
    return out


def _block(key: str, block: Any, axes: Sequence[str]) -> Block:
    """Check one block: axes that the experiment has, or parameters of a plug-in, with at least one value each."""
    axes_of_block = _mapping(key, block)
    for axis, values in axes_of_block.items():
        if axis == "seeds":
            seeds_of(f"{key}.seeds", values)
        elif axis == "keeps":
            for kept in _listed(values):
                validate.choice(f"{key}.keeps", kept, tuple(axes))
        elif axis in axes or str(axis).partition(".")[0] in GROUPS:
            axis_values(f"{key}.{axis}", axis, values)
        else:
            raise unknown(f"axis in {key}", axis, [*axes, *NOT_AXES])
    return axes_of_block


def axis_values(key: str, axis: str, values: Any) -> list[Any]:
    """Return the values of an axis; refuse none at all, and any that cannot stand in a column.

    Only a plug-in's parameter may itself be a list or a mapping.
    """
    found = [number(v) for v in _listed(values)]
    if not found:
        raise BadRequest(f"{key} must have at least one value, got []")
    for value in found:
        if axis in GROUPS:
            if value is not None and value not in options(axis):
                raise unknown(axis, value, options(axis))
        elif "." not in axis and not (value is None or isinstance(value, bool | int | float | str)):
            raise BadRequest(f"{key} must be a value or a list of values, got {value!r}")
    return found


def number(value: Any) -> Any:
    """Read the words that YAML leaves as text: inf and nan."""
    if isinstance(value, str) and value.lower().lstrip("+-.") in ("inf", "infinity", "nan"):
        return float(value.replace(".", ""))
    return value
