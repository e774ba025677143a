"""`fairpriv desk init|serve|ledger`."""

import argparse
import contextlib
import json
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fairpriv import validate
from fairpriv.desk.processes import USUAL
from fairpriv.errors import BadRequest, FairprivError, unknown

IDLE = 75  # seconds that a connection may wait between queries
HELP = """\
A compliance desk: it keeps the protected attribute, answers how biased models are, and stays within its budget.

  fairpriv desk init --data people.csv --label hired --protected sex --epsilon 5 --state desk.sqlite
  fairpriv desk serve --state desk.sqlite --port 8600 --token-file tokens.txt
  fairpriv desk ledger --state desk.sqlite [--verify]

Each has --help.
"""


def _parser(command: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"fairpriv desk {command}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--state", required=True, type=Path, metavar="FILE", help="the desk's SQLite file")
    return parser


def desk(argv: Sequence[str]) -> int:
    """Make, serve or read a compliance desk."""
    if not argv or argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0 if argv else 2
    if argv[0] not in ACTIONS:
        raise unknown("desk command", argv[0], ACTIONS)
    return ACTIONS[argv[0]](argv[1:])


def init(argv: Sequence[str]) -> int:
    """Make a desk."""
    parser = _parser(
        "init",
        "Make the state file of a desk. What is declared here is public, fixed for good, and shown by /v1/schema.\n\n"
        "--sizes secret (default): the protected attribute of any one person is protected, and group sizes stay here.\n"
        "--sizes public: group sizes are told, and which of two people is in which group is protected; an answer that\n"
        "was made for the former then costs twice its epsilon, and conceal_aware may be asked.",
    )
    add = parser.add_argument
    add("--data", required=True, metavar="CSV", help="one row a person; predictions come in the same order")
    add("--label", required=True, help="column of the true outcome; two values")
    add("--protected", required=True, help="column of the protected attribute")
    add("--epsilon", required=True, type=float, help="the budget of all answers together")
    add("--delta", type=float, default=0.0, help="with one, gaussian may be asked and costs compose tighter")
    add("--positive", help="the favourable value of the label (default: 1 of 0/1, true of false/true)")
    add(
        "--privileged",
        nargs="+",
        help="value(s) of group 1 (default: the later of two in the alphabet, not the larger)",
    )
    add("--sizes", default="secret", help="secret or public (default: secret)")
    add("--metrics", nargs="+", help="what may be asked (default: all)")
    add("--minority-share", type=float, default=0.1, help="declared share of the smaller group (default: 0.1)")
    args = parser.parse_args(argv)

    from fairpriv.desk import state
    from fairpriv.metrics.gaps import GAPS

    label, group, privileged = _people(args)
    declared = state.Declaration(
        people=len(label),
        positives=int(label.sum()),
        label=args.label,
        protected=args.protected,
        privileged=privileged,
        metrics=tuple(args.metrics or GAPS),
        epsilon=args.epsilon,
        delta=args.delta,
        sizes=args.sizes,
        minority_share=args.minority_share,
        group_sizes=state.public_sizes(label, group) if args.sizes == "public" else None,
    )
    state.create(args.state, declared, label, group)
    print(
        f"{args.state}: {len(label)} people, epsilon {args.epsilon:g}, delta {args.delta:g}, group sizes {args.sizes}; "
        f"it holds the protected attribute, keep it as safe as {args.data}"
    )
    return 0


def _people(args: argparse.Namespace) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return labels, groups, and the values of group 1.

    Which of two values that is must not follow from the data: where groups are nearly equal, one person would turn the
    sign of every answer. So it is the later in the alphabet.
    """
    from fairpriv.datasets.csv import Csv

    try:
        loader = Csv(
            path=args.data,
            label=args.label,
            protected=args.protected,
            positive=args.positive,
            privileged=args.privileged,
        )
        label, column = loader.label_and_protected()
        values = [str(value) for value in column.cat.categories]
        if loader.privileged is None and len(values) == 2:
            loader = replace(loader, privileged=(values[1],))
        group = loader.group(column)
    except BadRequest as error:  # the loader speaks of an experiment's options
        raise BadRequest(str(error).replace("dataset.", "--")) from error
    return np.asarray(label, dtype=np.int8), group.astype(np.int8), loader.privileged


def serve(argv: Sequence[str]) -> int:
    """Serve a desk."""
    parser = _parser(
        "serve",
        "Serve a desk over HTTP; GET /docs describes it. The token file has one client a line, NAME TOKEN [SHARE], or\n"
        "one line with a token alone; where there is none, it is made with a fresh token.",
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
    from fairpriv.desk import processes, state
    from fairpriv.desk.clients import read_clients
    from fairpriv.desk.private import PrivateDesk

    validate.integer("port", args.port, at_least=0, at_most=65535)
    for name in ("max_rows", "max_body", "workers"):
        validate.integer(name.replace("_", "-"), getattr(args, name), at_least=1)
    clients = read_clients(_token_file(args.token_file))
    with contextlib.closing(state.connect(args.state)) as db:
        people = state.declaration(db).people
    lines = processes.listen(args.host, args.port, args.workers)
    _warn(args, clients.guessable)
    _say(
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
        _say(f"{path}: a fresh token")
    return path


def _warn(args: argparse.Namespace, guessable: Sequence[str]) -> None:
    """Say what is not safe."""
    for name in guessable:
        _say(f"warning: the token of {name} is short enough to be guessed")
    if args.host not in ("127.0.0.1", "::1", "localhost"):
        _say(f"warning: {args.host} is reached from other machines, and tokens travel as they are: put TLS before it")
    if args.unsafe_exact:
        _say("WARNING: --unsafe-exact: exact answers are given, NOTHING IS PROTECTED")


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def ledger(argv: Sequence[str]) -> int:
    """Read or check a ledger."""
    parser = _parser("ledger", "Show what was paid for, or check that nothing in the ledger was changed or is missing.")
    parser.add_argument("--verify", action="store_true", help="check hashes, chain, sums and budget; exit 1 if wrong")
    parser.add_argument("--head", metavar="HASH", help="with --verify: a hash noted earlier that must be in the chain")
    parser.add_argument("--json", action="store_true", help="print JSON for a program and nothing else")
    args = parser.parse_args(argv)

    from fairpriv.desk import ledger as book
    from fairpriv.desk import state
    from fairpriv.desk.costs import UNIT

    db = state.connect(args.state)
    if args.verify or args.head:
        found = book.verify(db, args.head)
        if args.json:
            print(json.dumps({"rows": found.rows, "head": found.head, "faults": found.faults}))
        else:
            print(f"{args.state}: {found.rows} rows, head {found.head}: " + ("BROKEN" if found.faults else "whole"))
            print("".join(f"  {fault}\n" for fault in found.faults), end="")
        return 1 if found.faults else 0
    rows = [book.shown(row, answers=True) for row in book.entries(db)]
    declared = state.declaration(db)
    if args.json:
        print(json.dumps({"entries": rows, "protects": state.PROTECTS[declared.sizes]}))
        return 0
    for row in rows:
        cost = "exact" if row["exact"] else f"{row['cost']:g}"
        print(
            f"{row['seq']:>6}  {row['time']}  {row['client']}  {row['metric']}  {row['defense']}  {row['rows']}  {cost}"
        )
    left = max(0, declared.budget.left(*book.spent(db, book.WHOLE))) / UNIT
    print(
        f"{len(rows)} answers, {left:g} of epsilon {declared.epsilon:g} left; protects {state.PROTECTS[declared.sizes]}"
    )
    return 0


ACTIONS = {"init": init, "serve": serve, "ledger": ledger}
