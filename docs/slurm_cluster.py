"""Start dask workers as SLURM jobs and keep the scheduler here until this is interrupted."""

import shlex
import signal
import sys

import dask
from dask_jobqueue import SLURMCluster

from fairpriv.runner import pin


def main() -> None:
    """Ask for workers, print the address that `engine.address=` takes, and wait."""
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    prologue = dask.config.get("jobqueue.slurm.job-script-prologue") or []  # ~/.config/dask/jobqueue.yaml
    pinned = [f"export {name}={shlex.quote(value)}" for name, value in pin.variables().items()]
    with SLURMCluster(job_script_prologue=[*prologue, *pinned]) as cluster:
        cluster.adapt(minimum=0, maximum=workers)  # jobs are asked for while there is work
        print(cluster.scheduler_address, flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
