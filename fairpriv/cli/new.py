"""`fairpriv new`: a package of one's own with a plug-in that works."""

import os
from collections.abc import Sequence
from pathlib import Path

from fairpriv import skeletons
from fairpriv.cli import arguments


def main(argv: Sequence[str]) -> int:
    """Write a skeleton."""
    parser = arguments.parser(
        "new",
        "Write a package of your own with a plug-in that works, its entry point and its test: change it to yours.\n\n"
        "examples:\n  fairpriv new attack guess\n  fairpriv new paper somebody2026 --into ~/papers",
    )
    parser.add_argument("kind", metavar="|".join(skeletons.KINDS), help="what it is")
    parser.add_argument("name", help="how it is called: small letters, digits and _")
    parser.add_argument("--into", default=".", metavar="DIR", type=Path, help="where its folder goes (default: here)")
    args = parser.parse_args(argv)
    made = skeletons.write(args.kind, args.name, args.into)
    home = Path(os.path.commonpath(made))
    for path in made:
        print(path)
    print(f"\nnext: cd {home} && pip install -e . && pytest")
    return 0
