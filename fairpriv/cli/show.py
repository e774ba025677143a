"""`fairpriv show NAME`: one thing, whole."""

from collections.abc import Sequence
from typing import Any

from fairpriv import strict_json
from fairpriv.cli import arguments


def main(argv: Sequence[str]) -> int:
    """Show one thing whole."""
    parser = arguments.parser(
        "show",
        "Show one plug-in (paper, parameters, what it does), experiment (its grid and axes), paper, profile or engine.",
    )
    parser.add_argument("name")
    arguments.as_json(parser)
    args = parser.parse_args(argv)

    from fairpriv.shown import record_of

    record = record_of(args.name)
    if args.json:
        print(strict_json.dumps(record))
        return 0
    for key, value in record.items():
        if isinstance(value, dict):
            print(f"{key}:")
            for name, one in value.items():
                print(f"  {name} = {_in_a_line(one)}")
        elif isinstance(value, list):
            print(f"{key}: {', '.join(map(str, value))}")
        else:
            print(f"{key}: {value}")
    return 0


def _in_a_line(value: Any) -> str:
    """Write a value of `show`: a list, a parameter (default, type, the values it takes, what it is), or as it is."""
    if isinstance(value, dict):
        kind = ", ".join(filter(None, (value["type"], value["takes"])))
        return f"{value['default']} ({kind})" + (f": {value['about']}" if value["about"] else "")
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
