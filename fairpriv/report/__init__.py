"""The report: tables, verdicts against experiments/, figures; report.html, and REPORT.md for a terminal or a forge."""

from dataclasses import dataclass
from pathlib import Path

from fairpriv.report.counts import Counts

__all__ = ["Report", "make_report"]


@dataclass(frozen=True)
class Report:
    """Where the report is, the verdicts by kind and cause (all, and a paper), and what is open."""

    path: Path
    total: Counts
    papers: dict[str, Counts]
    open: list[str]


def make_report(results_dir: Path) -> Report:
    """Write results_dir/report.html and REPORT.md over all results in it."""
    from fairpriv.errors import BadRequest, StoreError
    from fairpriv.report.collect import collect
    from fairpriv.report.counts import by_paper, count, still_open
    from fairpriv.report.html import page
    from fairpriv.report.markdown import markdown

    results_dir = Path(results_dir)
    found = collect(results_dir)
    if not found.runs and not found.others:
        hint = "fairpriv run experiment=attribute_conceal profile=smoke"
        raise BadRequest(f"nothing in {results_dir} yet: run something first, e.g. {hint}")
    for path, text in ((results_dir / "report.html", page), (results_dir / "REPORT.md", markdown)):
        try:
            path.write_text(text(found, results_dir), encoding="utf-8")
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error}") from error
    verdicts = found.judged
    return Report(results_dir / "report.html", count(verdicts), by_paper(verdicts), still_open(verdicts))
