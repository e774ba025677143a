"""`fairpriv adopt`: outdated cells kept over a change that keeps them."""

from collections.abc import Sequence
from pathlib import Path

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import on_stderr


def main(argv: Sequence[str]) -> int:
    """Stamp outdated cells anew after a change that keeps them."""
    parser = arguments.parser(
        "adopt",
        "After a change of code that should keep results: compute at least one outdated cell of every combination of\n"
        "plug-ins again, and where all come out equal, stamp the outdated cells with the present code and log it. One\n"
        "that differs refuses the folder (exit code 1) and is named.",
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only")
    parser.add_argument("--reason", required=True, help="what changed and why it keeps results; it is logged")
    parser.add_argument("--each", type=int, default=1, metavar="N", help="cells to check per combination (default: 1)")
    parser.add_argument("--jobs", type=int, metavar="N", help="workers (default: one per core)")
    arguments.results_dir(parser)
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.adopt import adopt

    silent = (lambda _: None) if args.json else on_stderr
    done = adopt(Path(args.results_dir), args.experiment, args.reason, silent, args.jobs, args.each)
    rows = [{"folder": str(d.folder), "adopted": d.cells, "checked": len(d.checked), "left": d.left} for d in done]
    if args.json:
        print(strict_json.dumps(rows))
    else:
        for row in rows:
            print(f"{row['folder']}: {row['adopted']} cells adopted, {row['checked']} of them computed again and equal")
    return 0
