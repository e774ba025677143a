"""A table of a paper beside ours: one row a printed number, settings that all share said once."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from fairpriv.report.counts import count
from fairpriv.report.markup import escaped as _e
from fairpriv.report.markup import tag as _tag
from fairpriv.report.page import names
from fairpriv.report.page.numbers import aligned, rounded, significant
from fairpriv.report.papers import Printed, Table


def css_class(verdict: str) -> str:
    """Return a verdict as the name of a style."""
    return verdict.replace(" ", "-")


def chip(verdict: str, why: str = "") -> str:
    """Return a verdict as a coloured mark; `why` is shown on hovering."""
    return _tag("span", _e(verdict), class_=f"chip {css_class(verdict)}", title=why)


def verdict_of(row: Any) -> str:
    """Return a row's verdict with its cause, or why it cannot fail."""
    said = f"by construction: {row.by_construction}" if row.by_construction else row.cause
    return chip(row.verdict, row.reason or row.rule) + (f' <small class="soft">{_e(said)}</small>' if said else "")


def reason(row: Any) -> str:
    """Return why something differs, and what shows it."""
    return f"{row.reason} Shown by {row.shown_by}." if row.shown_by else row.reason


def filtered(row: Any) -> dict[str, str]:
    """Return the attributes that the filters of the page look at."""
    return {"data-verdict": row.verdict, "data-cause": row.cause, "id": row.anchor}


class Notes:
    """Reasons, each written once below the table and referred to by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def mark(self, text: str) -> str:
        """Return the reference to a reason."""
        return f" <sup>{self.numbers.setdefault(text, len(self.numbers) + 1)}</sup>" if text else ""

    def html(self) -> str:
        """Return the list of reasons."""
        items = "".join(_tag("li", _e(text)) for text in self.numbers)
        return f'<ol class="notes">{items}</ol>' if items else ""


def settings(table: Table) -> tuple[list[str], dict[str, str]]:
    """Return the columns that vary within a table, and those that do not with their one value."""
    columns = list(dict.fromkeys(c for p in table.numbers for c in p.selectors))
    values = {c: {p.selectors.get(c, "") for p in table.numbers} for c in columns}
    fixed = {c: next(iter(values[c])) for c in columns if len(values[c]) == 1}
    return [c for c in columns if c not in fixed], fixed


def _decimals(printed: Printed) -> int:
    return len(printed.text.partition(".")[2])


def numbers(printed: Sequence[Printed], rows: pd.DataFrame) -> list[tuple[str, str, str, str]]:
    """Return (paper, its spread, ours, its half width) as aligned text, ours rounded by its interval."""
    halves = ((rows["high"] - rows["low"]) / 2).astype(float)
    pairs = zip(rows["ours"].astype(float), halves, printed, strict=True)
    ours = [rounded(mean, half, _decimals(p)) for mean, half, p in pairs]
    spreads = ["" if p.spread is None else significant(p.spread * p.scale, 2) for p in printed]
    columns = [[p.text for p in printed], spreads, [a for a, _ in ours], [b for _, b in ours]]
    return list(zip(*map(aligned, columns), strict=True))


def _heads(table: Table, rows: pd.DataFrame, varying: Sequence[str]) -> list[tuple[str, str]]:
    """Return (text, style) of the head of every column."""
    heads = [("where", "text")] if rows["where"].ne("").any() else []
    heads += [("quantity", "text")] if rows["metric"].nunique() > 1 else []
    heads += [(names.column(c), "text") for c in varying]
    heads += [("paper", ""), ("±", "pm")] if rows["paper_spread"].notna().any() else [("paper", "")]
    heads += [("ours", "ours"), ("±", "pm"), ("seeds", ""), ("verdict", "text")]
    return heads + ([("other readings of ours", "text wrap")] if rows["detail"].ne("").any() else [])


def _row(printed: Printed, row: Any, said: tuple[str, ...], heads: Sequence[str], varying: Sequence[str]) -> list[str]:
    cells = [_tag("td", _e(printed.where), class_="text")] if "where" in heads else []
    cells += [_tag("td", _e(names.metric(printed.metric)), class_="text")] if "quantity" in heads else []
    cells += [_tag("td", _e(names.value(printed.selectors.get(c, ""))), class_="text") for c in varying]
    paper, spread, ours, half = map(_e, said)
    cells += [_tag("td", paper)] + ([_tag("td", spread, class_="pm")] if list(heads).count("±") == 2 else [])
    cells += [_tag("td", ours, class_="ours", title=row.rule), _tag("td", half, class_="pm")]
    return [*cells, _tag("td", str(row.seeds) if row.seeds else "–")]


def table_html(table: Table, verdicts: pd.DataFrame) -> str:
    """Return one table of the paper beside ours, collapsed, with its counts."""
    rows = verdicts[verdicts["table"] == table.name]
    varying, fixed = settings(table)
    heads = _heads(table, rows, varying)
    titles = [text for text, _ in heads]
    notes, body = Notes(), []
    for printed, row, said in zip(table.numbers, rows.itertuples(), numbers(table.numbers, rows), strict=True):
        cells = _row(printed, row, said, titles, varying)
        cells.append(_tag("td", verdict_of(row) + notes.mark(reason(row)), class_="text"))
        if titles[-1] != "verdict":
            other = row.detail.replace(f"{row.metric}_", "").replace("_", " ")
            cells.append(_tag("td", _e(other), class_="text soft small wrap"))
        body.append("\n" + _tag("tr", "".join(cells), **filtered(row)))
    head = "".join(_tag("th", _e(text), class_=css, scope="col") for text, css in heads)
    summary = f'<summary>{_e(table.title)} <span class="soft small">{_e(count(rows))}</span></summary>'
    said = "; ".join(f"{names.column(c)}: {names.value(v)}" for c, v in fixed.items())
    said = f'<p class="soft small">Everywhere {_e(said)}.</p>' if said else ""
    inner = f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody>"
    content = f'{said}<div class="scroll"><table class="sortable">{inner}</table></div>{notes.html()}'
    return "\n" + _tag("details", summary + content, class_="numbers", **{"data-table": _key(rows, table)})


def _key(rows: pd.DataFrame, table: Table) -> str:
    return f"{rows['paper'].iloc[0]}/{table.name}" if len(rows) else table.name
