"""engine=local: joblib's loky processes on this machine, pinned; this process computes nothing itself."""

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait

from joblib.externals.loky.process_executor import ProcessPoolExecutor, TerminatedWorkerError

from fairpriv.runner import pin
from fairpriv.runner.work import Finished, Task, failed, perform

_IN_FLIGHT = 3  # parcels per worker: it never waits for the next one, and little is lost with a driver
_PARCEL_SECONDS = 0.05  # short tasks travel together: sending one costs some two milliseconds
_MOST_IN_PARCEL = 64


def _watch(driver: int) -> None:
    """End this worker soon after its driver: killed, it must not leave a task computing for nobody."""
    while os.getppid() == driver:
        time.sleep(0.5)
    os._exit(1)


def _start(driver: int) -> None:
    """Start the watch as soon as there is a worker; a driver that is gone already ends it at once."""
    threading.Thread(target=_watch, args=(driver,), daemon=True).start()


def _perform(tasks: Sequence[Task]) -> tuple[list[list[Finished]], float]:
    """Run a parcel until its time is up: a long task behind short ones holds back none that is finished."""
    start = time.perf_counter()
    results = []
    for task in tasks:
        results.append(perform(task))
        if time.perf_counter() - start > _PARCEL_SECONDS:
            break
    return results, time.perf_counter() - start


def _parcel_size(took: float, tasks: int) -> int:
    """Return how many tasks to send at once, by what the last parcel took."""
    return max(1, min(_MOST_IN_PARCEL, int(_PARCEL_SECONDS * tasks / max(took, 1e-9))))


def _stream(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, list[Finished]]]:
    """Run tasks on workers and give each as it finishes."""
    # loky renews a worker that has grown by 300 MB, as one does that keeps what JAX compiled: no news for the user
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    executor = ProcessPoolExecutor(jobs, env=pin.variables(), initializer=_start, initargs=(os.getpid(),))
    waiting: dict[Future[tuple[list[list[Finished]], float]], tuple[Task, ...]] = {}
    todo = deque(tasks)
    size = 1
    try:
        while True:
            while len(waiting) < _IN_FLIGHT * jobs and todo:
                parcel = tuple(todo.popleft() for _ in range(min(size, len(todo))))
                waiting[executor.submit(_perform, parcel)] = parcel
            if not waiting:
                return
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                parcel, (results, took) = waiting.pop(future), future.result()
                todo.extendleft(reversed(parcel[len(results) :]))
                size = _parcel_size(took, len(results))
                yield from zip(parcel, results)
    finally:
        executor.shutdown(wait=True, kill_workers=bool(waiting))


def run(tasks: Sequence[Task], jobs: int) -> Iterator[list[Finished]]:
    """Run the tasks; a worker that dies fails the task that killed it, and the rest goes on."""
    open_tasks = {task.indices: task for task in tasks}
    while open_tasks:
        try:
            for task, finished in _stream(list(open_tasks.values()), jobs):
                del open_tasks[task.indices]
                yield finished
        except TerminatedWorkerError:
            # Which task killed its worker is not known: try them alone until one does it again.
            for indices, task in list(open_tasks.items()):
                del open_tasks[indices]
                try:
                    yield next(_stream([task], 1))[1]
                except TerminatedWorkerError as error:
                    yield failed(task, "the worker process died (out of memory, or a crash in native code)", str(error))
                    break
