"""Hydra's side: where configs are found, which choices there are, and composing them."""

import logging
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.object_type import ObjectType
from omegaconf import DictConfig, OmegaConf

from fairpriv import registry
from fairpriv.cells import GROUPS
from fairpriv.errors import BadRequest, unknown
from fairpriv.paths import share, shares

PLAIN = (bool, int, float, str, list, tuple, dict)  # what a config can hold
CONF_GROUPS = ("experiment", "profile", "engine", "sweep", *GROUPS)


def start(conf_dir: str | None = None) -> None:
    """Point Hydra at conf/, at the conf/ of papers from outside, and before them at a user's own folder of configs."""
    if GlobalHydra.instance().is_initialized():
        GlobalHydra.instance().clear()
    for cached in (options, option, compose):
        cached.cache_clear()
    logging.getLogger("hydra").setLevel(logging.ERROR)
    initialize_config_dir(str(share("conf")), version_base="1.3", job_name="fairpriv")
    path = loader().get_search_path()
    for number, folder in enumerate(shares("conf")[1:]):
        path.prepend(f"paper-{number}", f"file://{folder}", anchor="schema")  # behind ours: nothing is shadowed
    if conf_dir is not None:
        own = Path(conf_dir).resolve()
        if not own.is_dir():
            raise BadRequest(f"--conf-dir {conf_dir}: no such folder")
        path.prepend("user", f"file://{own}")
    loader().repository.initialize_sources(path)
    _offer_plugins()


def _offer_plugins() -> None:
    """Make every plug-in without a file in conf/ a choice of its group."""
    store = ConfigStore.instance()
    for group, kind in GROUPS.items():
        known = loader().get_group_options(group, ObjectType.CONFIG)
        for name in registry.candidates(kind):
            if name in known:
                continue
            try:
                registry.find(kind, name)
            except BadRequest:  # broken: `fairpriv list` shows it, and asking for it says why
                continue
            store.store(group=group, name=name, node={"name": name})


def loader() -> Any:
    """Return Hydra's config loader."""
    return GlobalHydra.instance().config_loader()


@cache
def options(group: str) -> tuple[str, ...]:
    """List the choices of a config group."""
    found = loader().get_group_options(group, ObjectType.CONFIG)
    return tuple(sorted(name for name in found if not name.startswith("_")))


@cache
def option(group: str, name: str) -> dict[str, Any]:
    """Return one option of a group, as plain data, a plug-in's with all parameters; what must be given is "???"."""
    if name not in options(group):
        raise unknown(group, name, options(group))
    said = _as_written(f"{group}/{name}")
    if said is None:
        said = plain(compose(f"{group}/{name}", ())[group])
    return completed(group, said) if group in GROUPS else said


def _as_written(path: str) -> dict[str, Any] | None:
    """Return an option whose file says it all: composing takes Hydra a third of a second, reading none."""
    source = next((s for s in loader().get_sources() if s.is_config(path)), None)
    found = None if source is None else source.load_config(path)
    if found is None or found.header.get("package") or "defaults" in found.config:
        return None
    return None if "${" in OmegaConf.to_yaml(found.config) else plain(found.config)


def completed(group: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return an option with all parameters: what its file does not say is as its class has it.

    What must be given and has no default is left to whoever builds the plug-in: an axis of the grid may bring it.
    """
    known = registry.parameters(registry.find(GROUPS[group], said["name"]))
    defaults = {key: value for key, value in known.items() if value is None or isinstance(value, PLAIN)}
    listed = {key: list(value) if isinstance(value, tuple) else value for key, value in defaults.items()}
    return {"name": said["name"]} | listed | dict(said)


def plain(config: DictConfig, throw_on_missing: bool = False) -> dict[str, Any]:
    """Return a config as plain data, interpolations resolved; keys of ours are text."""
    return cast("dict[str, Any]", OmegaConf.to_container(config, resolve=True, throw_on_missing=throw_on_missing))


@lru_cache(maxsize=256)
def compose(config_name: str, overrides: Sequence[str], with_choices: bool = False) -> DictConfig:
    """Compose a config; the same words give the same object, which nobody changes."""
    return hydra_compose(config_name=config_name, overrides=list(overrides), return_hydra_config=with_choices)


def parameters_of(group: str, choice: str) -> set[str]:
    """Return the parameters that the plug-in behind a choice takes: those its file names and those of its class."""
    said = option(group, choice)
    return ({*said} | {*registry.parameters(registry.find(GROUPS[group], said["name"]))}) - {"name"}
