"""`fairpriv render`: tables, figures and the report drawn again."""

from collections.abc import Sequence
from pathlib import Path

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import on_stderr


def main(argv: Sequence[str]) -> int:
    """Redraw tables, figures and the report."""
    parser = arguments.parser(
        "render",
        "Draw tables, verdicts, figures and results/report.html from the cells that are there; no cell is computed.\n"
        "Only what changed (cells, drawing code, the paper's numbers) is drawn again; --force draws everything.",
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only (and no report)")
    parser.add_argument("--force", action="store_true", help="draw what has not changed as well")
    arguments.results_dir(parser)
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.render import render

    found = render(Path(args.results_dir), args.experiment, args.force)
    if args.json:
        print(strict_json.dumps({"drawn": [str(p) for p in found.drawn], "current": [str(p) for p in found.current]}))
    else:
        print(f"{len(found.drawn)} folders drawn, {len(found.current)} up to date")
    for part, trace in found.faults.items():
        on_stderr(f"{part} could not be drawn: {trace.strip().splitlines()[-1]}")
    return 0
