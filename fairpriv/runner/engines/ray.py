"""engine=ray: ray tasks, on the cluster at engine.address or on one started here."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

import ray

from fairpriv.runner import pin
from fairpriv.runner.work import Finished, Task, failed, perform, said


def run(tasks: Sequence[Task], jobs: int, address: str | None = None) -> Iterator[list[Finished]]:
    """Run the tasks with ray's own tasks and ray.wait (its joblib backend does not stream)."""
    started = not ray.is_initialized()
    if started:
        local: dict[str, Any] = {} if address else {"num_cpus": jobs, "include_dashboard": False}
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, **local)
    try:
        # ray starts workers of their own for tasks with an environment of their own
        pinned = {"env_vars": pin.variables()}
        remote = ray.remote(num_cpus=1, max_retries=1, runtime_env=pinned)(perform)
        waiting = {remote.remote(task): task for task in tasks}
        while waiting:
            ready, _ = ray.wait(list(waiting), num_returns=1)
            for ref in ready:
                task = waiting.pop(ref)
                try:
                    yield ray.get(ref)
                except ray.exceptions.RayError as error:
                    yield failed(task, said(error), str(error))
    finally:
        if started:
            ray.shutdown()
