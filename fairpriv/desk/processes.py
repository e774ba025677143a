"""Several processes that serve one port: Python runs one thread at a time, and the budget is kept by SQLite anyway."""

import os
import socket
import threading
from collections.abc import Callable

from fairpriv.errors import BadRequest

USUAL = 2 if hasattr(os, "fork") and hasattr(socket, "SO_REUSEPORT") else 1  # Windows has neither


def listen(host: str, port: int, number: int) -> list[socket.socket]:
    """Return listening sockets of one port, a process each: the system then divides connections among them."""
    lines = []
    try:
        _bound(host, port, shared=False).close()  # refused if anybody else has the port
        for _ in range(number):
            lines.append(_bound(host, port or lines[0].getsockname()[1] if lines else port, shared=number > 1))
    except (OSError, OverflowError) as error:
        raise BadRequest(f"{host}:{port} cannot be listened on: {getattr(error, 'strerror', None) or error}") from None
    for line in lines:
        line.listen(2048)
    return lines


def _bound(host: str, port: int, shared: bool) -> socket.socket:
    line = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a restart need not wait for old connections
    if shared:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        line.bind((host, port))
    except BaseException:
        line.close()
        raise
    return line


def run(lines: list[socket.socket], work: Callable[[socket.socket], None]) -> None:
    """Serve the first socket here and each other in a process of its own, which ends when this one does, in any way."""
    reading, writing = os.pipe()
    children = []
    for line in lines[1:]:
        child = os.fork()
        if child == 0:
            os.close(writing)
            for other in lines:
                if other is not line:
                    other.close()
            threading.Thread(target=_end_with, args=(reading,), daemon=True).start()
            try:
                work(line)
            finally:
                os._exit(0)
        children.append(child)
    os.close(reading)
    for line in lines[1:]:
        line.close()  # or the system would go on giving it connections
    try:
        work(lines[0])
    finally:
        os.close(writing)
        for child in children:
            os.waitpid(child, 0)


def _end_with(pipe: int) -> None:
    """Wait until nobody holds the other end of a pipe: even kill -9 closes it. What was not sent was not lost."""
    os.read(pipe, 1)
    os._exit(0)
