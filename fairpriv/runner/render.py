"""`fairpriv render`: tables, figures and the report drawn again from what is there; no cell is computed."""

from dataclasses import dataclass, field
from pathlib import Path

from fairpriv.runner.present import present, read_drawn
from fairpriv.runner.status import folders
from fairpriv.runner.store import Store


@dataclass
class Rendered:
    """Which folders were drawn anew, and which parts of them failed."""

    drawn: list[Path] = field(default_factory=list)
    current: list[Path] = field(default_factory=list)
    faults: dict[str, str] = field(default_factory=dict)


def render(results: Path, experiment: str | None = None, force: bool = False) -> Rendered:
    """Draw every results folder whose cells, drawing code or paper changed (all of them if forced), then the report."""
    from fairpriv.report import make_report

    found = Rendered()
    store = Store(results, read_only=True)
    for path in folders(results, experiment):
        (found.current if present(path, force, store.arrays) is None else found.drawn).append(path)
        found.faults |= {f"{path}: {part}": trace for part, trace in read_drawn(path).get("faults", {}).items()}
    store.close()
    if experiment is None:
        make_report(results)
    return found
