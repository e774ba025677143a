"""engine=dask: a dask cluster, given by engine.address or started here."""

from collections.abc import Iterator, Sequence

from distributed import Client, LocalCluster, as_completed

from fairpriv.runner.work import Finished, Task, perform


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
        )
        client = Client(cluster)
    else:
        cluster, client = None, Client(address, timeout="10s")
    try:
        futures = {client.submit(perform, task, pure=False, retries=1): task for task in tasks}
        for future in as_completed(futures):
            if future.status == "finished":
                yield future.result()
            else:
                error = future.exception()
                said = f"{type(error).__name__}: {error}".splitlines()[0]
                yield [Finished(i, None, None, 0.0, said, repr(error)) for i in sorted(futures[future].wanted)]
            future.release()
    finally:
        client.close()
        if cluster is not None:
            cluster.close()
