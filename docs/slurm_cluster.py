"""Start dask workers as SLURM jobs and keep the scheduler here until this is interrupted."""

import signal
import sys

from dask_jobqueue import SLURMCluster


def main() -> None:
    """Ask for workers, print the address that `engine.address=` takes, and wait."""
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    with SLURMCluster() as cluster:  # settings: ~/.config/dask/jobqueue.yaml
        cluster.adapt(minimum=0, maximum=workers)  # jobs are asked for while there is work
        print(cluster.scheduler_address, flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
