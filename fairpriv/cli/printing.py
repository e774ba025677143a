"""How the commands print."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any


def print_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Print rows as aligned text."""
    cells = [[str(row.get(c, "")) for c in columns] for row in rows]
    widths = [max(len(c), *(len(r[i]) for r in cells)) if cells else len(c) for i, c in enumerate(columns)]
    for line in ([[*columns]] if rows else []) + cells:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def on_stderr(text: str) -> None:
    """Print a line of progress, apart from the output."""
    print(text, file=sys.stderr, flush=True)
