"""`fairpriv desk init|serve|ledger`: one file per verb."""

import importlib
from collections.abc import Sequence

from fairpriv.errors import unknown

ACTIONS = ("init", "serve", "ledger")
HELP = """\
A compliance desk: it keeps the protected attribute, answers how biased models are, and stays within its budget.

  fairpriv desk init --data people.csv --label hired --protected sex --epsilon 5 --state desk.sqlite
  fairpriv desk serve --state desk.sqlite --port 8600 --token-file tokens.txt
  fairpriv desk ledger --state desk.sqlite [--verify]

Each has --help.
"""


def main(argv: Sequence[str]) -> int:
    """Make, serve or read a compliance desk."""
    if not argv or argv[0] in ("-h", "--help"):
        print(HELP, end="")
        return 0 if argv else 2
    if argv[0] not in ACTIONS:
        raise unknown("desk command", argv[0], ACTIONS)
    code: int = importlib.import_module(f"fairpriv.cli.desk.{argv[0]}").main(argv[1:])
    return code
