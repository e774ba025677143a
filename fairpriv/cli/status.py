"""`fairpriv status`: what is done and what is not."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import print_table


def main(argv: Sequence[str]) -> int:
    """Show finished and failed cells."""
    parser = arguments.parser(
        "status", "Finished, failed and open cells of every experiment in results; tracebacks of the failed ones."
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only")
    arguments.results_dir(parser)
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.status import status_rows

    rows = status_rows(Path(args.results_dir), args.experiment)
    if args.json:
        print(strict_json.dumps(rows))
        return 0
    print_table(
        rows,
        ["experiment", "cells", "done", "outdated", "failed", "not run", "open", "compute", "to go", "finished"],
    )
    for row in rows:
        _say(row)
    return 0


def _say(row: Mapping[str, Any]) -> None:
    """Print what a line of the table has no room for: notices, reasons, tracebacks."""
    for notice in row["notices"]:
        print(f"\n{notice}")
    for why, number in row["why_outdated"].items():
        print(f"\n{row['experiment']}: {number} cells outdated\n  {why}")
    for why, number in row["why_not"].items():
        print(f"\n{row['experiment']}: {number} cells not run\n  {why}")
    for failure in row["failures"]:
        print(f"\n{row['experiment']} {failure['cell']}\n  {failure['at']}  {failure['error']}")
        print(failure["traceback"])
    for part, trace in row["faults"].items():
        print(f"\n{row['experiment']}: {part} could not be drawn\n{trace}")
