"""The pictures, as SVG that takes its ink from the page, so that they are right in light and dark and in print."""

import io
import re
from typing import Any

from matplotlib import rc_context

from fairpriv.assessment.budgets import ceiling
from fairpriv.assessment.study import Study
from fairpriv.assessment.words import number
from fairpriv.report.figures import COLOURS, canvas, legend_below, plain_log_ticks, plt

INK, FAINT = "#010203", "#040506"  # stand-ins, replaced by the page's own
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fairpriv",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.alpha": 1.0,
    "grid.linewidth": 0.6,
    "savefig.transparent": True,
}
LINES = ("-", "--", "-.", ":")


def _svg(figure: Any, title: str) -> str:
    """Return a figure as SVG for a page: text as text, ink by style sheet, no dates."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close(figure)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor").replace(FAINT, "var(--line)")
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    key = re.sub(r"\W+", "-", title.lower())
    text = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{key}-", text)  # no two pictures share a name inside
    return text.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def by_epsilon(found: Study) -> str:
    """Draw leakage and error of every defense against ε, with the recommended range marked."""
    with rc_context(STYLE):
        figure, axes = canvas(rows=2, width=5.2, height=2.7, sharex=True)
        top, bottom = axes[:, 0]
        names = sorted({row["defense"] for row in found.by_epsilon})
        epsilons = sorted({row["epsilon"] for row in found.by_epsilon})
        handles = []
        for i, name in enumerate(names):
            rows = [row for row in found.by_epsilon if row["defense"] == name]
            at = [row["epsilon"] for row in rows]
            look = {"color": _colour(i), "ls": LINES[i % 4], "lw": 2.4 if name == found.advice.defense else 1.3}
            label = f"{name} (recommended)" if name == found.advice.defense else name
            handles += top.plot(at, [row["leakage"] for row in rows], label=label, marker=".", **look)
            bottom.plot(at, [row["error"] for row in rows], marker=".", **look)
        handles += top.plot(
            epsilons, [ceiling(e) for e in epsilons], color=INK, lw=0.8, ls=(0, (1, 3)), label="most that ε allows"
        )
        top.set(ylabel="leakage, % (50: guessing)", ylim=(48, 101))
        bottom.set(ylabel="error of an answer", xlabel="ε, for all answers together", yscale="log")
        bottom.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        bottom.axhline(found.advice.sampling, color=INK, lw=0.8, ls=(0, (1, 3)))
        bottom.annotate("another sample", (epsilons[-1], found.advice.sampling), ha="right", va="top", fontsize=8)
        top.axhline(50 + found.advice.tolerance, color=INK, lw=0.8, ls=(0, (1, 3)))
        plain_log_ticks(bottom, [e for e in (0.1, 0.2, 0.5, 1, 2, 5, 10, 100) if e >= epsilons[0]])
        for axis in (top, bottom):
            _mark_range(axis, found, epsilons)
        legend_below(figure, handles, columns=3, fontsize=8)
        return _svg(figure, "Leakage and error against epsilon")


def _colour(i: int) -> str:
    colour = COLOURS[i % len(COLOURS)]
    return INK if colour == "#000000" else colour


def _mark_range(axis: Any, found: Study, epsilons: list[float]) -> None:
    """Shade the recommended range, and mark the ε that the headline is about."""
    low, high = found.advice.low, found.advice.high
    if high is not None:
        axis.axvspan(low if found.advice.possible else epsilons[0], high, color=COLOURS[2], alpha=0.15, lw=0)
    axis.axvline(found.advice.epsilon, color=COLOURS[2], lw=1)


def by_questions(found: Study) -> str:
    """Draw leakage against the number of questions, for exact and for private answers."""
    with rc_context(STYLE):
        figure, axes = canvas(width=5.2, height=3.4)
        (axis,) = axes[0]
        few = min(row["people"] for row in found.by_questions)
        words = {"exact": "exact answers", "private": f"private answers, ε = {number(found.advice.epsilon)}"}
        for (kind, title), colour, marker in zip(words.items(), (COLOURS[1], COLOURS[0]), "os"):
            rows = sorted(
                (r for r in found.by_questions if r["answers"] == kind and r["people"] == few),
                key=lambda r: r["questions"],
            )
            axis.plot(
                [r["questions"] for r in rows],
                [r["leakage"] for r in rows],
                color=colour,
                marker=marker,
                ms=4,
                label=title,
            )
        axis.axhline(50, color=INK, lw=0.8, ls=(0, (1, 3)))
        axis.set(xlabel=f"questions about {few:,} people", ylabel="leakage, % (50: guessing)", ylim=(45, 102))
        axis.legend(loc="center right", fontsize=9)
        return _svg(figure, "Leakage against the number of questions")
