"""How much was computed: a line an experiment."""

from fairpriv.report.collect import Found, duration
from fairpriv.report.markup import escaped as _e
from fairpriv.report.markup import tag as _tag

HEADS = ("experiment", "profile", "cells", "seeds", "compute time", "a cell", "finished")


def rows(found: Found) -> list[tuple[str, ...]]:
    """Return one line an experiment, then the sum."""
    out, total, cells = [], 0.0, 0
    for name, run in found.runs.items():
        said, facts = run.manifest, run.facts
        seconds, done = said.get("compute_seconds"), said.get("done") or len(run.rows)
        each = duration(seconds / done) if isinstance(seconds, int | float) and done else None
        total += seconds if isinstance(seconds, int | float) else 0.0
        cells += done
        profile, time = facts.get("profile", ""), facts.get("compute time", "")
        finished = facts.get("finished", "")[:10]
        out.append((name, profile, str(done), facts.get("seeds", ""), time, each or "", finished))
    return [*out, ("all", "", str(cells), "", duration(total) or "", "", "")] if len(out) > 1 else out


def compute(found: Found) -> str:
    """Return the table of compute times."""
    body = "".join(
        "\n"
        + _tag("tr", "".join(_tag("td", _e(v), class_="" if i in (2, 3, 4, 5) else "text") for i, v in enumerate(r)))
        for r in rows(found)
    )
    head = "".join(_tag("th", _e(h), class_="" if h in HEADS[2:6] else "text", scope="col") for h in HEADS)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    note = (
        '<p class="soft small">Processor time of one core, summed over the cells (older cells: the wall time in their '
        "worker); a run on two cores takes half as long.</p>"
    )
    return f'\n<section id="compute"><h2>Compute time</h2>{note}<div class="scroll">{table}</div></section>'
