"""Pages that are made of what the project already says: papers, gallery, API, contributing, changelog.

Nothing is copied into git: figures are taken from results/, texts from experiments/, README.md and CONTRIBUTING.md.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import fairpriv
from fairpriv.report.page.names import caption, natural
from fairpriv.report.papers import Paper, papers

ROOT = Path(__file__).resolve().parents[1]
SECTION = re.compile(r"^\{\{ README: (.+?) \}\}$", re.MULTILINE)
GROUPS = {
    "Functions": ("run", "assess", "audit", "load_dataset", "correct_reconstruction"),
    "The desk": ("ComplianceDesk",),
    "Errors": ("BadRequest", "DataUnavailable"),
}


def section(title: str) -> str:
    """Return what README.md says under a heading."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"README.md has no section {title!r}")
    text = re.sub(r"\]\(results/([\w]+)/figures/", r"](figures/\1/", found[1].strip())
    return text.replace("](docs/", "](")


def figures(experiment: str) -> list[Path]:
    """Return the pictures of an experiment."""
    return sorted((ROOT / "results" / experiment / "figures").glob("*.png"), key=lambda path: natural(path.stem))


def shown(experiment: str, up: str = "") -> str:
    """Return the pictures of an experiment with what to see in them."""
    parts = []
    for path in figures(experiment):
        said = caption(experiment, path.stem)
        parts.append(f"![{path.stem}]({up}figures/{experiment}/{path.name}){{ loading=lazy }}\n\n{said}\n")
    return "\n".join(parts)


def paper_page(paper: Paper) -> str:
    """Return a paper's page: its README, then its figures."""
    text = (ROOT / "experiments" / paper.key / "README.md").read_text(encoding="utf-8")
    drawn = [f"### {name}\n\n{shown(name, '../')}" for name in paper.experiments if figures(name)]
    return text + ("\n\n## Figures\n\n" + "\n\n".join(drawn) if drawn else "")


def gallery() -> str:
    """Return all figures, experiment by experiment."""
    known = sorted(path.parent.name for path in (ROOT / "results").glob("*/cells.csv"))
    parts = [f"## {name}\n\n{shown(name)}" for name in known if figures(name)]
    head = "# Gallery\n\nEvery figure in `results/`, as `fairpriv render` draws it from the committed cells.\n\n"
    return head + "\n\n".join(parts)


def api() -> str:
    """Return the reference of the public names, each documented where it lives."""
    homes = {name: module for module, names in fairpriv._HOMES.items() for name in names}
    rest = tuple(name for name in fairpriv.__all__ if not any(name in names for names in GROUPS.values()))
    parts = ["# Python API\n\nThe public names of `import fairpriv`; each is imported when it is asked for."]
    for title, names in (GROUPS | {"Bases of plug-ins": rest}).items():
        parts += [f"## {title}", *(f"::: {homes[name]}.{name}" for name in names)]
    return "\n\n".join(parts)


def on_config(config: Any) -> Any:
    """Put the papers into the navigation."""
    pages = [{paper.key: f"papers/{paper.key}.md"} for paper in papers()]
    for entry in config.nav:
        if isinstance(entry, dict) and "Results" in entry:
            entry["Results"] = [entry["Results"][0], {"Papers": pages}]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what is made of other files."""
    made = {f"papers/{paper.key}.md": paper_page(paper) for paper in papers()}
    made |= {"gallery.md": gallery(), "api.md": api()}
    for name in ("CONTRIBUTING", "CHANGELOG"):
        made[f"{name.lower()}.md"] = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for path in sorted((ROOT / "results").glob("*/figures/*.png")):
        place = f"figures/{path.parts[-3]}/{path.name}"
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put sections of README.md where a page asks for them."""
    return SECTION.sub(lambda found: section(found[1]), markdown)
