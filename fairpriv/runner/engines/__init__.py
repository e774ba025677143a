"""Engines: give tasks, get finished ones as they come. One file each, `run(tasks, jobs, options)`."""

import importlib
import pkgutil
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from fairpriv.errors import BadRequest, unknown
from fairpriv.runner.work import Finished, Task


def engine_names() -> list[str]:
    """List the engines."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__))


def run_tasks(engine: Mapping[str, Any], tasks: Sequence[Task], jobs: int) -> Generator[list[Finished]]:
    """Run tasks on the engine that the config names."""
    options = {k: v for k, v in engine.items() if k != "about"}
    name = options.pop("name")
    if name not in engine_names():
        raise unknown("engine", name, engine_names())
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except ImportError as error:
        raise BadRequest(f"engine={name} is not installed ({error}): pip install 'fairpriv[{name}]'") from error
    finished: Generator[list[Finished]] = module.run(tasks, jobs, **options)
    return finished
