"""The page: one file, no script, nothing from outside, every text escaped, aggregates only."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fairpriv.assessment import pictures, words
from fairpriv.assessment.study import WORLDS, Study
from fairpriv.assessment.words import number, people, percent
from fairpriv.report import html as report
from fairpriv.report.markup import escaped, tag


def _list(lines: Iterable[str], class_: str = "notes") -> str:
    items = "".join(tag("li", escaped(line)) for line in lines)
    return tag("ul", items, class_=class_) if items else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]], texts: int = 1) -> str:
    """Return a table; the first columns are text, the others numbers."""
    kinds = ["text" if i < texts else "" for i in range(len(heads))]
    head = "".join(tag("th", escaped(h), class_=kind) for h, kind in zip(heads, kinds))
    body = "".join(
        tag("tr", "".join(tag("td", escaped(cell), class_=kind) for cell, kind in zip(row, kinds))) for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _section(title: str, *parts: str) -> str:
    return tag("section", tag("h2", escaped(title)) + "".join(parts))


def _explained(pairs: Iterable[tuple[str, str]], class_: str) -> str:
    return tag("dl", "".join(tag("dt", escaped(k)) + tag("dd", escaped(v)) for k, v in pairs), class_=class_)


def _say(text: str, class_: str = "") -> str:
    return tag("p", escaped(text), class_=class_)


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escaped(caption)}</figcaption></figure>"


def _pictures(found: Study) -> str:
    first = _figure(pictures.by_epsilon(found), words.picture_by_epsilon(found))
    second = _figure(pictures.by_questions(found), words.picture_by_questions(found))
    return _section(
        "How much, and at what price", tag("div", first + second, class_="figures"), _say(words.advice(found))
    )


def _defenses(found: Study) -> str:
    rows = []
    for row in (r for r in found.by_epsilon if r["epsilon"] == found.advice.epsilon):
        got = {a["attack"]: a["leakage"] for a in row["attacks"]}
        delta = f", δ = {row['delta']:.9f}".rstrip("0") if row["delta"] else ""
        swaps = "a swap of two" if row["protects"].startswith("which of two") else "one person"
        rows.append(
            [
                row["defense"],
                words.way(row["defense"]),
                swaps + delta,
                _error(row["error"]),
                percent(got["reveal_single"]),
                percent(got["reveal_compressed"]),
            ]
        )
    heads = ["way of answering", "how", "hides", "error", "leakage, one victim", "leakage, all at once"]
    refused = [f"{name} does not take every ε: {why}" for name, why in found.refused.items()]
    return _section(
        f"Every way of answering, at ε = {number(found.advice.epsilon)} for {people(found.queries)} questions",
        _say(
            "“One victim”: the whole budget goes into one question about one person. “All at once”: the answers are "
            "decoded for everybody. “Hides one person”: whoever knows everybody else's group does not learn this one."
        ),
        _table(heads, rows, texts=3),
        _list(refused),
    )


def _comparisons(found: Study) -> str:
    rows = [
        [
            f"{r['attribute']}: {r['group']}",
            r["reference"],
            people(r["people_in_group"]),
            percent(r["exact"]["leakage"]),
            percent(r["private"]["leakage"]),
        ]
        for r in found.by_comparison
    ]
    heads = ["group", "against", "people", "exact, one question a person", f"ε = {number(found.advice.epsilon)}"]
    absolute = found.absolute
    note = (
        f"Leaving out the sign of the gap does not help: {people(absolute['questions'])} absolute gaps split the "
        f"people into the two groups with {percent(absolute['leakage_up_to_names'])}, without saying which is which."
    )
    spread = 100 * (0.5 / WORLDS) ** 0.5  # 95 %: two standard deviations of the mean of two shares near a half
    tried = f"The last column is found by trying: give or take {spread:.0f} points. "
    note = ("" if found.by_comparison[0]["private"]["by_law"] else tried) + note
    return _section("Leakage, group by group", _table(heads, rows, texts=2), _say(note, "soft"))


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _interval(span: dict[str, float] | None) -> str:
    return "–" if span is None else f"{_signed(span['low'])} to {_signed(span['high'])}"


def _error(value: float) -> str:
    return "1 or more" if value >= 1 else number(value)


def _fairness(found: Study) -> str:
    source = "a model trained here" if found.people.trained else f"the decisions in {found.settings.prediction}"
    parts = []
    for kind, title in (("main", ""), ("value", "Each value against the rest"), ("intersection", "Intersections")):
        rows = [
            [
                f"{r['attribute']}: {r['group']} against {r['reference']}",
                r["metric"].replace("_", " "),
                "–" if r["value"] is None else _signed(r["value"]),
                _interval(r["sampling"]),
                _interval(r["sampling_and_noise"]),
            ]
            for r in found.fairness
            if r["kind"] == kind
        ]
        if rows:
            heads = ["groups", "metric", "value", "sampling", f"sampling and noise, ε = {number(found.advice.epsilon)}"]
            table = _table(heads, rows, texts=2)
            parts.append(table if not title else f"<details><summary>{escaped(title)}</summary>{table}</details>")
    note = (
        "Gaps are the reference's rate minus the group's; the impact ratio is the group's rate over the reference's "
        "(below 0.8 is the usual alarm). Intervals are 95 %."
    )
    return _section(
        "Fairness of the decisions", _say(f"Of {source}, on {people(len(found.people))} people. {note}"), *parts
    )


def _inference(found: Study) -> str:
    if not found.inference:
        return _section("What the decisions give away", _say("Too few people in one of the groups to try."))
    rows = [
        [r["knows"], r["attack"], percent(r["leakage"]), percent(r["leakage_of_all_people"])] for r in found.inference
    ]
    heads = ["the attacker knows", "attack", "leakage", "right guesses"]
    note = (
        f"No question is asked here: an attacker guesses the {found.main.attribute} of people from what else is known "
        "of them, and corrects the guesses by what was published about the decisions. A correction makes the guesses "
        "fit what was published; it may be right for more people and yet for a smaller share of one group. An exact "
        "gap has the sizes of the groups in its digits: where both corrections agree, it told as much as the table."
    )
    return _section("What the decisions give away", _say(note), _table(heads, rows, texts=2))


def _summaries(found: Study) -> str:
    rows = [
        [
            r["table"],
            r["category"],
            "left out" if r["left_out"] else people(r["people"]),
            "–" if r["selection_rate"] is None else f"{r['selection_rate']:.3f}",
            "–" if r["impact_ratio"] is None else f"{r['impact_ratio']:.2f}",
        ]
        for r in found.summary
    ]
    table = _table(["by", "category", "people", "selection rate", "impact ratio"], rows, texts=2)
    return _section(
        "What a published table of rates gives away",
        _say("The table that New York City's Local Law 144 asks for, and what it would tell an attacker."),
        _list(words.summary_leaks(found), "plain"),
        table,
    )


def _table_notes(found: Study) -> str:
    left = [f"Column {row['column']} is left out: {row['why']}." for row in found.people.left_out]
    lines = [*left, *(f"{note[:1].upper()}{note[1:]}." for note in found.notes)]
    return _section("What was done to the table", _list(lines or ["Every column is used as it stands."], "plain"))


def page(found: Study, facts: dict[str, str]) -> str:
    """Return the page as HTML."""
    css = "".join(
        folder.joinpath("style.css").read_text(encoding="utf-8")
        for folder in (Path(report.__file__).parent, Path(__file__).parent)
    )
    name = found.people.name
    lead = "".join(_say(line, "lead") for line in words.headline(found))
    features = len(found.people.features.columns)
    learnt = "1 column" if features == 1 else f"{people(features)} columns"
    sizes = (
        f"{people(len(found.people))} people, {learnt} to learn from; {found.main.name}; "
        f"favourable: {found.settings.label} = {found.people.positive}"
    )
    body = "".join(
        (
            _section("What the words mean", _explained(words.glossary(found), "words")),
            _pictures(found),
            _defenses(found),
            _comparisons(found),
            _fairness(found),
            _inference(found),
            _summaries(found),
            _table_notes(found),
            _section("Who is taken to attack", _list(words.threat_model(found), "plain")),
            _section("What the numbers rest on", _list(words.assumptions(found), "plain")),
            _section("How this was made", _explained(facts.items(), "facts")),
        )
    )
    body = body.replace(" %", "\u00a0%").replace("ε = ", "ε\u00a0=\u00a0")  # lines do not break there
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escaped(name)}: what answers about bias reveal</title><style>{css}</style></head><body>"
        f"<header><h1>What answers about bias reveal in {escaped(name)}</h1>{_say(sizes, 'soft')}{lead}</header>"
        f"<main>{body}<footer><p>This page holds numbers about groups of people and none about single persons. It "
        "never left this machine. It tells exact rates by group: keep it as carefully as such a table.</p></footer>"
        "</main></body></html>\n"
    )
