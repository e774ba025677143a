"""`fairpriv report`: results against the papers."""

from collections.abc import Sequence
from pathlib import Path

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import on_stderr


def main(argv: Sequence[str]) -> int:
    """Write the report."""
    parser = arguments.parser(
        "report",
        "Write results/report.html: tables and figures beside the paper's numbers, with verdicts, in one file that\n"
        "can be mailed; and results/REPORT.md, the same for a terminal or a forge.",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit 1 if anything differs or was not run for a cause that is open"
    )
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    arguments.results_dir(parser)
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.report import make_report

    made = make_report(Path(args.results_dir))
    if args.json:
        papers = {key: vars(counts) for key, counts in made.papers.items()}
        print(strict_json.dumps({"path": str(made.path), **vars(made.total), "papers": papers, "open": made.open}))
    else:
        print(f"{made.path}: {made.total}")
        for key, counts in made.papers.items():
            print(f"  {key}: {counts}")
        if args.strict:
            _say_open(made.open)
    if args.open:
        _open(made.path)
    return 1 if args.strict and made.open else 0


def _open(path: Path) -> None:
    """Show the report in the browser; where there is none, say where it is."""
    import webbrowser

    if not webbrowser.open(path.resolve().as_uri()):
        on_stderr(f"no browser here: open {path.resolve()}")


def _say_open(rows: Sequence[str], most: int = 20) -> None:
    """Print what is open, one line each, and how much more there is."""
    for row in rows[:most]:
        print(f"  open: {row}")
    if len(rows) > most:
        print(f"  and {len(rows) - most} more: tables/verdicts.csv, cause open")
