"""engine=dask: a dask cluster, given by engine.address or started here."""

from collections.abc import Iterator, Sequence

from distributed import Client, LocalCluster, as_completed

from fairpriv.runner import pin
from fairpriv.runner.engines.local import run as run_here
from fairpriv.runner.work import Finished, Task, failed, perform, said


def perform_pinned(task: Task) -> list[Finished]:
    """Run a task in a worker of dask: one that was not started pinned has it run by a process that is."""
    return perform(task) if pin.state() == pin.variables()["FAIRPRIV_PIN"] else next(run_here([task], 1))


def run(tasks: Sequence[Task], jobs: int, address: str | None = None) -> Iterator[list[Finished]]:
    """Run the tasks on the cluster; results come as they finish."""
    if address is None:
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            protocol="tcp://",
            silence_logs=50,
            env=pin.variables(),
        )
        client = Client(cluster)
    else:
        cluster, client = None, Client(address, timeout="10s")
    try:
        futures = {client.submit(perform_pinned, task, pure=False, retries=1): task for task in tasks}
        for future in as_completed(futures):
            if future.status == "finished":
                yield future.result()
            else:
                error = future.exception()
                yield failed(futures[future], said(error), repr(error))
            future.release()
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
