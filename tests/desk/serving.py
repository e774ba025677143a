"""A desk of one's own, served by the command line as a user has it, and a client that speaks plain HTTP."""

import http.client
import json
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from fairpriv.cli import main

TOKENS = {"alice": "alice-" + "a" * 20, "bob": "bob-" + "b" * 20}


def write_people(path: Path, n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Write a table of people; return labels and groups."""
    rng = np.random.default_rng(seed)
    group, label = rng.integers(0, 2, n), rng.integers(0, 2, n)
    group[:4], label[:4] = (0, 1, 0, 1), (0, 0, 1, 1)  # nobody is missing
    rows = [f"{rng.integers(18, 70)},{'FM'[g]},{y}" for g, y in zip(group, label)]
    path.write_text("age,sex,hired\n" + "\n".join(rows) + "\n")
    return label, group


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "fairpriv", "desk", *map(str, args)]


def run(*args: object) -> subprocess.CompletedProcess:
    return subprocess.run(command(*args), capture_output=True, text=True, timeout=300)


def make_state(folder: Path, *options: object, n: int = 60, epsilon: float = 5, seed: int = 0) -> Path:
    """Make people and a desk of them."""
    write_people(folder / "people.csv", n, seed)
    columns = ("--label", "hired", "--protected", "sex")
    state = folder / "desk.sqlite"
    arguments = ("--data", folder / "people.csv", *columns, "--epsilon", epsilon, "--state", state, *options)
    assert main(["desk", "init", *map(str, arguments)]) == 0
    return state


def write_tokens(folder: Path, text: str | None = None) -> Path:
    path = folder / "tokens"
    path.write_text(text or "".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    path.chmod(0o600)
    return path


class Service:
    """A served process."""

    def __init__(self, process: subprocess.Popen, port: int) -> None:
        self.process, self.port = process, port

    def client(self, token: str | None = TOKENS["alice"]) -> "HttpClient":
        return HttpClient(self.port, token)

    def kill(self) -> None:
        self.process.kill()  # SIGKILL
        self.process.wait()


class HttpClient:
    """One connection with one token."""

    def __init__(self, port: int, token: str | None) -> None:
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __del__(self) -> None:
        self.http.close()

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, dict]:
        self.http.request(method, path, body, self.headers | headers)
        response = self.http.getresponse()
        return response.status, json.loads(response.read())

    def get(self, path: str) -> tuple[int, dict]:
        return self.send("GET", path)

    def ask(self, predictions, metric="sp", defense="laplace", epsilon=0.1, **more) -> tuple[int, dict]:
        query = {"metric": metric, "defense": defense, "epsilon": epsilon} | more
        query["predictions"] = np.asarray(predictions).tolist()
        return self.send("POST", "/v1/answers", json.dumps(query).encode())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(state: Path, tokens: Path, *options: object):
    """Serve a state file until the end of the block."""
    port = free_port()
    log = (state.parent / "log").open("a")
    arguments = ("--state", state, "--token-file", tokens, "--port", port, *options)
    process = subprocess.Popen(command("serve", *arguments), stderr=log, stdout=log)
    try:
        deadline = time.monotonic() + 120
        while True:
            assert process.poll() is None, (state.parent / "log").read_text()
            assert time.monotonic() < deadline, "the desk does not answer"
            try:
                if Service(process, port).client(None).get("/healthz")[0] == 200:
                    break
            except OSError:
                time.sleep(0.05)
        yield Service(process, port)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait()
        log.close()
