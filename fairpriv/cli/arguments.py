"""What the commands' parsers have in common."""

import argparse
from pathlib import Path
from typing import Any


def parser(command: str, text: str, **more: Any) -> argparse.ArgumentParser:
    """Return the parser of a command; `text` is shown as it stands."""
    return argparse.ArgumentParser(
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
