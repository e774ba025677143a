"""The documentation: it builds without a warning, names what there is, and its notebooks show what comes out."""

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from fairpriv import registry
from fairpriv.cli import COMMANDS
from fairpriv.cli.completion.words import options
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def test_it_builds_without_a_warning(tmp_path):
    for package in ("mkdocs", "material", "mkdocstrings", "mkdocs_jupyter"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    gallery = (tmp_path / "gallery/index.html").read_text(encoding="utf-8")
    assert len(re.findall(r"<img [^>]*figures/", gallery)) == len(list((ROOT / "results").glob("*/figures/*.png")))
    assert "correct_reconstruction" in (tmp_path / "api/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_commands_and_sections_that_a_page_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for title in re.findall(r"^\{\{ README: (.+?) \}\}$", text, re.MULTILINE):
        assert f"\n## {title}\n" in readme
    for line in "\n".join(re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)).splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["fairpriv"]:
            assert words[1] in COMMANDS
            for word in words[2:]:
                key, equals, value = word.partition("=")
                if equals and key in ("experiment", "profile", "engine", "defense", "attack"):
                    assert set(value.split(",")) <= {*options(key), "guess"}  # the one that `fairpriv new` writes


def test_every_mechanism_advised_is_one_that_there_is():
    text = (DOCS / "which.md").read_text(encoding="utf-8")
    advised = {name for row in re.findall(r"^\| .*", text, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    from fairpriv.mechanisms.ldp import PROTOCOLS

    known = {*registry.candidates("defenses"), *PROTOCOLS, "k_based", "uniform"}
    assert len(advised) > 20
    assert advised <= known


def run_cell(source: str, names: dict) -> str:
    """Run a cell as a notebook does: return what it prints and what its last line is worth."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    return said.getvalue() + ("" if value is None else f"{value!r}")


def committed(cell: dict) -> str:
    parts = [out.get("text") or out.get("data", {}).get("text/plain", []) for out in cell["outputs"]]
    return "".join("".join(part) for part in parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_comes_out(path, tmp_path, monkeypatch):
    import matplotlib

    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    assert path.stat().st_size < 300_000
    names: dict = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            assert run_cell(source, names).strip() == committed(cell).strip(), source


def test_there_are_two_notebooks_with_outputs():
    assert len(NOTEBOOKS) == 2
    for path in NOTEBOOKS:
        cells = [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
        assert all(cell["outputs"] for cell in cells)


def test_the_config_for_slurm_is_one_that_dask_jobqueue_takes():
    jobqueue = pytest.importorskip("dask_jobqueue")
    import yaml

    said = yaml.safe_load((DOCS / "slurm.yaml").read_text(encoding="utf-8"))["jobqueue"]["slurm"]
    options_ = {key.replace("-", "_"): value for key, value in said.items()}
    cluster = jobqueue.SLURMCluster(**options_, n_workers=0, scheduler_options={"dashboard_address": None, "port": 0})
    try:
        script = cluster.job_script()
    finally:
        cluster.close()
    assert "#SBATCH --cpus-per-task=8" in script
    assert "FAIRPRIV_DATA" in script
    assert "--lifetime 225m" in script


def test_a_file_that_a_page_shows_is_asked_for_as_the_site_reads_it():
    """Without the quotes, or spaced as an expression by a formatter, the marker itself would stand on the page."""
    asked = [
        line
        for path in DOCS.glob("*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "8<" in line or "8 <" in line
    ]
    assert len(asked) == 2
    for line in asked:
        found = re.fullmatch(r'--8<-- "([\w.]+)"', line)
        assert found, line
        assert (DOCS / found[1]).is_file(), line
