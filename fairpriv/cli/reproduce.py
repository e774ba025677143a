"""`fairpriv reproduce`: everything from nothing, then held against the committed results."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fairpriv import strict_json
from fairpriv.cli import arguments

if TYPE_CHECKING:
    from fairpriv.runner.against import Comparison
    from fairpriv.runner.reproduce import Reproduction

HELP = """\
Compute every experiment (or those named) from nothing into a folder of its own, write the report there, and compare
each cell with the committed results: equal byte for byte, equal within rounding, or different, and why. No committed
cell is reused. Interrupted, the same command goes on where it stopped. What needs data that cannot be had is skipped
with the reason, and so is an experiment whose file says why it is `left_out`, unless it is named. Exit code 1 if a
cell failed or differs by more than rounding.

examples:
  fairpriv reproduce                                  every experiment, profile quick, into build/reproduce
  fairpriv reproduce attribute_conceal                one of them
  fairpriv reproduce --profile smoke --into build/smoke   minutes; few of its cells are among the committed ones
"""


def main(argv: Sequence[str]) -> int:
    """Reproduce everything and compare it with what is committed."""
    parser = arguments.parser("reproduce", HELP)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help="which ones (default: all)")
    parser.add_argument("--profile", default="quick", help="smoke, quick (default) or paper")
    parser.add_argument("--into", default="build/reproduce", metavar="PATH", help="default: build/reproduce")
    parser.add_argument("--against", default="results", metavar="PATH", help="the committed results (default: results)")
    parser.add_argument("--jobs", type=int, metavar="N", help="workers (default: one per core)")
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv import config, listing
    from fairpriv.errors import unknown
    from fairpriv.runner.reproduce import reproduce
    from fairpriv.runner.signals import stopping

    config.start()
    known = config.options("experiment")
    for name in args.experiments:
        if name not in known:
            raise unknown("experiment", name, known)
    named = list(dict.fromkeys(args.experiments))
    left_out = {} if named else {name: why for name in known if (why := listing.left_out(name))}
    names = named or [name for name in known if name not in left_out]
    with stopping():
        made = reproduce(names, args.profile, Path(args.into), Path(args.against), args.jobs, args.json, left_out)
    if made.interrupted:
        again = shlex.join(["fairpriv", "reproduce", *argv])
        print(f"interrupted: the same command resumes where it stopped: {again}", file=sys.stderr)
        return made.interrupted
    if args.json:
        print(strict_json.dumps(made.summary()))
    else:
        _say(made, args.against)
    return 1 if made.failed else 0


def _say(made: "Reproduction", committed: str) -> None:
    """Print how each experiment compares, then all of them together."""
    for name, why in made.skipped.items():
        print(f"{name}: skipped: {why}")
    for name, comparison in made.comparisons.items():
        outcome = made.outcomes[name]
        faults = [(outcome.failed, "failed"), (outcome.not_run, "not run")]
        more = "".join(f", {number} {what}" for number, what in faults if number)
        print(f"{name}: {outcome.done} of {outcome.cells} cells done{more}; {comparison}")
        _say_differences(comparison)
    if made.report:
        print(f"report: {made.report}")
    compared = sum(c.compared for c in made.comparisons.values())
    equal = sum(c.equal for c in made.comparisons.values())
    print(f"against {committed}: {equal} of {compared} cells equal, byte for byte")


def _say_differences(comparison: "Comparison") -> None:
    """Print what is not equal, by reason, each with an example."""
    if comparison.with_companions:
        print(f"  {comparison.with_companions} of them together with the cells they were first computed with")
    words = {"rounding": "equal within rounding"}
    for (verdict, why), some in comparison.reasons().items():
        print(f"  {len(some)} {words.get(verdict, verdict)}: {why}\n    e.g. {some[0].cell}: {some[0].detail}")
