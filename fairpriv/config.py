"""What to run: conf/ composed with the command line, checked, and made into plans (one a multirun job)."""

import fnmatch
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from fairpriv import registry
from fairpriv.cells import GROUPS, Cell, expand
from fairpriv.errors import BadRequest, unknown
from fairpriv.paths import share

CONF_GROUPS = ("experiment", "profile", "engine", "sweep", *GROUPS)


@dataclass(frozen=True)
class Plan:
    """One job: its cells in order, where results go, and the config they came from."""

    experiment: str
    protocol: str
    paper: str
    cells: tuple[Cell, ...]
    folder: Path
    jobs: int
    engine: Mapping[str, Any]
    config: Mapping[str, Any]
    overrides: tuple[str, ...]
    own_data: bool  # the user chose the dataset
    reproduction: bool = True  # the experiment as the paper has it, whose folder is added to


def start(conf_dir: str | None = None) -> None:
    """Point Hydra at conf/ (and at a user's own folder of configs before it)."""
    if GlobalHydra.instance().is_initialized():
        GlobalHydra.instance().clear()
    _options.cache_clear()
    _group_option.cache_clear()
    logging.getLogger("hydra").setLevel(logging.ERROR)
    store = ConfigStore.instance()
    for group, kind in GROUPS.items():
        for name in set(registry.outside(kind)) & set(registry.names(kind)[0]):
            # a plug-in brought by another package needs no file in conf/
            params = {k: "???" if v is ... else v for k, v in registry.parameters(registry.find(kind, name)).items()}
            store.store(group=group, name=name, node={"name": name} | params)
    initialize_config_dir(str(share("conf")), version_base="1.3", job_name="fairpriv")
    if conf_dir is not None:
        folder = Path(conf_dir).resolve()
        if not folder.is_dir():
            raise BadRequest(f"--conf-dir {conf_dir}: no such folder")
        loader = GlobalHydra.instance().config_loader()
        loader.get_search_path().prepend("user", f"file://{folder}")
        loader.repository.initialize_sources(loader.get_search_path())


def _loader() -> Any:
    return GlobalHydra.instance().config_loader()


@cache
def _options(group: str) -> tuple[str, ...]:
    return tuple(_loader().get_group_options(group, ObjectType.CONFIG))


def options(group: str) -> list[str]:
    """List the choices of a config group."""
    return [name for name in _options(group) if not name.startswith("_")]


def about(group: str, name: str) -> dict[str, Any]:
    """Return `about` and `paper` of an experiment, a profile or an engine, as its file says."""
    text = _loader().repository.load_config(f"{group}/{name}.yaml")
    return {key: text.config.get(key) for key in ("about", "paper")}


@cache
def _group_option(group: str, name: str) -> dict[str, Any]:
    """Return one option of a plug-in group, as plain data."""
    if name not in options(group):
        raise unknown(group, name, options(group))
    composed = _compose(f"{group}/{name}", [])
    return OmegaConf.to_container(composed[group], resolve=True)


def _compose(config_name: str, overrides: Sequence[str], hydra: bool = False) -> DictConfig:
    return compose(config_name=config_name, overrides=list(overrides), return_hydra_config=hydra)


def _parse(overrides: Sequence[str]) -> list[Override]:
    try:
        return OverridesParser.create(config_loader=_loader()).parse_overrides(list(overrides))
    except HydraException as error:
        raise BadRequest(f"cannot read the override: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    """Return the telling part of a Hydra or OmegaConf message as one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(
        line for line in lines if not line.startswith(("full_key", "object_type", "Set the env", "See https"))
    )


def _check_groups(parsed: Iterable[Override]) -> None:
    """Refuse an unknown option of a known group before Hydra does, in one line with the closest names."""
    for override in parsed:
        group = override.key_or_group
        if group not in CONF_GROUPS or override.is_delete() or override.is_sweep_override():
            continue
        value = override.value()
        if value is not None and value not in options(group):
            raise unknown(group, value, options(group))


def jobs_of(overrides: Sequence[str], multirun: bool) -> list[list[str]]:
    """Split the command line into jobs: one, or with -m one a combination of Hydra's sweep grammar."""
    parsed = _parse(overrides)
    sweeps = [o for o in parsed if o.is_sweep_override()]
    if sweeps and not multirun:
        raise BadRequest(f"{sweeps[0].input_line} sweeps over several values: add -m to run each of them")
    if not multirun:
        return [list(overrides)]
    Plugins.instance()
    from hydra._internal.core_plugins.basic_sweeper import BasicSweeper

    batches = BasicSweeper.split_arguments(parsed, max_batch_size=None)
    jobs = [list(job) for job in batches[0]]
    if not jobs:
        empty = next((o for o in sweeps if not list(o.sweep_string_iterator())), sweeps[0])
        raise BadRequest(f"{empty.input_line} matches nothing: valid: {', '.join(options(empty.key_or_group))}")
    return jobs


def _check_keys(parsed: Iterable[Override], cfg: DictConfig) -> None:
    """Refuse a key that the config does not have, with the closest ones."""
    for override in parsed:
        key = override.key_or_group
        if override.is_add() or override.is_force_add() or key in CONF_GROUPS or key.startswith("hydra"):
            continue
        node, path = cfg, []
        for part in key.split("."):
            if not (OmegaConf.is_dict(node) and part in list(node)):  # `in` denies a key that is still ???
                if not path and part in GROUPS:
                    raise BadRequest(f"{key}: pick the {part} first, e.g. {part}={options(part)[0]}")
                names = [str(k) for k in node] if OmegaConf.is_dict(node) else []
                raise unknown("key", key, [".".join([*path, n]) for n in names if n != "hydra"])
            node = node[part] if not OmegaConf.is_missing(node, part) else None
            path.append(part)


def _composed(overrides: Sequence[str]) -> tuple[DictConfig, list[Override]]:
    parsed = _parse(overrides)
    _check_groups(parsed)
    given = {o.key_or_group for o in parsed}
    if "experiment" not in given:
        raise BadRequest(f"which experiment? experiment=NAME, one of: {', '.join(options('experiment'))}")
    groups = [o.input_line for o in parsed if o.key_or_group in CONF_GROUPS]
    try:
        _check_keys(parsed, _compose("config", groups))
        return _compose("config", overrides, hydra=True), parsed
    except (HydraException, OmegaConfBaseException) as error:
        raise BadRequest(_one_line(error)) from error


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _number(value: Any) -> Any:
    """Read the words that YAML leaves as text: inf and nan."""
    if isinstance(value, str) and value.lower().lstrip("+-.") in ("inf", "infinity", "nan"):
        return float(value.replace(".", ""))
    return value


def _seeds(value: Any) -> list[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 1:
            raise BadRequest(f"seeds must be >= 1 or a list of seeds, got {value}")
        return list(range(value))
    if isinstance(value, list) and value and all(isinstance(v, int) and v >= 0 for v in value):
        return value
    raise BadRequest(f"seeds must be a number of seeds or a list of them, got {value!r}")


def _blocks(
    cfg: Mapping[str, Any], chosen: Mapping[str, Any], picked: Mapping[str, str]
) -> list[tuple[dict[str, list[Any]], list[int]]]:
    """Return the experiment's blocks of axes, each with its seeds, with the command line's choices in place.

    `chosen` are the axes it pins, `picked` the plug-ins it names.
    """
    sweep = cfg["sweep"]
    blocks = list(sweep["grid"].values())
    if chosen.get("dataset") is not None:
        blocks = [b for b in blocks if set(chosen["dataset"]) & set(_listed(b["dataset"]))]
        if not blocks:
            if not sweep.get("any"):
                known = sorted({d for b in sweep["grid"].values() for d in _listed(b["dataset"])})
                raise unknown(f"dataset for {cfg['name']}", chosen["dataset"][0], known)
            blocks = [{"dataset": chosen["dataset"]} | block for block in _listed(sweep["any"])]
    for axis, values in chosen.items():  # blocks that know the value are meant; where none does, it is new to all
        blocks = [b for b in blocks if {str(v) for v in values} & {str(v) for v in _listed(b.get(axis))}] or blocks
    for group, name in picked.items():  # a plug-in new to the grid need not have the parameters that are swept
        if not any(name in _listed(b.get(group)) for b in blocks):
            has = set(_group_option(group, name))
            alien = {a for b in blocks for a in b if a.startswith(f"{group}.") and a.split(".", 1)[1] not in has}
            blocks = [{a: v for a, v in b.items() if a not in alien} for b in blocks]
    out = []
    for block in blocks:
        block = dict(block)
        own_seeds = block.pop("seeds", cfg["profile"]["seeds"])
        seeds = _seeds(own_seeds if cfg["seeds"] is None else cfg["seeds"])
        axes = {axis: [_number(v) for v in _listed(values)] for axis, values in block.items()}
        axes |= {axis: values for axis, values in chosen.items() if axis in axes and values is not None}
        out.append((axes, seeds))
    return out


def plan(overrides: Sequence[str], multirun_name: str | None = None) -> Plan:
    """Make the plan of one job from its overrides."""
    composed, parsed = _composed(overrides)
    choices = {k: v for k, v in composed.hydra.runtime.choices.items() if not k.startswith("hydra")}
    with_hydra = OmegaConf.to_container(composed, resolve=False)
    del with_hydra["hydra"]
    try:
        cfg = OmegaConf.to_container(OmegaConf.create(with_hydra), resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise BadRequest(f"{error.full_key} must be given on the command line: {error.full_key}=...") from error
    sweep = cfg["sweep"]
    axis_names = {a for b in [*sweep["grid"].values(), *_listed(sweep.get("any") or [])] for a in b} - {"seeds"}
    typed = {o.key_or_group for o in parsed}
    chosen: dict[str, list[Any]] = {}
    for axis in sorted(axis_names & typed):
        value = choices.get(axis) if axis in GROUPS else OmegaConf.select(composed, axis)
        value = OmegaConf.to_container(value) if OmegaConf.is_config(value) else value
        chosen[axis] = [_number(v) for v in _listed(value)]
    for axis in typed - axis_names:
        if axis in (cfg.get("axes") or ()) and axis not in GROUPS and "." not in axis:
            raise BadRequest(f"{axis} is not an axis of {cfg['name']} here: valid: {', '.join(sorted(axis_names))}")

    def resolve(point: dict[str, Any]) -> dict[str, dict[str, Any]]:
        plugins = {}
        for group in GROUPS:
            picked = point.get(group) if group in point else choices.get(group)
            if picked is None:
                continue
            # the user's own parameters belong to the option they picked
            base = cfg[group] if choices.get(group) == picked else _group_option(group, picked)
            dotted = {a.split(".", 1)[1]: v for a, v in point.items() if a.startswith(f"{group}.")}
            params = dict(base) | dotted
            plugins[group] = registry.essential(registry.find(GROUPS[group], params["name"]), params)
        return plugins

    cells = expand(
        cfg["protocol"],
        _blocks(cfg, chosen, {g: choices[g] for g in GROUPS if g in typed}),
        resolve,
        registry.find("protocols", cfg["protocol"]).later,
    )
    folder = Path(cfg["results_dir"]) / cfg["name"]
    jobs = cfg["jobs"] if cfg["jobs"] is not None else (os.cpu_count() or 1)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise BadRequest(f"jobs must be a whole number >= 1, got {cfg['jobs']!r}")
    return Plan(
        experiment=cfg["name"],
        protocol=cfg["protocol"],
        paper=cfg.get("paper") or "",
        cells=tuple(cells),
        folder=folder / multirun_name if multirun_name else folder,
        jobs=jobs,
        engine=cfg["engine"],
        config=cfg,
        overrides=tuple(overrides),
        own_data=chosen.get("dataset") is not None,
        reproduction=multirun_name is None and not chosen and cfg["profile"]["name"] != "smoke",
    )


def job_name(job: Sequence[str], jobs: Sequence[Sequence[str]]) -> str:
    """Return the folder of one multirun job: the overrides in which the jobs differ (or all but the experiment)."""
    varying = [o for o in job if any(o not in other for other in jobs) and not fnmatch.fnmatch(o, "experiment=*")]
    name = ",".join(varying) or ",".join(o for o in job if not o.startswith("experiment=")) or "default"
    return name.replace(os.sep, "_")[:200]


def plans(overrides: Sequence[str], multirun: bool) -> list[Plan]:
    """Return the plans of a command line: one, or one a multirun job."""
    jobs = jobs_of(overrides, multirun)
    if not multirun:
        return [plan(jobs[0])]
    return [plan(job, job_name(job, jobs)) for job in jobs]
