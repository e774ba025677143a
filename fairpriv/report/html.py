"""The report as one static page: no script, nothing from outside, every text escaped."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from fairpriv.report.collect import Found, Run
from fairpriv.report.counts import CAUSED, Counts, by_paper, count
from fairpriv.report.markup import escaped as _e
from fairpriv.report.markup import tag as _tag
from fairpriv.report.papers import Paper, Table

_MAX_ROWS = 60  # of a table shown on the page; the file has them all
_RULE = (
    "How a verdict is reached: two questions are asked of every printed number. Is ours within the table's tolerance? "
    "Is the difference more than chance (95 %: Welch's test against the printed deviation, else the prediction "
    "interval of a mean of the paper's number of runs; the rounding of the print is added)? Within, and chance: "
    "<b>reproduced</b>. Within, but more than chance: <b>close</b>. Beyond, but chance: <b>consistent</b>, too few "
    "runs, theirs or ours, to tell. Beyond, and more than chance: it <b>differs</b>. What differs or was not run has "
    "a cause: <b>paper</b> (shown impossible as printed), <b>data</b> (not to be had), <b>unprinted</b> (a setting "
    "the paper does not give; what was tried is named) or <b>open</b>. What holds by construction is labelled and not "
    "counted. “Ours” is the mean over seeds with its 95 % t interval. The tolerances stand in experiments/, the rule "
    "applied to each number in tables/verdicts.csv. Claims are checked on our own rows."
)


def _css_class(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _chip(verdict: str, reason: str = "") -> str:
    return _tag("span", _e(verdict), class_=f"chip {_css_class(verdict)}", title=reason)


def _verdict(row: Any) -> str:
    said = f"by construction: {row.by_construction}" if row.by_construction else row.cause
    return _chip(row.verdict, row.reason or row.rule) + (f' <small class="soft">{_e(said)}</small>' if said else "")


def _reason(row: Any) -> str:
    """Return why something differs, and what shows it."""
    return f"{row.reason} Shown by {row.shown_by}." if row.shown_by else row.reason


def _link(path: Path, root: Path, text: str) -> str:
    return _tag("a", _e(text), href=quote(path.relative_to(root).as_posix()))


def _plural(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _counts(counts: Counts) -> str:
    """Return the headline: a count and a bar for each verdict, with the causes of what differs or was not run."""
    items = ""
    for verdict, n in counts.tally.items():
        causes = ", ".join(f"{k} {cause}" for cause, k in counts.causes.get(verdict, {}).items() if k)
        causes = f' <small class="soft">{_e(causes)}</small>' if causes else ""
        items += _tag("li", f"<b>{n}</b>{_e(verdict)}{causes}", class_=_css_class(verdict))
    if counts.by_construction:
        items += _tag("li", f"{counts.by_construction} by construction, not counted", class_="soft small")
    bar = "".join(f'<i class="{_css_class(v)}" style="flex:{n}"></i>' for v, n in counts.tally.items() if n)
    return f'<ul class="counts">{items}</ul><div class="bar" aria-hidden="true">{bar}</div>'


def _split(papers: dict[str, Counts]) -> str:
    """Return the split by verdict and cause, a line per paper."""
    columns = [*next(iter(papers.values())).tally]
    heads = "".join(_tag("th", _e(c), class_="text" if c in CAUSED else "") for c in ("", *columns))
    body = ""
    for key, counts in papers.items():
        cells = _tag("td", f'<a href="#{quote(key)}">{_e(key)}</a>', class_="text")
        for verdict in columns:
            causes = ", ".join(f"{n} {c}" for c, n in counts.causes.get(verdict, {}).items() if n)
            soft = f' <small class="soft">({_e(causes)})</small>' if causes else ""
            cells += _tag("td", f"{counts.tally[verdict]}{soft}", class_="text" if verdict in CAUSED else "")
        body += _tag("tr", cells)
    return f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'


def _number(value: float, digits: int = 3) -> str:
    """Return a few significant digits, without an exponent where that stays short."""
    if value == 0:
        return "0"
    text = f"{value:#.{digits}g}"
    if "e" in text and 1e-6 <= abs(value) < 1e6:
        text = f"{value:.7f}".rstrip("0") if abs(value) < 1 else f"{value:.0f}"
    return text.rstrip(".")


def _ours(row: Any) -> str:
    if pd.isna(row.ours):
        return "–"
    half = "" if pd.isna(row.low) else f" <small>± {_number((row.high - row.low) / 2, 2)}</small>"
    return f"{_number(row.ours)}{half}"


class _Notes:
    """Reasons, each written once below the table and referred to by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def mark(self, reason: str) -> str:
        """Return the reference to a reason."""
        return f" <sup>{self.numbers.setdefault(reason, len(self.numbers) + 1)}</sup>" if reason else ""

    def html(self) -> str:
        """Return the list of reasons."""
        items = "".join(_tag("li", _e(reason)) for reason in self.numbers)
        return f'<ol class="notes">{items}</ol>' if items else ""


def _table(table: Table, verdicts: pd.DataFrame) -> str:
    """Return one table of the paper beside ours."""
    rows = verdicts[verdicts["table"] == table.name]
    columns = list(dict.fromkeys(c for p in table.numbers for c in p.selectors))
    values = {c: {p.selectors.get(c, "") for p in table.numbers} for c in columns}
    varying = [c for c in columns if len(values[c]) > 1]
    fixed = ", ".join(f"{c} = {next(iter(values[c]))}" for c in columns if len(values[c]) == 1)
    where, other = rows["where"].ne("").any(), rows["detail"].ne("").any()
    heads = (["where"] if where else []) + varying
    titles = [_tag("th", _e(h), class_="text" if h == "where" else "") for h in heads]
    titles += [_tag("th", t) for t in ("paper", "ours", "seeds")] + [_tag("th", "verdict", class_="text")]
    titles += [_tag("th", "other readings of ours", class_="text")] if other else []
    notes, body = _Notes(), []
    last = None
    pairs = sorted(zip(table.numbers, rows.itertuples()), key=lambda pair: list(rows["metric"]).index(pair[0].metric))
    for printed, row in pairs:
        if printed.metric != last:
            last = printed.metric
            body.append(f'<tr class="group"><th colspan="{len(titles)}">{_e(last)}</th></tr>')
        cells = [_tag("td", _e(printed.where), class_="text")] if where else []
        cells += [_tag("td", _e(printed.selectors.get(c, "").replace("inf", "∞"))) for c in varying]
        spread = "" if printed.spread is None else f" <small>± {_number(printed.spread * printed.scale)}</small>"
        cells += [_tag("td", _e(printed.text) + spread), _tag("td", _ours(row), class_="ours", title=row.rule)]
        cells += [_tag("td", str(row.seeds) if row.seeds else "–")]
        cells += [_tag("td", _verdict(row) + notes.mark(_reason(row)), class_="text")]
        cells += [_tag("td", _e(row.detail.replace(f"{row.metric}_", "")), class_="text soft small")] if other else []
        body.append(_tag("tr", "".join(cells)))
    head = f"<thead><tr>{''.join(titles)}</tr></thead>"
    summary = f'<summary>{_e(table.title)} <span class="soft small">{_e(count(rows))}</span></summary>'
    fixed = f'<p class="soft small">{_e(fixed)}</p>' if fixed else ""
    content = f'{fixed}<div class="scroll"><table>{head}<tbody>{"".join(body)}</tbody></table></div>{notes.html()}'
    return f"<details open>{summary}{content}</details>"


def _claims(verdicts: pd.DataFrame) -> str:
    items = []
    for row in verdicts[verdicts["kind"] == "claim"].itertuples():
        text = f'<p>{_e(row.rule)} <span class="soft small">({_e(row.where)})</span></p>'
        text += "".join(f'<p class="soft small">{_e(t)}</p>' for t in (row.detail, _reason(row)) if t)
        items.append(f"<li><div>{_verdict(row)}</div><div>{text}</div></li>")
    return f'<h3>Claims</h3><ul class="claims">{"".join(items)}</ul>' if items else ""


def _wide(path: Path) -> bool:
    """Tell whether a PNG is a row of panels, from its header."""
    head = path.read_bytes()[:24]
    width, height = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    return head[:4] == b"\x89PNG" and width > 1.7 * height > 0


def _figures(run: Run, root: Path) -> str:
    items = []
    for path in sorted((run.folder / "figures").glob("*.png")):
        name = path.stem.replace("_", " ")
        image = f'<img src="{quote(path.relative_to(root).as_posix())}" alt="{_e(name)}" loading="lazy">'
        pdf = path.with_suffix(".pdf")
        caption = _e(name) + (f" ({_link(pdf, root, 'PDF')})" if pdf.exists() else "")
        figure = f"{image}<figcaption>{caption}</figcaption>"
        items.append(_tag("figure", figure, class_="wide" if _wide(path) else ""))
    return f'<div class="figures">{"".join(items)}</div>' if items else ""


def _provenance(run: Run, root: Path) -> str:
    """Return what ran, when and from which code, and links to the files."""
    facts = "".join(
        f"<dt>{_e(k)}</dt><dd>{_tag('code', _e(v)) if k in ('command', 'revision') else _e(v)}</dd>"
        for k, v in run.facts.items()
    )
    files = [run.folder / "cells.csv", run.folder / "manifest.json", *sorted((run.folder / "tables").glob("*.csv"))]
    links = ", ".join(_link(f, root, f.relative_to(run.folder).as_posix()) for f in files if f.exists())
    return f'<dl class="facts">{facts}<dt>files</dt><dd>{links}</dd></dl>'


def _multiruns(runs: Sequence[Run], root: Path) -> str:
    """Return links to the jobs of a multirun, which are not judged: each is a part of the grid."""
    items = []
    for run in runs:
        short = run.name.split("/", 1)[1]
        facts = [run.facts.get(k) for k in ("profile", "cells", "compute time")]
        soft = _tag("span", _e(", ".join(filter(None, facts))), class_="soft")
        items.append(_tag("li", f"{_link(run.folder / 'cells.csv', root, short)} {soft}"))
    return f"<details><summary>{_plural(len(items), 'multirun job')}</summary><ul>{''.join(items)}</ul></details>"


def _csv(path: Path, root: Path) -> str:
    """Return a table of a run as it stands in its file."""
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError):
        return f"<p>{_link(path, root, path.name)} cannot be read.</p>"
    head = "".join(_tag("th", _e(c)) for c in frame.columns)
    body = "".join(
        _tag("tr", "".join(_tag("td", _e(_trim(v))) for v in row))
        for row in frame.head(_MAX_ROWS).itertuples(index=False)
    )
    more = (
        f' <span class="soft small">the first {_MAX_ROWS} of {len(frame)} rows</span>' if len(frame) > _MAX_ROWS else ""
    )
    summary = f"<summary>{_e(path.stem)}{more}</summary>"
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<details open>{summary}<div class="scroll">{table}</div></details>'


def _trim(text: str) -> str:
    """Shorten a long float for the eye; whole numbers and words stay."""
    try:
        return f"{float(text):.4g}" if "." in text and len(text) > 7 else text
    except ValueError:
        return text


def _experiment(name: str, found: Found, root: Path, tables: str) -> str:
    """Return one experiment: its figures and where it came from."""
    run, others = found.runs.get(name), found.others.get(name, [])
    parts = [tables]
    if run:
        parts += [_figures(run, root), f"<h3>Provenance of <code>{_e(name)}</code></h3>", _provenance(run, root)]
    if others:
        parts.append(_multiruns(others, root))
    return "".join(parts)


def _citation(paper: Paper) -> str:
    said = paper.citation
    arxiv = str(said.get("arxiv") or "")
    link = f', <a href="https://arxiv.org/abs/{quote(arxiv)}">arXiv:{_e(arxiv)}</a>' if arxiv else ""
    return f'<p class="soft">{_e(", ".join(said["authors"]))}. {_e(said["venue"])}, {_e(said["year"])}{link}.</p>'


def _paper(paper: Paper, found: Found, root: Path) -> str:
    verdicts = pd.concat([found.verdicts[name] for name in paper.experiments], ignore_index=True)
    verdicts = verdicts[verdicts["paper"] == paper.key]
    parts = [f"<h2>{_e(paper.citation['title'])}</h2>", _citation(paper), _counts(count(verdicts)), _claims(verdicts)]
    for name in paper.experiments:
        own = [t for t in paper.tables if t.experiment == name]
        parts.append(f"<h3>Experiment <code>{_e(name)}</code></h3>")
        if name not in found.runs:
            parts.append(f"<p>Not run yet: <code>fairpriv run experiment={_e(name)}</code></p>")
        parts.append(_experiment(name, found, root, "".join(_table(t, verdicts) for t in own)))
    return _tag("section", "".join(parts), id=paper.key)


def _own(name: str, found: Found, root: Path) -> str:
    run = found.runs.get(name)
    tables = "".join(_csv(path, root) for path in sorted((run.folder / "tables").glob("*.csv"))) if run else ""
    note = '<p class="soft">No paper speaks of this experiment: tables and figures only.</p>' if run else ""
    return _tag("section", f"<h2>{_e(name)}</h2>{note}{_experiment(name, found, root, tables)}", id=name)


def _contents(entries: Iterable[tuple[str, str]]) -> str:
    items = "".join(f'<li><a href="#{quote(anchor)}">{_e(text)}</a></li>' for anchor, text in entries)
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _headline(verdicts: pd.DataFrame) -> str:
    return _counts(count(verdicts)) + _split(by_paper(verdicts))


def page(found: Found, root: Path) -> str:
    """Return the report as HTML; links and images are relative to `root`, the results folder."""
    of_papers = {name for paper in found.papers for name in paper.experiments}
    own = [name for name in sorted({*found.runs, *found.others}) if name not in of_papers]
    sections = [_paper(paper, found, root) for paper in found.papers] + [_own(name, found, root) for name in own]
    judged = list(found.verdicts.values())
    total = _headline(pd.concat(judged, ignore_index=True)) if len(found.papers) > 1 else ""
    entries = [(p.key, f"{p.key} ({', '.join(n for n in p.experiments if n in found.runs)})") for p in found.papers]
    waiting = "".join(
        f"<li>{_e(p.citation['title'])} <code>fairpriv run experiment={_e(p.experiments[0])}</code></li>"
        for p in found.waiting
        if p.experiments
    )
    later = f"<section><h2>Not run yet</h2><ul>{waiting}</ul></section>" if waiting else ""
    css = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
    intro = f"What {_plural(len(found.papers), 'paper')} printed, beside what we got." if found.papers else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>fairpriv: results</title>'
        f"<style>{css}</style></head><body><header><h1>Results against the papers</h1>"
        f'<p class="soft">{intro}</p>{total}{_contents([*entries, *((n, n) for n in own)])}</header>'
        f"<main>{''.join(sections)}{later}<footer><p>{_RULE if judged else ''}</p></footer></main></body></html>\n"
    )
