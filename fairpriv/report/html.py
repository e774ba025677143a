"""The report as one page that can be mailed: nothing from outside, pictures inside, every text escaped."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from fairpriv.report.collect import Found, Run
from fairpriv.report.counts import count
from fairpriv.report.markup import escaped as _e
from fairpriv.report.markup import tag as _tag
from fairpriv.report.page import names
from fairpriv.report.page.compute import compute
from fairpriv.report.page.numbers import significant
from fairpriv.report.page.overview import controls, counts_html, overview
from fairpriv.report.page.pictures import held, is_wide, picture
from fairpriv.report.page.tables import filtered, reason, table_html, verdict_of
from fairpriv.report.papers import Paper

_MAX_ROWS = 60  # of a table shown on the page; the file has them all
_MARKS = {"reproduced": "✓", "consistent": "≈", "differs": "✗", "not run": "–"}
# A page that fetches nothing, and cannot be made to.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_RULE = (
    "How a verdict is reached: two questions are asked of every printed number. Is ours within the table's tolerance? "
    "Is the difference more than chance (95 %: Welch's test against the printed deviation, else the prediction "
    "interval of a mean of the paper's number of runs; the rounding of the print is added)? Within, and chance: "
    "<b>reproduced</b>. Within, but more than chance: <b>close</b>. Beyond, but chance: <b>consistent</b>, too few "
    "runs, theirs or ours, to tell. Beyond, and more than chance: it <b>differs</b>. What differs or was not run has "
    "a cause: <b>paper</b> (shown impossible as printed), <b>data</b> (not to be had), <b>unprinted</b> (a setting "
    "the paper does not give; what was tried is named) or <b>open</b>. What holds by construction is labelled and not "
    "counted. “Ours” is the mean over seeds with the half width of its 95 % t interval, rounded by it. The tolerances "
    "stand in experiments/, the rule applied to each number in tables/verdicts.csv. Claims are checked on our own rows."
)


def _link(path: Path, root: Path, text: str) -> str:
    return _tag("a", _e(text), href=quote(path.relative_to(root).as_posix()))


def _plural(n: int, word: str) -> str:
    return f"{n} {word}{'' if n == 1 else 's'}"


def _claims(verdicts: pd.DataFrame) -> str:
    """Return what the paper says in words as a checklist."""
    items = []
    claims = verdicts[verdicts["kind"] == "claim"]
    for row in claims.itertuples():
        mark = _tag("span", _MARKS.get(row.verdict, "?"), class_=f"mark {row.verdict.replace(' ', '-')}")
        text = f'<p>{_e(row.rule)} <span class="soft small">({_e(row.where)})</span></p>'
        text += "".join(f'<p class="soft small">{_e(t)}</p>' for t in (names.spelled(row.detail), reason(row)) if t)
        inner = f"<div>{mark} {verdict_of(row)}</div><div>{text}</div>"
        items.append("\n" + _tag("li", inner, **filtered(row)))
    if not items:
        return ""
    held_up = int(claims["verdict"].eq("reproduced").sum())
    told = f' <span class="soft small">{held_up} of {len(items)} hold</span>'
    return f'<h3>Claims{told}</h3><ul class="claims">{"".join(items)}</ul>'


def _figures(run: Run, root: Path, known: dict[str, str]) -> str:
    """Return the figures in the paper's order, each with what to see."""
    items = []
    for path in sorted((run.folder / "figures").glob("*.png"), key=lambda p: names.natural(p.stem)):
        name = path.stem.replace("_", " ")
        pdf = path.with_suffix(".pdf")
        caption = _e(names.caption(run.name, path.stem))
        caption += f' <span class="soft">({_link(pdf, root, f"{name}, PDF")})</span>' if pdf.exists() else ""
        image = picture(path, known, _e(name))
        figure = f"\n{image}<figcaption>{caption}</figcaption>"
        items.append(_tag("figure", figure, class_="wide" if is_wide(path) else ""))
    summary = f"<summary>{_plural(len(items), 'figure')}</summary>"
    return (
        f'<details open class="pictures">{summary}<div class="figures">{"".join(items)}</div></details>'
        if items
        else ""
    )


def _provenance(run: Run, root: Path) -> str:
    """Return what ran, when and from which code, and links to the files."""
    facts = "".join(
        f"<dt>{_e(k)}</dt><dd>{_tag('code', _e(v)) if k in ('command', 'revision') else _e(v)}</dd>"
        for k, v in run.facts.items()
    )
    files = [run.folder / "cells.csv", run.folder / "manifest.json", *sorted((run.folder / "tables").glob("*.csv"))]
    links = ", ".join(_link(f, root, f.relative_to(run.folder).as_posix()) for f in files if f.exists())
    facts += f"<dt>files beside this page</dt><dd>{links}</dd>"
    return f'<details><summary>Where it comes from</summary><dl class="facts">{facts}</dl></details>'


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
    words = {c: any(_trim(v) == v and not _is_number(v) for v in frame[c]) for c in frame.columns}
    css = ["text" if words[c] else "" for c in frame.columns]
    head = "".join(_tag("th", _e(names.column(c)), class_=k, scope="col") for c, k in zip(frame.columns, css))
    body = "".join(
        "\n" + _tag("tr", "".join(_tag("td", _e(_trim(v)), class_=k) for v, k in zip(row, css)))
        for row in frame.head(_MAX_ROWS).itertuples(index=False)
    )
    most = f"the first {_MAX_ROWS} of {len(frame)} rows" if len(frame) > _MAX_ROWS else _plural(len(frame), "row")
    summary = f'<summary>{_e(names.value(path.stem))} <span class="soft small">{most}</span></summary>'
    table = f'<table class="sortable"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'\n<details>{summary}<div class="scroll">{table}</div></details>'


def _is_number(text: str) -> bool:
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True


def _trim(text: str) -> str:
    """Shorten a long float for the eye; whole numbers and words stay."""
    return significant(float(text), 4) if "." in text and len(text) > 7 and _is_number(text) else text


def _experiment(name: str, found: Found, root: Path, tables: str, known: dict[str, str]) -> str:
    """Return one experiment: its tables, its figures and where it came from."""
    run, others = found.runs.get(name), found.others.get(name, [])
    parts = [tables]
    if run:
        parts += [_figures(run, root, known), _provenance(run, root)]
    if others:
        parts.append(_multiruns(others, root))
    return "".join(parts)


def _citation(paper: Paper) -> str:
    said = paper.citation
    arxiv = str(said.get("arxiv") or "")
    link = f', <a href="https://arxiv.org/abs/{quote(arxiv)}">arXiv:{_e(arxiv)}</a>' if arxiv else ""
    where = ", ".join(
        _e(said[name]) for name in ("venue", "year") if said.get(name)
    )  # a paper of one's own may have none
    return f'<p class="soft">{_e(", ".join(said.get("authors") or ["Anonymous"]))}. {where}{link}.</p>'


def _paper(paper: Paper, found: Found, judged: pd.DataFrame, root: Path, known: dict[str, str]) -> str:
    verdicts = judged[judged["paper"] == paper.key]
    parts = [
        f"<h2>{_e(paper.citation['title'])}</h2>",
        _citation(paper),
        counts_html(count(verdicts)),
        _claims(verdicts),
    ]
    for name in paper.experiments:
        own = [t for t in paper.tables if t.experiment == name]
        parts.append(f"<h3>Experiment <code>{_e(name)}</code></h3>{_about(found, name)}")
        if name not in found.runs:
            parts.append(f"<p>Not run yet: <code>fairpriv run experiment={_e(name)}</code></p>")
        parts.append(_experiment(name, found, root, "".join(table_html(t, verdicts) for t in own), known))
    return "\n" + _tag("section", "".join(parts), id=paper.key, class_="paper", **{"data-paper": paper.key})


def _about(found: Found, name: str) -> str:
    """Return what an experiment asks, as a paragraph."""
    about = found.runs[name].about if name in found.runs else ""
    return f"<p>{_e(about[:1].upper() + about[1:])}.</p>" if about else ""


def _own(name: str, found: Found, root: Path, known: dict[str, str]) -> str:
    run = found.runs.get(name)
    tables = "".join(_csv(path, root) for path in sorted((run.folder / "tables").glob("*.csv"))) if run else ""
    note = '<p class="soft">Ours: no paper speaks of it, so that there are tables and figures, and no verdicts.</p>'
    note = _about(found, name) + note if run else ""
    return "\n" + _tag("section", f"<h2>{_e(name)}</h2>{note}{_experiment(name, found, root, tables, known)}", id=name)


def _contents(groups: Mapping[str, Sequence[tuple[str, str]]]) -> str:
    """Return links to every section, papers apart from experiments of our own."""
    parts = ""
    for label, entries in groups.items():
        items = "".join(f'<li><a href="#{quote(anchor)}">{_e(text)}</a></li>' for anchor, text in entries)
        parts += f'<ul><li class="soft">{label}:</li>{items}</ul>' if items else ""
    return f'<nav aria-label="Contents">{parts}</nav>'


def _waiting(papers: Iterable[Paper]) -> str:
    items = "".join(
        f"<li>{_e(p.citation['title'])} <code>fairpriv run experiment={_e(p.experiments[0])}</code></li>"
        for p in papers
        if p.experiments
    )
    return f"<section><h2>Not run yet</h2><ul>{items}</ul></section>" if items else ""


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def page(found: Found, root: Path) -> str:
    """Return the report as HTML; links are relative to `root`, the results folder; pictures are in it."""
    of_papers = {name for paper in found.papers for name in paper.experiments}
    own = [name for name in sorted({*found.runs, *found.others}) if name not in of_papers]
    known, judged = held(root / "report.html"), found.judged
    sections = [_paper(paper, found, judged, root, known) for paper in found.papers]
    sections += [_own(name, found, root, known) for name in own]
    keys = [p.key for p in found.papers]
    groups = {"papers": [(key, key) for key in keys], "experiments of our own": [(name, name) for name in own]}
    groups["also"] = [("compute", "compute time")] if found.runs else []
    top = overview(found, judged) + controls(found, keys) if len(judged) else ""
    said = (
        f"What {_plural(len(keys), 'paper')} on fairness and privacy print and claim, computed again with our own code"
    )
    intro = f"{said}: theirs beside ours." if keys else ""
    head: dict[str, Any] = {"policy": _POLICY, "style": _asset("style.css"), "script": _asset("script.js")}
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{head["policy"]}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>fairpriv: results</title>'
        f"<style>{head['style']}</style></head><body><header><h1>Results against the papers</h1>"
        f'<p class="soft">{intro}</p>{_contents(groups)}{top}</header>'
        f"<main>{''.join(sections)}{compute(found) if found.runs else ''}{_waiting(found.waiting)}"
        f"<footer><p>{_RULE if len(judged) else ''}</p></footer></main>"
        f'<div id="hover" role="tooltip" hidden></div><script>{head["script"]}</script></body></html>\n'
    )
