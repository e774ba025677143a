"""The top of the page: how much was reproduced, by paper and cause, and the controls that filter everything below."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from fairpriv.report.collect import Found
from fairpriv.report.counts import CAUSED, CAUSES, VERDICTS, Counts, by_paper, count
from fairpriv.report.markup import escaped as _e
from fairpriv.report.markup import tag as _tag
from fairpriv.report.page.scatter import scatter
from fairpriv.report.page.tables import css_class
from fairpriv.report.papers import Paper

_MEANING = {
    "reproduced": "within the tolerance, and the difference is no more than chance",
    "close": "within the tolerance, but the difference is more than chance",
    "consistent": "beyond the tolerance, but no more than chance: too few runs, theirs or ours, to tell",
    "differs": "beyond the tolerance, and more than chance: the cause is said",
    "not run": "no number of ours: the cause is said",
    "paper": "shown impossible as printed",
    "data": "the data cannot be had",
    "unprinted": "hangs on a setting that the paper does not print",
    "open": "we do not know why",
}


def causes_of(counts: Counts, verdict: str) -> str:
    """Return the causes of what differs or was not run, as words."""
    return ", ".join(f"{n} {cause}" for cause, n in counts.causes.get(verdict, {}).items() if n)


def bar(counts: Counts) -> str:
    """Return the split by verdict as a bar."""
    parts = (
        f'<i class="{css_class(v)}" style="flex:{n}" title="{n} {_e(v)}"></i>' for v, n in counts.tally.items() if n
    )
    return f'<div class="bar" aria-hidden="true">{"".join(parts)}</div>'


def counts_html(counts: Counts) -> str:
    """Return a count for each verdict with its causes, and a bar."""
    items = ""
    for verdict, n in counts.tally.items():
        causes = causes_of(counts, verdict)
        causes = f' <small class="soft">{_e(causes)}</small>' if causes else ""
        items += _tag("li", f"<b>{n}</b>{_e(verdict)}{causes}", class_=css_class(verdict), title=_MEANING[verdict])
    if counts.by_construction:
        items += _tag("li", f"{counts.by_construction} by construction, not counted", class_="soft small")
    return f'<ul class="counts">{items}</ul>{bar(counts)}'


def _split(found: Found, papers: Mapping[str, Counts]) -> str:
    """Return a line a paper: its title, how much of it was reproduced, and what was not and why."""
    heads = "".join(_tag("th", _e(c), class_="text" if c in CAUSED else "", scope="col") for c in VERDICTS)
    body = ""
    titles = {paper.key: paper.citation["title"] for paper in found.papers}
    for key, counts in papers.items():
        link = f'<a href="#{_e(key)}">{_e(key)}</a> <span class="soft small">{_e(titles.get(key, ""))}</span>'
        cells = _tag("td", link + bar(counts), class_="text wrap")
        for verdict in VERDICTS:
            causes = causes_of(counts, verdict)
            soft = f' <small class="soft">({_e(causes)})</small>' if causes else ""
            cells += _tag("td", f"{counts.tally[verdict]}{soft}", class_="text wrap" if verdict in CAUSED else "")
        body += "\n" + _tag("tr", cells)
    head = f'<tr><th class="text" scope="col">paper</th>{heads}</tr>'
    return f'<div class="scroll"><table class="split"><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def lead(total: Counts) -> str:
    """Return the answer in plain text: what was reproduced, what not, and why."""
    tally = total.tally
    whole = sum(tally.values())
    good = tally["reproduced"] + tally["close"]
    why = {cause: sum(total.causes[v][cause] for v in CAUSED) for cause in CAUSES}
    share = f"{round(100 * good / whole)} %" if whole else "none"
    return (
        f"Of {whole} printed numbers and claims, {good} ({share}) came out as printed or close to it; "
        f"{tally['consistent']} more differ by no more than chance; {tally['differs']} differ and {tally['not run']} "
        f"were not run. Why: {why['paper']} cannot hold as printed, {why['unprinted']} hang on a setting that the "
        f"paper does not print, for {why['data']} the data cannot be had, and for {why['open']} we do not know."
    )


def plain_words(papers: Iterable[Paper]) -> str:
    """Return what each paper asks, and what of it came out and what did not, in everyday words."""
    items = ""
    for paper in papers:
        if paper.plainly:
            said = {name: _e(text) for name, text in paper.plainly.items()}
            items += "\n" + _tag("dt", f'<a href="#{_e(paper.key)}">{_e(paper.key)}</a>')
            items += f'<dd><p class="soft small">{_e(paper.citation["title"])}</p><p>{said["asks"]}</p>'
            items += f'<p><b class="reproduced">Came out:</b> {said["came_out"]}</p>'
            items += f'<p><b class="differs">Did not:</b> {said["did_not"]}</p></dd>'
    return f'<h2>In plain words</h2><dl class="plainly">{items}</dl>' if items else ""


def _choice(label: str, name: str, options: Iterable[tuple[str, str]]) -> str:
    inner = '<option value="">all</option>' + "".join(_tag("option", _e(t), value=v) for v, t in options)
    return f"<label>{label} {_tag('select', inner, id=f'by-{name}')}</label>"


def controls(found: Found, keys: Sequence[str]) -> str:
    """Return the filters; the script shows them, without it everything is there unfiltered."""
    tables = [(f"{p.key}/{t.name}", f"{p.key}: {t.title.split('.')[0]}") for p in found.papers for t in p.tables]
    parts = [
        _choice("paper", "paper", [(key, key) for key in keys]),
        _choice("verdict", "verdict", [(v, v) for v in VERDICTS]),
        _choice("cause", "cause", [(c, c) for c in CAUSES]),
        _choice("table", "table", tables),
        '<label>search <input type="search" id="search" placeholder="Adult, leakage, …"></label>',
        '<button type="button" id="clear">clear</button><button type="button" id="unfold">open all tables</button>',
        '<output id="shown" aria-live="polite"></output>',
    ]
    return f'\n<form id="filters" class="filters" hidden>{"".join(parts)}</form>'


def legend() -> str:
    """Return what every verdict and cause means."""
    items = "".join(f"<dt>{_e(word)}</dt><dd>{_e(meaning)}</dd>" for word, meaning in _MEANING.items())
    return f'<details><summary>What the words mean</summary><dl class="facts">{items}</dl></details>'


def overview(found: Found, verdicts: pd.DataFrame) -> str:
    """Return the overview: a sentence, the counts, the papers in plain words, a line a paper, and the scatter."""
    papers = by_paper(verdicts)
    total = count(verdicts)
    titles = {(p.key, t.name): t.title for p in found.papers for t in p.tables}
    top = _tag("p", _e(lead(total)), class_="lead") + counts_html(total) + legend() + plain_words(found.papers)
    if len(papers) < 2:
        return top + scatter(verdicts, titles)
    head = "<h2>Number by number</h2>"
    return f'{top}{head}<div class="overview"><div>{_split(found, papers)}</div>{scatter(verdicts, titles)}</div>'
