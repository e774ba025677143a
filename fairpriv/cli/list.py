"""`fairpriv list`: what there is."""

from collections.abc import Sequence

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import print_table
from fairpriv.errors import unknown
from fairpriv.listing import LISTS


def main(argv: Sequence[str]) -> int:
    """List what there is."""
    parser = arguments.parser("list", "List what there is, with the paper it comes from.")
    parser.add_argument("kind", nargs="?", metavar="|".join(LISTS), help="one kind only")
    arguments.as_json(parser)
    args = parser.parse_args(argv)
    if args.kind is not None and args.kind not in LISTS:
        raise unknown("kind", args.kind, LISTS)
    found = {kind: LISTS[kind]() for kind in ([args.kind] if args.kind else LISTS)}
    if args.json:
        print(strict_json.dumps(found if args.kind is None else found[args.kind]))
        return 0
    for kind, rows in found.items():
        if args.kind is None:
            print(f"\n{kind}")
        print_table(rows, ["name", "paper", "about"])
    return 0
