"""The other commands, as a user types them."""

import contextlib
import json
import subprocess
import sys

import pytest

from fairpriv.cli import COMMANDS, main


@pytest.mark.parametrize("flag", ["--help", "-h", "help"])
def test_help_names_every_command(capsys, flag):
    assert main([flag]) == 0
    said = capsys.readouterr().out
    for command in ("run", "list", "show", "data", "status", "report", "audit", "doctor"):
        assert f"  {command} " in said


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys, command):
    with contextlib.suppress(SystemExit):  # argparse's own way out
        main([command, "--help"])
    assert f"fairpriv {command}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "--help"], ["list"], ["show", "gradient_boosting"]], ids=" ".join
)
def test_what_only_tells_imports_nothing_heavy(words):
    heavy = ("numpy", "hydra", "pandas", "sklearn")
    code = f"""
import sys
from fairpriv.cli import main
try:
    main({words})
finally:
    print([m for m in {heavy} if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_unknown_command_names_the_closest(capsys):
    assert main(["rnu"]) == 2
    assert "did you mean run?" in capsys.readouterr().err


def test_list_shows_plugins_and_a_broken_one_with_its_error(shell):
    said = json.loads(shell("list", "attacks", "--json").stdout)
    names = {row["name"]: row for row in said}
    assert "reveal_compressed" in names
    assert "hamman2023" in names["reveal_compressed"]["paper"]
    assert "toy_attack" in names
    assert "BROKEN: ModuleNotFoundError" in names["toy_broken"]["about"]
    assert "BROKEN" in shell("list").stdout


def test_list_refuses_an_unknown_kind(capsys):
    assert main(["list", "atacks"]) == 2
    assert "did you mean attacks" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["conceal", "reveal_compressed", "adult", "logistic", "attribute_conceal"])
def test_show_tells_of_plugins_and_experiments(capsys, name):
    assert main(["show", name]) == 0
    assert name in capsys.readouterr().out
    assert main(["show", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_show_refuses_an_unknown_name_with_the_closest(capsys):
    assert main(["show", "concael"]) == 2
    assert "did you mean conceal" in capsys.readouterr().err


def test_status_and_report_say_what_to_do_in_an_empty_folder(capsys, tmp_path):
    for command in ("status", "report"):
        assert main([command, "--results-dir", str(tmp_path)]) == 2
        assert "run" in capsys.readouterr().err


def test_audit_shows_a_third_of_epsilon_for_the_printed_constants(capsys):
    words = ["epsilon=3", "n=40", "m=5", "samples=2000", "--json"]
    assert main(["audit", "defense=conceal", *words]) == 0
    (printed,) = json.loads(capsys.readouterr().out)
    assert printed["worst_log_ratio"] <= 1.0001
    assert main(["audit", "defense=conceal_tight", *words]) == 0
    (tight,) = json.loads(capsys.readouterr().out)
    assert 2 < tight["worst_log_ratio"] <= 3.0001
    assert tight["verdict"] == "holds"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["defense=conceall"], "did you mean conceal"),
        (["epsilon=0"], "epsilon must be > 0"),
        (["metric=spp"], "metric must be one of"),
        (["epsilom=1"], "did you mean epsilon"),
        (["epsilon=1e-3.5"], "epsilon must be a number"),
    ],
)
def test_audit_refuses_bad_words(capsys, words, says):
    assert main(["audit", *words]) == 2
    assert says in capsys.readouterr().err


def test_an_audit_reads_numbers_as_people_write_them_and_goes_past_who_refuses_them(capsys, monkeypatch):
    from fairpriv.runner import auditing

    assert auditing._settings(["epsilon=1e-3"])[0]["epsilon"] == 0.001
    monkeypatch.setattr(auditing, "names", lambda kind: (["conceal_laplace", "laplace"], {}))
    assert main(["audit", "epsilon=2", "n=10", "m=2", "samples=1000", "--json"]) == 0
    refused, audited = json.loads(capsys.readouterr().out)
    assert refused["verdict"] == "unchecked"
    assert "epsilon must be < 1" in refused["worst"]
    assert audited["verdict"] == "holds"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["show"], "show: the following arguments are required: name; `fairpriv show --help` says more"),
        (["status", "--results-dr", "x"], "did you mean --results-dir?"),
        (["run", "--jobs", "3"], "unknown option of fairpriv run '--jobs': did you mean --json? valid: --conf-dir"),
        (["verify", "--sample", "abc"], "argument --sample: invalid int value: 'abc'"),
        (["data", "lst"], "choose from"),
        (["data", "list", "adlt"], "did you mean adult"),
        (["data", "verify", "nowhere"], "unknown dataset 'nowhere'"),
        (["assess", "--nosuch"], "valid: --help, --json"),
        (["desk", "serve", "--state", "x"], "the following arguments are required: --token-file"),
    ],
)
def test_a_wrong_argument_is_one_line(capsys, words, says):
    assert main(words) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert says in said


def test_the_files_of_one_dataset(capsys):
    assert main(["data", "list", "adult", "--json"]) in (0, 1)
    assert {row["dataset"] for row in json.loads(capsys.readouterr().out)} == {"adult"}


def test_doctor_checks_this_machine(capsys, tmp_path):
    assert main(["doctor", "--results-dir", str(tmp_path), "--json"]) == 0
    rows = {row["check"]: row["state"] for row in json.loads(capsys.readouterr().out)}
    assert rows["python"] == rows["conf"] == rows["results"] == "ok"


def test_own_csv_runs_and_bad_ones_are_one_line(shell):
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.integers(18, 70, 300), "job": rng.choice(list("abc"), 300)})
    table["sex"] = np.where(rng.random(300) < 0.3, "f", "m")
    table["hired"] = (rng.random(300) < 0.4).astype(int)
    table.to_csv(shell.folder / "people.csv", index=False)
    own = ["run", "experiment=attribute_conceal", "profile=smoke", "dataset=csv", "dataset.path=people.csv"]
    done = shell(*own, "dataset.label=hired", "dataset.protected=sex", "jobs=1")
    assert "4/4 cells done" in done.stdout
    assert "could not be drawn" not in done.stderr
    assert list((shell.folder / "results").rglob("tables/summary.csv"))
    for overrides, says in [
        (["dataset.label=hierd", "dataset.protected=sex"], "hired"),
        (["dataset.label=age", "dataset.protected=sex"], "binary"),
        (["dataset.label=hired"], "dataset.protected"),
        (["dataset.label=hired", "dataset.protected=sex", "dataset.path=nowhere.csv"], "nowhere.csv"),
    ]:
        bad = shell(*own, *overrides, code=2)
        assert len(bad.stderr.strip().splitlines()) == 1, bad.stderr
        assert says in bad.stderr
        assert shell(*own, *overrides, "--dry-run", code=2).stderr == bad.stderr
