"""`fairpriv verify`: a sample of the finished cells, computed again."""

from collections.abc import Sequence
from pathlib import Path

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import on_stderr


def main(argv: Sequence[str]) -> int:
    """Compute a sample of the finished cells again."""
    parser = arguments.parser(
        "verify",
        "Compute a sample of the finished cells again, every combination of plug-ins in turn, and say how many are\n"
        "equal in bytes, equal within rounding (1e-9: another processor), or different. Exit code 1 if any differs.",
    )
    parser.add_argument("experiment", nargs="?", help="one experiment only")
    parser.add_argument("--sample", type=int, default=30, metavar="N", help="how many cells (default: 30)")
    parser.add_argument(
        "--minutes", type=float, metavar="M", help="leave out what would take longer than that, by recorded times"
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed, another sample (default: 0)")
    parser.add_argument("--jobs", type=int, metavar="N", help="workers (default: one per core)")
    arguments.results_dir(parser)
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.runner.verify import verify

    silent = (lambda _: None) if args.json else on_stderr
    found = verify(Path(args.results_dir), args.experiment, args.sample, args.seed, silent, args.jobs, args.minutes)
    counts = {name: found.counts[name] for name in ("equal", "rounding", "different", "failed")}
    unequal = [{"cell": u.kept.describe(), "verdict": u.verdict, "detail": u.detail} for u in found.unequal]
    if args.json:
        print(strict_json.dumps(counts | {"not_here": dict(found.not_here), "differences": unequal}))
    else:
        words = {"equal": "equal in bytes", "rounding": "equal within rounding", "different": "different"}
        failed = [f"{counts['failed']} failed"] if counts["failed"] else []
        print(", ".join([*(f"{counts[name]} {text}" for name, text in words.items()), *failed]))
        for why, number in found.not_here.items():
            print(f"  {number} not computed here: {why}")
        for row in unequal:
            print(f"  {row['verdict']}: {row['cell']}\n    {row['detail']}")
    return int(counts["different"] + counts["failed"] > 0)
