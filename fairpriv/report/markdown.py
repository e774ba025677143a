"""The report as REPORT.md, for a terminal or a forge: the same numbers, pictures by link."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

import pandas as pd

from fairpriv.report.collect import Found
from fairpriv.report.counts import VERDICTS, by_paper, count
from fairpriv.report.page import compute, names
from fairpriv.report.page.overview import causes_of, lead
from fairpriv.report.page.tables import numbers, reason, settings
from fairpriv.report.papers import Paper, Table

_MARKS = {"reproduced": "x"}  # of a checklist: ticked or not


def _text(value: object) -> str:
    """Return a value that breaks no table."""
    return str(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ").strip()


def _grid(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    rule = ["--:" if i in right else "---" for i in range(len(heads))]
    lines = [heads, rule, *([_text(v) for v in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def _split(verdicts: pd.DataFrame) -> list[str]:
    rows = []
    for key, counts in by_paper(verdicts).items():
        causes = {v: causes_of(counts, v) for v in VERDICTS}
        rows.append([key, *(f"{n} ({causes[v]})" if causes[v] else str(n) for v, n in counts.tally.items())])
    return _grid(["paper", *VERDICTS], rows, range(1, 4))


def _table(table: Table, verdicts: pd.DataFrame) -> list[str]:
    rows = verdicts[verdicts["table"] == table.name]
    varying, fixed = settings(table)
    lines, notes = [], {}
    for printed, row, said in zip(table.numbers, rows.itertuples(), numbers(table.numbers, rows), strict=True):
        paper, spread, ours, half = (text.strip() for text in said)
        note = f" [{notes.setdefault(reason(row), len(notes) + 1)}]" if reason(row) else ""
        verdict = row.verdict + (f" ({row.cause})" if row.cause else "") + note
        if row.by_construction:
            verdict = f"{row.verdict}, by construction"
        where = [printed.where, names.metric(printed.metric)]
        where += [names.value(printed.selectors.get(c, "")) for c in varying]
        paper, ours = (a + (f" ± {b}" if b else "") for a, b in ((paper, spread), (ours, half)))
        lines.append([*where, paper, ours, str(row.seeds), verdict])
    heads = ["where", "quantity", *map(names.column, varying), "paper", "ours", "seeds", "verdict"]
    drop = 0 if rows["where"].ne("").any() else 1
    right = range(len(heads) - 4 - drop, len(heads) - 1 - drop)
    said = "; ".join(f"{names.column(c)}: {names.value(v)}" for c, v in fixed.items())
    return [
        f"#### {_text(table.title)}",
        f"{count(rows)}." + (f" Everywhere {_text(said)}." if said else ""),
        "\n".join(_grid(heads[drop:], (line[drop:] for line in lines), right)),
        "\n".join(f"{number}. {_text(text)}" for text, number in notes.items()),
    ]


def _claims(verdicts: pd.DataFrame) -> list[str]:
    lines = []
    for row in verdicts[verdicts["kind"] == "claim"].itertuples():
        cause = f", {row.cause}" if row.cause else ""
        why = " ".join(filter(None, (names.spelled(row.detail), reason(row))))
        mark = _MARKS.get(row.verdict, " ")
        lines.append(
            f"- [{mark}] {_text(row.rule)} ({_text(row.where)}): **{row.verdict}{cause}**. {_text(why)}".strip()
        )
    return ["#### Claims", "\n".join(lines)] if lines else []


def _figures(name: str, found: Found, root: Path) -> list[str]:
    run = found.runs.get(name)
    paths = sorted((run.folder / "figures").glob("*.png"), key=lambda p: names.natural(p.stem)) if run else []
    links = (f"- [{p.stem}]({quote(p.relative_to(root).as_posix())}): {names.caption(name, p.stem)}" for p in paths)
    return ["#### Figures", "\n".join(links)] if paths else []


def _paper(paper: Paper, found: Found, judged: pd.DataFrame, root: Path) -> list[str]:
    verdicts = judged[judged["paper"] == paper.key]
    parts = [f"## {paper.key}: {_text(paper.citation['title'])}", f"{count(verdicts)}.", *_claims(verdicts)]
    for name in paper.experiments:
        parts.append(f"### `{name}`")
        for table in paper.tables:
            parts += _table(table, verdicts) if table.experiment == name else []
        parts += _figures(name, found, root)
    return parts


def _plainly(paper: Paper) -> str:
    """Return what a paper asks, and what came out, in everyday words."""
    said = {name: _text(text) for name, text in paper.plainly.items()}
    if not said:
        return ""
    asks = f"**{paper.key}**, {_text(paper.citation['title'])}: {said['asks']}"
    return f"{asks} *Came out:* {said['came_out']} *Did not:* {said['did_not']}"


def markdown(found: Found, root: Path) -> str:
    """Return the report as Markdown; links are relative to `root`, the results folder."""
    judged = found.judged
    of_papers = {name for paper in found.papers for name in paper.experiments}
    parts = ["# Results against the papers"]
    if len(judged):
        parts.append(lead(count(judged)))
    words = [text for paper in found.papers if (text := _plainly(paper))]
    parts += ["## In plain words", *words] if words else []
    if len(judged):
        parts += ["## By paper", f"{count(judged)}.", "\n".join(_split(judged))]
    parts += ["`report.html` has the same with filters, and the rule by which a verdict is reached."]
    for paper in found.papers:
        parts += _paper(paper, found, judged, root)
    for name in sorted(set(found.runs) - of_papers):
        tables = sorted((found.runs[name].folder / "tables").glob("*.csv"))
        links = "\n".join(f"- [{p.stem}.csv]({quote(p.relative_to(root).as_posix())})" for p in tables)
        parts += [f"## `{_text(name)}`", links, *_figures(name, found, root)]
    if found.runs:
        parts += ["## Compute time", "\n".join(_grid(compute.HEADS, compute.rows(found), range(2, 6)))]
    return "\n\n".join(part for part in parts if part) + "\n"
