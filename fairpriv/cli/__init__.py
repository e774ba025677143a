"""The command line: one file per command, imported when it is asked for. Nothing else knows about argv.

Importing a command binds its name in this package (`fairpriv.cli.list`): no builtin called like one is used here.
"""

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from fairpriv import __version__
from fairpriv.errors import FairprivError, unknown

# command: what it is for, an example. `fairpriv NAME ...` calls `main` of fairpriv/cli/NAME.py.
COMMANDS = {
    "run": ("run an experiment", "experiment=attribute_conceal"),
    "list": ("what there is", "[experiments|papers|datasets|attacks|...]"),
    "show": ("one thing, whole", "conceal"),
    "data": ("the data files", "list | fetch [NAME...|all] | verify"),
    "status": ("what is done and what not", "[EXPERIMENT]"),
    "reproduce": ("all from nothing, compared", "[--profile quick]"),
    "verify": ("compute a sample again", "[EXPERIMENT] [--sample 30]"),
    "adopt": ("keep cells over a change", '[EXPERIMENT] --reason "moved a helper"'),
    "render": ("redraw from what is there", "[EXPERIMENT] [--force]"),
    "report": ("results against the papers", "[--open] [--strict]"),
    "audit": ("what a defense really pays", "defense=conceal epsilon=1"),
    "assess": ("what your table reveals", "people.csv label=hired protected=sex"),
    "desk": ("answers within a budget", "init | serve | ledger"),
    "new": ("a plug-in of your own", "attack|defense|dataset|paper NAME"),
    "completion": ("for your shell", "bash|zsh|fish"),
    "doctor": ("is this machine ready", ""),
}

HELP = """\
usage: fairpriv COMMAND ...

The reference bench for fairness and privacy: run an experiment, get tables and figures beside the paper's own numbers.

{commands}

Each has --help with examples. Exit codes: 0 done, 1 some cells failed (the rest are kept), 2 the request was wrong,
130 interrupted (the same command resumes).
"""


def _help() -> str:
    lines = [f"  {name:10} {about:27} fairpriv {name} {example}" for name, (about, example) in COMMANDS.items()]
    return HELP.format(commands="\n".join(line.rstrip() for line in lines))


def _run(command: str, words: Sequence[str]) -> int:
    if command not in COMMANDS:
        raise unknown("command", command, COMMANDS)
    code: int = importlib.import_module(f"fairpriv.cli.{command}").main(words)
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = sys.argv[1:] if argv is None else [*argv]
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help(), end="")
        return 0 if words else 2
    if words[0] in ("-V", "--version"):
        print(f"fairpriv {__version__}")
        return 0
    try:
        return _run(words[0], words[1:])
    except FairprivError as error:
        print(f"fairpriv: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as stop:
        from fairpriv.runner.signals import exit_code_of

        print("fairpriv: interrupted: the same command resumes", file=sys.stderr)
        return exit_code_of(stop)
    except BrokenPipeError:  # | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # only a request has such a name
            raise
        print(f"fairpriv: {error.strerror}: {error.filename}", file=sys.stderr)
        return 2
