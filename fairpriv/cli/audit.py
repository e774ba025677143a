"""`fairpriv audit`: what a mechanism really pays."""

from collections.abc import Sequence

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import print_table


def main(argv: Sequence[str]) -> int:
    """Audit a defense's claimed budget."""
    parser = arguments.parser(
        "audit",
        "Audit what a mechanism really pays, through the method that gives its outputs: the largest log-likelihood\n"
        "ratio of its law between the worst neighbours, whether outputs have that law, and a lower bound on ε from\n"
        "outputs alone (99.9 %), beside the ε it claims. Verdicts: holds, VIOLATED, unchecked.\n\n"
        "examples:\n  fairpriv audit\n  fairpriv audit defense=conceal epsilon=5 n=100 m=40",
    )
    parser.add_argument("settings", nargs="*", metavar="key=value", help="defense=NAME epsilon=1 n=100 m=10 metric=sp")
    arguments.as_json(parser)
    args = parser.parse_intermixed_args(argv)

    from fairpriv.runner.auditing import audit_rows

    rows = audit_rows(args.settings)
    if args.json:
        print(strict_json.dumps(rows))
    else:
        print_table(rows, list(rows[0]))
    return 1 if any(row["verdict"] == "VIOLATED" for row in rows) else 0
