"""The public API: every name is there, its examples run, and it takes the command line's own road."""

import doctest
import subprocess
import sys

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairpriv
from fairpriv import config
from fairpriv.api import word
from fairpriv.cli import main
from fairpriv.config.overrides import parse
from tests.conftest import TOY

# What the examples of others show in use: errors, records, and families of methods that are trained.
WITHOUT = {"BadRequest", "DataUnavailable", "Dataset", "Recovery", "Result", "Table"}


def test_every_public_name_is_there_and_says_what_it_is():
    assert set(dir(fairpriv)) >= set(fairpriv.__all__)
    for name in fairpriv.__all__:
        assert getattr(fairpriv, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        fairpriv.runn  # noqa: B018


def test_importing_fairpriv_imports_nothing_heavy():
    code = "import sys, fairpriv; print([m for m in ('numpy', 'hydra', 'pandas', 'fairpriv.api') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LONG = ("assess",)  # half a minute, and the README's own command does the same


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in fairpriv.__all__]
)
def test_examples_do_what_they_show(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    thing = getattr(fairpriv, name)
    module = sys.modules[thing.__module__]
    examples = [t for t in doctest.DocTestFinder(recurse=False).find(thing, name, module, globs={}) if t.examples]
    assert examples or name in WITHOUT, f"{name} has no example"
    for test in examples:
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
    assert capsys.readouterr().out == ""  # what differs is printed


TWICE = """
import fairpriv, sys
import pandas as pd
rows = fairpriv.run("toy", conf_dir=sys.argv[1], x=[1, 2], jobs=1)
again = fairpriv.run("toy", conf_dir=sys.argv[1], x=(1, 2), jobs=1)
pd.testing.assert_frame_equal(again, rows)  # reused: the times are the same too
rows.to_csv("rows.csv", index=False)
"""


def test_a_run_is_the_command_line_s(tmp_path, toy_env):
    """In a process of its own, which finds the toy's entry points."""
    subprocess.run([sys.executable, "-c", TWICE, str(TOY / "conf")], cwd=tmp_path, env=toy_env, check=True)
    (path,) = (tmp_path / "results/toy").glob("x=*/cells.csv")
    assert path.parent.name == "x=[1,2]"
    rows = pd.read_csv(tmp_path / "rows.csv")
    assert sorted(set(rows["x"])) == [1, 2]
    pd.testing.assert_frame_equal(rows, pd.read_csv(path), check_dtype=False)


@pytest.mark.parametrize(
    ("experiment", "wanted"),
    [
        ("attribute_conceal", {"epsilon": 0, "profile": "smoke"}),
        ("attribute_conceal", {"epsilom": 1}),
        ("atribute_conceal", {}),
        ("attribute_conceal", {"defense": "conceall"}),
        ("attribute_conceal", {"defense": "laplace", "defense__bounding": "clipp", "profile": "smoke"}),
    ],
)
def test_wrong_requests_are_refused_with_the_command_line_s_words(experiment, wanted, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(fairpriv.BadRequest) as refused:
        fairpriv.run(experiment, **wanted)
    typed = [f"{key.replace('__', '.')}={value}" for key, value in wanted.items()]
    assert main(["run", f"experiment={experiment}", *typed]) == 2
    assert capsys.readouterr().err == f"fairpriv: {refused.value}\n"


def test_a_dataset_by_the_name_of_a_choice():
    with pytest.raises(fairpriv.BadRequest, match="did you mean synthetic"):
        fairpriv.load_dataset("sinthetic")
    with pytest.raises(fairpriv.BadRequest, match="unknown parameter of dataset synthetic 'sampel'"):
        fairpriv.load_dataset("synthetic", sampel=3)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_a_value_is_read_as_it_was_given(value):
    config.start()
    (read,) = parse([f"dataset.path={word(value)}"])
    assert read.value() == value
