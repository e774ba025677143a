"""`fairpriv desk ledger`: what was paid for."""

import json
from collections.abc import Sequence

from fairpriv.cli import arguments


def main(argv: Sequence[str]) -> int:
    """Read or check a ledger."""
    parser = arguments.desk_parser(
        "ledger", "Show what was paid for, or check that nothing in the ledger was changed or is missing."
    )
    parser.add_argument("--verify", action="store_true", help="check hashes, chain, sums and budget; exit 1 if wrong")
    parser.add_argument("--head", metavar="HASH", help="with --verify: a hash noted earlier that must be in the chain")
    parser.add_argument("--json", action="store_true", help="print JSON for a program and nothing else")
    args = parser.parse_args(argv)

    from fairpriv.desk import ledger as book
    from fairpriv.desk import state
    from fairpriv.desk.costs import UNIT

    db = state.connect(args.state)
    if args.verify or args.head:
        found = book.verify(db, args.head)
        if args.json:
            print(json.dumps({"rows": found.rows, "head": found.head, "faults": found.faults}))
        else:
            print(f"{args.state}: {found.rows} rows, head {found.head}: " + ("BROKEN" if found.faults else "whole"))
            print("".join(f"  {fault}\n" for fault in found.faults), end="")
        return 1 if found.faults else 0
    rows = [book.shown(row, answers=True) for row in book.entries(db)]
    declared = state.declaration(db)
    if args.json:
        print(json.dumps({"entries": rows, "protects": state.PROTECTS[declared.sizes]}))
        return 0
    for row in rows:
        cost = "exact" if row["exact"] else f"{row['cost']:g}"
        print(
            f"{row['seq']:>6}  {row['time']}  {row['client']}  {row['metric']}  {row['defense']}  {row['rows']}  {cost}"
        )
    left = max(0, declared.budget.left(*book.spent(db, book.WHOLE))) / UNIT
    print(
        f"{len(rows)} answers, {left:g} of epsilon {declared.epsilon:g} left; protects {state.PROTECTS[declared.sizes]}"
    )
    return 0
