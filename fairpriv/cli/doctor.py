"""`fairpriv doctor`: is this machine ready."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from fairpriv import strict_json
from fairpriv.cli import arguments
from fairpriv.cli.printing import print_table


def main(argv: Sequence[str]) -> int:
    """Check this machine."""
    parser = arguments.parser(
        "doctor", "Check that this machine is ready: Python, packages, engines, data, a writable results folder."
    )
    parser.add_argument(
        "--pin", action="store_true", help='print what pins a shell\'s workers to AVX2: eval "$(fairpriv doctor --pin)"'
    )
    arguments.results_dir(parser)
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    if args.pin:
        from fairpriv.runner import pin

        for name, value in pin.variables().items():
            print(f"export {name}={shlex.quote(value)}")
        return 0

    from fairpriv.runner.doctor import checkup

    rows = checkup(Path(args.results_dir))
    print(strict_json.dumps(rows)) if args.json else print_table(rows, ["check", "state", "detail"])
    return 1 if any(row["state"] == "FAIL" for row in rows) else 0
