"""What the commands' parsers have in common."""

import argparse
from pathlib import Path
from typing import Any, NoReturn

from fairpriv.errors import BadRequest, unknown


class _Parser(argparse.ArgumentParser):
    """Refuses in one line, as everything else does, and names the options there are."""

    def error(self, message: str) -> NoReturn:
        """Refuse the request."""
        what, _, word = message.partition(": ")
        if what == "unrecognized arguments" and word.startswith("-"):
            raise unknown(f"option of {self.prog}", word.split()[0], self._option_string_actions)
        raise BadRequest(f"{self.prog.removeprefix('fairpriv ')}: {message}; `{self.prog} --help` says more")


def parser(command: str, text: str, **more: Any) -> argparse.ArgumentParser:
    """Return the parser of a command; `text` is shown as it stands."""
    return _Parser(
        prog=f"fairpriv {command}",
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        **more,
    )


def results_dir(parser: argparse.ArgumentParser) -> None:
    """Add --results-dir."""
    parser.add_argument("--results-dir", default="results", metavar="PATH", help="where results are (default: results)")


def as_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument(
        "--json",
        action="store_true",
        help='print strict JSON and nothing else (infinity is "inf", not a number is null)',
    )


def desk_parser(command: str, text: str) -> argparse.ArgumentParser:
    """Return the parser of a desk's verb: each needs the state file."""
    made = parser(f"desk {command}", text)
    made.add_argument("--state", required=True, type=Path, metavar="FILE", help="the desk's SQLite file")
    return made
