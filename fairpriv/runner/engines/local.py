"""engine=local: joblib/loky processes on this machine; jobs=1 stays in this process."""

import os
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import cache

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from fairpriv.runner.work import Finished, Task, perform


def _watch(driver: int) -> None:
    """End this worker soon after its driver: killed, it must not leave a task computing for nobody."""
    while os.getppid() == driver:
        time.sleep(1)
    os._exit(1)


@cache
def _watched() -> threading.Thread:
    """Start the watch, once a worker."""
    thread = threading.Thread(target=_watch, args=(os.getppid(),), daemon=True)
    thread.start()
    return thread


def _perform(task: Task) -> list[Finished]:
    _watched()
    return perform(task)


def _stream(tasks: Sequence[Task], jobs: int) -> Iterator[list[Finished]]:
    # loky renews a worker that has grown by 300 MB, as one does that keeps what JAX compiled: no news for the user
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    with parallel_config(backend="loky", inner_max_num_threads=1):
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(_perform)(t) for t in tasks
        )


def run(tasks: Sequence[Task], jobs: int) -> Iterator[list[Finished]]:
    """Run the tasks; a worker that dies fails the task that killed it, and the rest goes on."""
    if jobs == 1 or len(tasks) < 2:
        yield from map(perform, tasks)
        return
    open_tasks = {task.indices: task for task in tasks}
    while open_tasks:
        try:
            for finished in _stream(list(open_tasks.values()), jobs):
                by = {f.index for f in finished}
                open_tasks = {i: t for i, t in open_tasks.items() if not by & set(i)}
                yield finished
        except TerminatedWorkerError:
            # Which task killed its worker is not known: try them alone until one does it again.
            for indices, task in list(open_tasks.items()):
                del open_tasks[indices]
                try:
                    yield next(_stream([task], 2))
                except TerminatedWorkerError as error:
                    said = "the worker process died (out of memory, or a crash in native code)"
                    yield [Finished(i, None, None, 0.0, said, str(error)) for i in sorted(task.wanted)]
                    break
