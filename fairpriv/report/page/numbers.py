"""Numbers for the eye: rounded by their interval, aligned at the point."""

import math
from collections.abc import Sequence

FIGURE_SPACE, POINT_SPACE = "\u2007", "\u2008"  # as wide as a digit, as a point


def decimals(half: float) -> int:
    """Return how many decimals leave two digits of an interval's half width: more would be made up."""
    return max(0, 1 - math.floor(math.log10(half))) if half > 0 and math.isfinite(half) else 0


def significant(value: float, digits: int = 3) -> str:
    """Return a few significant digits, without an exponent where that stays short."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if not 1e-6 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}"
    return f"{round(value, places):.{max(0, places)}f}"


def rounded(value: float, half: float, printed: int = 3) -> tuple[str, str]:
    """Return a mean and the half width of its interval as text; `printed` decimals where there is no interval."""
    if math.isnan(value):
        return "–", ""
    if math.isnan(half):
        return f"{value:.{printed}f}", ""
    if half == 0:
        return significant(value, 4) if printed == 0 else f"{value:.{printed}f}", "0"
    places = min(decimals(half), 8)
    return f"{value:.{places}f}", f"{half:.{places}f}"


def aligned(texts: Sequence[str]) -> list[str]:
    """Pad numbers on their right so that their points stand below each other where text ends on the right."""
    tails = [len(text.partition(".")[2]) for text in texts]
    most = max(tails, default=0)
    out = []
    for text, tail in zip(texts, tails, strict=True):
        point = POINT_SPACE if most and not tail else ""
        out.append(text + point + FIGURE_SPACE * (most - tail) if any(c.isdigit() for c in text) else text)
    return out
