"""Every printed number against ours, as a drawing of its own: near the diagonal is near the paper."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from fairpriv.report.markup import escaped as _e
from fairpriv.report.markup import tag as _tag
from fairpriv.report.page import names
from fairpriv.report.page.numbers import significant
from fairpriv.report.page.tables import css_class

_SIZE, _LEFT, _TOP, _BOTTOM = 560, 58, 14, 46
_KNEE = 1e-3  # linear below, logarithmic above: errors of 0.0007 and 32,561 rows in one picture


def _bent(value: float) -> float:
    return math.copysign(math.log10(1 + abs(value) / _KNEE), value)


def _ticks(low: float, high: float) -> list[float]:
    sizes = [0.0, *(s * 10.0**k for s in (-1, 1) for k in range(-2, 7))]
    return sorted(t for t in sizes if low <= t <= high)


def _place(value: float, low: float, high: float) -> float:
    return (_bent(value) - _bent(low)) / (_bent(high) - _bent(low))


def _point(row: Any, x: float, y: float) -> str:
    half = "" if pd.isna(row.low) else f" ± {significant((row.high - row.low) / 2, 2)}"
    where = ", ".join(f"{names.column(k)} {names.value(v)}" for k, v in selectors(row.selectors).items())
    text = f"{row.paper}, {row.title}\n{names.metric(row.metric)} ({where})\n"
    text += f"paper {significant(row.paper_value, 4)}, ours {significant(row.ours, 4)}{half}: {row.verdict}"
    text += f" ({row.cause})" if row.cause else ""
    hollow = " made" if row.by_construction else ""
    data = f'data-paper="{_e(row.paper)}" data-verdict="{_e(row.verdict)}" data-cause="{_e(row.cause)}"'
    data += f' data-table="{_e(row.paper)}/{_e(row.table)}"'
    css = f"{css_class(row.verdict)}{hollow}"
    spot = f'class="{css}" cx="{x:.1f}" cy="{y:.1f}" r="4" data-row="{_e(row.anchor)}"'
    return f"\n<circle {spot} {data}><title>{_e(text)}</title></circle>"


def selectors(text: str) -> dict[str, str]:
    """Return the settings of a printed number from how verdicts.csv writes them."""
    return dict(part.split("=", 1) for part in text.split(", ") if "=" in part)


def scatter(verdicts: pd.DataFrame, titles: dict[tuple[str, str], str]) -> str:
    """Return the drawing; `titles` has each table's title by paper and name."""
    rows = verdicts[(verdicts["kind"] == "number") & verdicts["ours"].notna()]
    if rows.empty:
        return ""
    rows = rows.assign(title=[titles.get(key, key[1]) for key in zip(rows["paper"], rows["table"])])
    both = pd.concat([rows["paper_value"], rows["ours"]]).astype(float)
    low, high = min(0.0, both.min()), both.max()
    span = _SIZE - _LEFT - 12

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + span * _place(x, low, high), _TOP + span * (1 - _place(y, low, high))

    lines = [_line(*at(low, low), *at(high, high), "diagonal")]
    for tick in _ticks(low, high):
        (x, foot), (left, y) = at(tick, low), at(low, tick)
        lines.append(_line(x, foot, x, _TOP) + _line(left, y, _LEFT + span, y))
        lines.append(f'<text x="{x:.1f}" y="{foot + 16:.1f}" class="mid">{tick:g}</text>')
        lines.append(f'<text x="{left - 6:.1f}" y="{y + 4:.1f}" class="end">{tick:g}</text>')
    points: Iterable[str] = (_point(row, *at(row.paper_value, row.ours)) for row in rows.itertuples())
    height = _TOP + span + _BOTTOM
    labels = f'<text x="{_LEFT + span / 2:.0f}" y="{height - 8}" class="mid">in the paper</text>'
    middle = f"{_TOP + span / 2:.0f}"
    labels += f'<text x="12" y="{middle}" class="mid" transform="rotate(-90 12 {middle})">ours</text>'
    drawing = "".join(lines) + labels + f'<g class="points">{"".join(points)}\n</g>'
    box = f'viewBox="0 0 {_SIZE} {height}" role="img" aria-label="Every printed number against ours"'
    note = (
        f"{len(rows)} printed numbers against ours, by verdict; on the line they are equal. Scales are logarithmic "
        "beyond ±0.001. Hover to see which; click to go there."
    )
    return f'<figure class="scatter"><svg {box}>{drawing}</svg>' + _tag("figcaption", note) + "</figure>"


def _line(x1: float, y1: float, x2: float, y2: float, css: str = "grid") -> str:
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"></line>'
