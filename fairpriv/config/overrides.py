"""The command line's side: words read, checked against what there is, and split into jobs."""

import difflib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from fairpriv import registry
from fairpriv.cells import GROUPS
from fairpriv.config.compose import CONF_GROUPS, completed, compose, loader, option, options, parameters_of, plain
from fairpriv.errors import BadRequest, unknown

MOST_JOBS = 1000  # combinations of one multirun
# What makes an experiment the one it is: another is picked by experiment=.
OF_THE_EXPERIMENT = ("name", "protocol", "paper", "about", "left_out", "axes")
GRID = ("sweep.grid.", "sweep.any.")  # blocks and axes can be added and removed


@dataclass(frozen=True)
class Request:
    """One job's overrides and the config they give, as plain data.

    `typed` are the keys they set, `choices` the options in force by config group.
    """

    words: tuple[str, ...]
    overrides: tuple[Override, ...]
    typed: frozenset[str]
    choices: dict[str, str | None]
    config: dict[str, Any]


def parse(words: Sequence[str]) -> list[Override]:
    """Read the words as Hydra overrides, or refuse in one line."""
    for word in words:
        if "=" not in word and not word.startswith("~"):
            raise _bare(word)
    parser = OverridesParser.create(config_loader=loader())
    return [_parsed(parser, word) for word in words]


def _parsed(parser: OverridesParser, word: str) -> Override:
    try:
        return parser.parse_override(word)
    except HydraException as error:
        raise BadRequest(f"cannot read {word!r}: {one_line(error)}") from error


def _bare(word: str) -> BadRequest:
    """Return the error for a word without `=`: most likely the name of something to pick."""
    named = {name: group for group in reversed(CONF_GROUPS) for name in options(group)}
    for name in difflib.get_close_matches(word, named, n=1, cutoff=0.75):
        return BadRequest(f"cannot read {word!r}: did you mean {named[name]}={name}?")
    return BadRequest(f"cannot read {word!r}: settings are key=value, e.g. experiment={options('experiment')[0]}")


def one_line(error: Exception) -> str:
    """Return the telling part of a Hydra or OmegaConf message as one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    noise = ("full_key", "object_type", "Set the env", "See https")
    return "; ".join(line for line in lines if not line.startswith(noise)) or type(error).__name__


def jobs_of(words: Sequence[str], multirun: bool) -> list[list[str]]:
    """Split the command line into jobs: one, or with -m one per combination of Hydra's sweep grammar."""
    parsed = parse(words)
    sweeps = [o for o in parsed if o.is_sweep_override()]
    if not multirun:
        if sweeps:
            raise BadRequest(f"{sweeps[0].input_line} sweeps over several values: add -m to run each of them")
        return [list(words)]
    for override in sweeps:
        if not override.is_discrete_sweep():
            raise BadRequest(f"{override.input_line} has no values to run one by one: write them out, or use range()")
    lists = [_values(o) if o.is_sweep_override() else [word] for o, word in zip(parsed, words)]
    if math.prod(map(len, lists)) > MOST_JOBS:
        raise BadRequest(f"a multirun has at most {MOST_JOBS} combinations, these words give more")
    return [list(job) for job in itertools.product(*lists)]


def _values(override: Override) -> list[str]:
    """Return the overrides a sweep stands for."""
    key, group = override.get_key_element(), override.key_or_group
    try:
        found = list(itertools.islice(override.sweep_string_iterator(), MOST_JOBS + 1))
    except (HydraException, ValueError, ArithmeticError, TypeError) as error:
        raise BadRequest(f"cannot read {override.input_line}: {one_line(error)}") from error
    if not found:
        valid = f": valid: {', '.join(options(group))}" if options(group) else ""
        raise BadRequest(f"{override.input_line} matches nothing{valid}")
    return [f"{key}={value}" for value in found]


def swept(words: Sequence[str]) -> set[str]:
    """Return the keys that sweep over several values."""
    return {o.key_or_group for o in parse(words) if o.is_sweep_override()}


def _check_form(override: Override) -> None:
    """Refuse what no run can take: other packages, Hydra's own settings, an experiment's identity, removals."""
    key, line = override.key_or_group, override.input_line
    if override.package is not None:
        raise BadRequest(f"{line}: packages (@) are not used here: write {key}=...")
    if key.split(".")[0].split("/")[0] == "hydra":
        raise BadRequest(f"{line}: Hydra's own settings are not used here; results_dir= and jobs= are ours")
    if key.split(".")[0] in OF_THE_EXPERIMENT:
        raise BadRequest(f"{line}: {key.split('.')[0]} belongs to the experiment: pick another with experiment=NAME")
    if key == "sweep":
        raise BadRequest(f"{line}: the grid follows experiment= and profile=; change it by sweep.grid.BLOCK.AXIS=...")
    if override.is_delete() and not key.startswith(GRID):
        raise BadRequest(f"{line}: {key} cannot be removed, only blocks and axes of sweep.grid can: set it instead")


def _check_choice(override: Override) -> None:
    """Refuse an unknown option of a known group before Hydra does, in one line with the closest names."""
    group, value = override.key_or_group, override.value()
    if group not in CONF_GROUPS or override.is_sweep_override():
        return
    if override.is_add() or override.is_force_add():
        raise BadRequest(f"{override.input_line}: every run has a {group}: write {group}={value}")
    if value not in options(group):
        if group in GROUPS and isinstance(value, str) and value in registry.candidates(GROUPS[group]):
            registry.find(GROUPS[group], value)  # says why it is no choice
        raise unknown(group, "null" if value is None else value, options(group))


def _known(key: str, cfg: DictConfig) -> tuple[bool, list[str]]:
    """Say whether the config has a key; if not, return the keys there are at that place."""
    node: Any = cfg
    path: list[str] = []
    for part in key.split("."):
        if not (OmegaConf.is_dict(node) and part in list(node)):  # `in` denies a key that is still ???
            names = [str(k) for k in node] if OmegaConf.is_dict(node) else []
            return False, [".".join([*path, n]) for n in names if n not in ("hydra", *OF_THE_EXPERIMENT)]
        node = node[part] if not OmegaConf.is_missing(node, part) else None
        path.append(part)
    return True, []


def _fitting(group: str, cfg: DictConfig) -> str:
    """Return an option of a group that the experiment takes."""
    family = registry.find("protocols", cfg.protocol).accepts.get(group, object)
    classes = ((name, registry.find(GROUPS[group], option(group, name)["name"])) for name in options(group))
    return next((name for name, cls in classes if issubclass(cls, family)), options(group)[0])


def _check_key(override: Override, cfg: DictConfig, choices: dict[str, str | None]) -> None:
    """Refuse a key that there is not, with the closest ones."""
    key = override.key_or_group
    known, there = _known(key, cfg)
    if known:
        return
    group, _, parameter = key.partition(".")
    if group in GROUPS:
        choice = choices.get(group)
        if choice is None:
            raise BadRequest(f"{key}: pick the {group} first, e.g. {group}={_fitting(group, cfg)}")
        takes = parameters_of(group, choice)
        if parameter not in takes:  # conf/ names only what differs from the class
            raise unknown(f"parameter of {group} {choice}", parameter, takes)
    elif not (override.is_add() and key.startswith(GRID) and _known(key.rpartition(".")[0], cfg)[0]):
        raise unknown("key", key, there)


def read(words: Sequence[str]) -> Request:
    """Read one job's overrides: every word checked, composed with conf/, resolved to plain data."""
    parsed = parse(words)
    for override in parsed:
        _check_form(override)
        _check_choice(override)
    typed = frozenset(o.key_or_group for o in parsed)
    if "experiment" not in typed:
        raise BadRequest(f"which experiment? experiment=NAME, one of: {', '.join(options('experiment'))}")
    try:
        composed = compose("config", tuple(o.input_line for o in parsed if o.key_or_group in CONF_GROUPS), True)
        choices = {k: v for k, v in composed.hydra.runtime.choices.items() if not k.startswith("hydra")}
        config = OmegaConf.masked_copy(composed, [str(k) for k in composed if k != "hydra"])
        OmegaConf.set_struct(config, False)
        for override in parsed:
            if override.key_or_group not in CONF_GROUPS:
                _check_key(override, config, choices)
                _apply(override, config)
        return Request(tuple(words), tuple(parsed), typed, choices, _resolved(config))
    except (HydraException, OmegaConfBaseException, RecursionError) as error:
        raise BadRequest(one_line(error)) from error


def _apply(override: Override, config: DictConfig) -> None:
    """Set or remove one value, as Hydra does once the groups are composed."""
    key = override.key_or_group
    if override.is_delete():
        above, _, last = key.rpartition(".")
        del OmegaConf.select(config, above)[last]
        return
    held, value = OmegaConf.select(config, key), override.value()
    kind: type = list if OmegaConf.is_list(held) else dict if OmegaConf.is_dict(held) else object
    alike = isinstance(value, kind) or not isinstance(value, list | dict)
    OmegaConf.update(config, key, value, merge=alike, force_add=True)  # a list and pairs cannot be merged


def _resolved(config: DictConfig) -> dict[str, Any]:
    """Resolve interpolations and complete plug-ins; what must still be given is refused by its name."""
    try:
        resolved = plain(config, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise BadRequest(f"{error.full_key} must be given on the command line: {error.full_key}=...") from error
    for group in GROUPS:
        said = resolved.get(group)
        if isinstance(said, dict) and isinstance(said.get("name"), str):  # `settings` refuses any other
            resolved[group] = completed(group, said)
    return resolved
