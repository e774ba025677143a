"""The report: tables, verdicts against experiments/, figures, HTML."""

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
    """Write results_dir/report.html over all results in it."""
    import pandas as pd

    from fairpriv.errors import BadRequest, StoreError
    from fairpriv.report.collect import collect
    from fairpriv.report.counts import by_paper, count, still_open
    from fairpriv.report.html import page
    from fairpriv.report.verdicts import COLUMNS

    results_dir = Path(results_dir)
    found = collect(results_dir)
    if not found.runs and not found.others:
        hint = "fairpriv run experiment=attribute_conceal profile=smoke"
        raise BadRequest(f"nothing in {results_dir} yet: run something first, e.g. {hint}")
    path = results_dir / "report.html"
    try:
        path.write_text(page(found, results_dir), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}") from error
    judged = [v for v in found.verdicts.values() if len(v)]
    verdicts = pd.concat(judged, ignore_index=True) if judged else pd.DataFrame(columns=COLUMNS)
    return Report(path, count(verdicts), by_paper(verdicts), still_open(verdicts))
