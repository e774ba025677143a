"""Engines for real: the same sweep on local processes, on dask over TCP with a worker killed, and on ray."""

import contextlib
import os
import signal
import socket
import subprocess
import sys

import pytest

from fairpriv.cli import main
from fairpriv.runner import pin
from tests.conftest import TOY, timeless
from tests.runner.test_run import wait_for_cells

SWEEP = ("behaviour=slow", "seeds=20")
CELLS = 60


class Cluster:
    """A dask scheduler and workers of their own, as somebody would start them by hand."""

    def __init__(self, env: dict[str, str], folder) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
        self._env, self._folder = env | pin.variables(), folder
        port = self.address.rpartition(":")[2]
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")]
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "120")
        self.processes += [self._start("worker", self.address, *options) for _ in range(2)]

    def _start(self, role: str, *args: str) -> subprocess.Popen:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *args]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, env=self._env, cwd=self._folder, **quiet)

    def wait(self) -> None:
        from distributed import Client

        with Client(self.address, timeout="120s") as client:
            client.wait_for_workers(2, timeout=120)

    def working(self) -> int:
        """Return how many workers have a task under way or done."""
        from distributed import Client

        with Client(self.address, timeout="60s") as client:
            workers = client.scheduler_info(n_workers=-1)["workers"].values()
            return len(workers)

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(shell, tmp_path):
    pytest.importorskip("distributed")
    opened = Cluster(shell.env, tmp_path)
    yield opened
    opened.close()


@pytest.mark.slow  # three engines are started
def test_the_same_bytes_on_local_on_dask_with_a_worker_killed_and_on_ray(shell, cluster):
    pytest.importorskip("ray")
    shell.toy(*SWEEP, "jobs=2", "results_dir=local")
    local = timeless(shell.folder / "local/toy/behaviour=slow/cells.csv")
    assert local.count("done") == CELLS

    cluster.wait()
    words = ("run", "--conf-dir", str(TOY / "conf"), "experiment=toy", *SWEEP)
    running = shell.start(*words, "engine=dask", f"engine.address={cluster.address}", "jobs=2")
    try:
        wait_for_cells(shell.folder, 6, seconds=120)
        os.kill(cluster.processes[1].pid, signal.SIGKILL)
        out, said = running.communicate(timeout=300)
    finally:
        with contextlib.suppress(OSError):
            running.kill()
    assert running.returncode == 0, said
    assert f"{CELLS}/{CELLS} cells done (0 reused), 0 failed" in out
    assert cluster.working() == 1  # it was really gone
    assert timeless(shell.folder / "results/toy/behaviour=slow/cells.csv") == local

    shell.toy(*SWEEP, "engine=ray", "jobs=2", "results_dir=ray")
    assert timeless(shell.folder / "ray/toy/behaviour=slow/cells.csv") == local


def test_workers_of_ones_own_can_be_started_pinned(capsys):
    assert main(["doctor", "--pin"]) == 0
    said = capsys.readouterr().out
    script = f"{said}\nexec {sys.executable} -c 'import os; print(os.environ[\"FAIRPRIV_PIN\"])'"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == pin.variables()["FAIRPRIV_PIN"]


def test_pinned_workers_are_not_paid_for_twice(monkeypatch):
    """A worker that is pinned computes by itself; one that is not has a process that is do it."""
    pytest.importorskip("distributed")
    from fairpriv.runner.engines import dask

    monkeypatch.setattr(dask, "perform", lambda task: "here")
    monkeypatch.setattr(dask, "run_here", lambda tasks, jobs: iter(["elsewhere"]))
    monkeypatch.setenv("FAIRPRIV_PIN", pin.variables()["FAIRPRIV_PIN"])
    assert dask.perform_pinned(None) == "here"
    monkeypatch.delenv("FAIRPRIV_PIN")
    assert dask.perform_pinned(None) == "elsewhere"
