"""The desk's service: answers a second over loopback, everything durable, beside the 500 that are wanted."""

import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tests.desk.serving import TOKENS, make_state, served, write_tokens

PEOPLE, MODELS, CLIENTS = 1000, 10, 64
SIZES = (100, 300, 1000, 3000, 10_000)
WANTED, CORES = 500, 2  # answers a second, on so many
ANSWERS = 800  # measured at a time


def _requests(number: int, defense: str, scores: bool, rng: np.random.Generator, people: int = PEOPLE) -> list[bytes]:
    """Return whole requests, all different: made beforehand, as it is the service that is measured."""
    h = rng.random((MODELS, people))
    rows = json.dumps((h if scores else (h > 0.5).astype(int)).tolist())[3:]
    found = []
    for i in range(number):
        first = f'{{"metric": "sp", "defense": "{defense}", "epsilon": 0.001, "predictions": [[{i / number:.6f}'
        body = (first + rows[rows.index(",") :] + "}").encode()
        head = f"POST /v1/answers HTTP/1.1\r\nHost: desk\r\nAuthorization: Bearer {TOKENS['alice']}\r\n"
        found.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return found


def _more(line: socket.socket) -> bytes:
    got = line.recv(65536)
    if not got:
        raise ConnectionError("the desk hung up")
    return got


def _talk(port: int, requests: list[bytes], statuses: list[bytes]) -> None:
    """Send requests one after the other over one connection."""
    with socket.create_connection(("127.0.0.1", port)) as line:
        for request in requests:
            line.sendall(request)
            got = b""
            while b"\r\n\r\n" not in got:
                got += _more(line)
            head, _, body = got.partition(b"\r\n\r\n")
            length = int(next(h for h in head.lower().split(b"\r\n") if h.startswith(b"content-length")).split(b":")[1])
            while len(body) < length:
                body += _more(line)
            statuses.append(head.split(b" ")[1])


def _processor_seconds(pid: int) -> float:
    """Return what a process and the children it has now took of the processor, and this one, which holds the clients.

    NaN where the system does not tell.
    """
    try:
        stats = [p.read_text().rpartition(") ")[2].split() for p in Path("/proc").glob("[0-9]*/stat")]
        own = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return float("nan")
    ticks = sum(int(s[11]) + int(s[12]) for s in [own, *(s for s in stats if s[1] == str(pid))])
    return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


def _rate(port: int, requests: list[bytes]) -> float:
    statuses: list[bytes] = []
    parts = [requests[i::CLIENTS] for i in range(CLIENTS)]
    threads = [threading.Thread(target=_talk, args=(port, part, statuses)) for part in parts]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    assert statuses == [b"200"] * len(requests), set(statuses)
    return len(requests) / seconds


def bench() -> list[tuple[str, float, float, float, str]]:
    """Ask about m = 10 models of n = 1,000 people: decisions and scores, by two defenses.

    Other work on the machine lowers the rate; the processor time of an answer, with that of its client, tells what two
    cores of its own would do.
    """
    rng, found = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        state = make_state(folder, n=PEOPLE, epsilon=1000)
        with served(state, write_tokens(folder, f"alice {TOKENS['alice']}\n")) as service:
            for defense in ("laplace", "conceal_exact"):
                for scores in (False, True):
                    _rate(service.port, _requests(CLIENTS * 4, defense, scores, rng))
                    asked = [_requests(ANSWERS, defense, scores, rng) for _ in range(2)]
                    before = _processor_seconds(service.process.pid)
                    rate = max(_rate(service.port, requests) for requests in asked)
                    each = (_processor_seconds(service.process.pid) - before) / (len(asked) * ANSWERS)
                    what = f"desk, {defense}, {'scores' if scores else 'decisions'}"
                    note = (
                        f"{rate:.0f} answers a second ({WANTED} wanted; load of the machine {os.getloadavg()[0]:.1f}), "
                        f"{1000 * each:.2f} ms of processor each: {CORES / each:.0f} a second on {CORES} cores"
                    )
                    found.append((what, 1 / rate, 1 / WANTED, rate / WANTED, note))
    return found


def growth(sizes: Sequence[int] = SIZES, number: int = 200) -> Iterator[tuple[str, int, float]]:
    """Yield (method, people, seconds per answer) for m = 10 models, with decisions."""
    rng = np.random.default_rng(0)
    for n in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            state = make_state(folder, n=n, epsilon=1000)
            with served(state, write_tokens(folder, f"alice {TOKENS['alice']}\n")) as service:
                for defense in ("laplace", "conceal_exact"):
                    _rate(service.port, _requests(CLIENTS, defense, False, rng, n))
                    yield defense, n, 1 / _rate(service.port, _requests(number, defense, False, rng, n))
