"""An installed wheel works from an empty directory: conf/ and experiments/ travel in it."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import fairpriv
from tests.conftest import ROOT


def test_wheel_runs_a_smoke_experiment_in_a_new_environment(tmp_path):
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = zipfile.ZipFile(wheel).namelist()
    assert "fairpriv/_share/conf/config.yaml" in inside
    assert "fairpriv/_share/experiments/hamman2023/paper.yaml" in inside

    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)], check=True)
    # the packages it depends on are those of the environment the tests run in: a path file, not a second download
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    own = Path(next(p for p in sys.path if p.endswith("site-packages")))
    (site / "packages.pth").write_text(str(own) + "\n")

    empty = tmp_path / "empty"
    empty.mkdir()
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    where = subprocess.run(
        [python, "-c", "import fairpriv; print(fairpriv.__file__)"], cwd=empty, env=env, capture_output=True, text=True
    )
    assert str(tmp_path) in where.stdout  # the wheel, not the checkout
    command = [tmp_path / "env" / "bin" / "fairpriv", "run", "experiment=attribute_conceal", "profile=smoke"]
    done = subprocess.run([*command, "dataset=synthetic", "jobs=1"], cwd=empty, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (cells,) = (empty / "results/attribute_conceal").rglob("cells.csv")
    assert list(cells.parent.glob("tables/*.csv"))


def test_the_source_archive_has_what_a_wheel_is_built_from(tmp_path):
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        inside = {name.split("/", 1)[1] for name in opened.getnames() if "/" in name}
    assert {"pyproject.toml", "README.md", "LICENSE", "CITATION.cff", "SECURITY.md", "mkdocs.yml"} <= inside
    assert {"conf/config.yaml", "experiments/xie2024/paper.yaml", "docs/index.md"} <= inside
    assert "fairpriv/cli/completion/fairpriv.zsh" in inside


def test_every_place_names_the_same_version():
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)[1]
    changed = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    assert cited == changed == fairpriv.__version__


def test_ci_calls_the_one_script():
    import yaml

    said = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert ".ci/run" in [step.get("run") for step in said["jobs"]["test"]["steps"]]
    assert os.access(ROOT / ".ci/run", os.X_OK)
