"""`fairpriv desk serve`: the desk over HTTP."""

import argparse
import contextlib
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from fairpriv import validate
from fairpriv.cli import arguments
from fairpriv.cli.printing import on_stderr
from fairpriv.desk.processes import USUAL
from fairpriv.errors import FairprivError, StoreError

IDLE = 75  # seconds that a connection may wait between queries


def main(argv: Sequence[str]) -> int:
    """Serve a desk."""
    parser = arguments.desk_parser(
        "serve",
        "Serve a desk over HTTP; GET /docs describes it. The token file has one client per line: NAME TOKEN [SHARE],\n"
        "or one line with a token alone; where there is none, it is made with a fresh token.",
    )
    add = parser.add_argument
    add("--token-file", required=True, type=Path, metavar="FILE", help="who may ask: NAME TOKEN [SHARE OF THE BUDGET]")
    add("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1, this machine only)")
    add("--port", type=int, default=8600, help="default: 8600")
    add("--max-rows", type=int, default=10_000, metavar="N", help="models a query may ask about (default: 10000)")
    add("--max-body", type=int, default=64, metavar="MIB", help="the longest body, in MiB (default: 64)")
    add("--workers", type=int, default=USUAL, metavar="N", help=f"processes that serve (default: {USUAL})")
    add("--unsafe-exact", action="store_true", help="tests only: answer defense none exactly; nothing is protected")
    args = parser.parse_args(argv)
    try:
        import uvicorn

        from fairpriv.desk.service import make_app
    except ImportError as error:
        raise FairprivError(f"the desk's service needs {error.name}: pip install 'fairpriv[desk]'") from error
    from fairpriv.desk import ledger, processes, state
    from fairpriv.desk.clients import read_clients
    from fairpriv.desk.private import PrivateDesk

    validate.integer("port", args.port, at_least=0, at_most=65535)
    for name in ("max_rows", "max_body", "workers"):
        validate.integer(name.replace("_", "-"), getattr(args, name), at_least=1)
    clients = read_clients(_token_file(args.token_file))
    with contextlib.closing(state.connect(args.state)) as db:
        people = state.declaration(db).people
        if faults := ledger.verify(db).faults:
            raise StoreError(
                f"{args.state}: the ledger is not as it was written, and is not served: {faults[0]}; `fairpriv desk "
                f"ledger --state {args.state} --verify` lists all"
            )
    lines = processes.listen(args.host, args.port, args.workers)
    _warn(args, clients.guessable)
    on_stderr(
        f"desk of {people} people, clients {', '.join(clients.names)}: http://{args.host}:{lines[0].getsockname()[1]}/docs"
    )

    def work(line: socket.socket) -> None:
        app = make_app(PrivateDesk(args.state, args.max_rows, args.unsafe_exact), clients, args.max_body * 2**20)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=IDLE)).run([line])

    processes.run(lines, work)
    return 0


def _token_file(path: Path) -> Path:
    """Return the token file, made with a fresh token where there is none."""
    from fairpriv.desk.clients import make_token_file

    if not path.exists():
        make_token_file(path)
        on_stderr(f"{path}: a fresh token")
    return path


def _warn(args: argparse.Namespace, guessable: Sequence[str]) -> None:
    """Say what is not safe."""
    for path in (args.token_file, args.state):
        if os.name == "posix" and path.stat().st_mode & 0o077:
            on_stderr(f"warning: {path} can be opened by others on this machine: chmod 600 {path}")
    for name in guessable:
        on_stderr(f"warning: the token of {name} is short enough to be guessed")
    if args.host not in ("127.0.0.1", "::1", "localhost"):
        on_stderr(
            f"warning: {args.host} is reached from other machines, and tokens travel as they are: put TLS before it"
        )
    if args.unsafe_exact:
        on_stderr("WARNING: --unsafe-exact: exact answers are given, NOTHING IS PROTECTED")
