"""What a cell's code is: nothing that a run enters is missing from it, and a move changes nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fairpriv import config, datasets
from fairpriv.errors import DataUnavailable
from fairpriv.registry import find
from fairpriv.stamps.closure import ALWAYS, NEUTRAL, code_of, find_module, label, places_of
from fairpriv.stamps.stamp import changed, code_behind

config.start()
EXPERIMENTS = config.options("experiment")


def conceal():
    return code_of(tuple(places_of([find("protocols", "attribute_conceal"), find("defenses", "conceal")])))


def test_reaches_through_imports_but_not_into_the_runner():
    code = conceal()
    assert {"mechanisms/smooth_sensitivity.py::smooth_sensitivity", "mechanisms/noise.py::Cauchy"} <= set(
        code.definitions
    )
    assert "defenses/gaussian.py::Gaussian" not in code.definitions
    assert not any(name.startswith(("runner/", "report/", "validate.py", "registry.py")) for name in code.definitions)
    assert {"numpy"} <= set(code.packages)


def test_what_refuses_is_left_out():
    names = set(conceal().definitions)
    assert "protocols/bias_queries.py::BiasQueries.run" in names
    assert not {f"protocols/bias_queries.py::BiasQueries.{m}" for m in ("validate", "fits", "build")} & names


def package(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "plug" / "__init__.py").touch()


def code(folder: Path, module: str = "plug.attack", name: str = "Attack") -> dict:
    """Return the code of a plug-in as another process, in which it has never been read, sees it."""
    script = (
        "import json; from fairpriv.stamps.closure import code_of;"
        f"c = code_of((({module!r}, {name!r}),)); print(json.dumps([c.digest, c.definitions, c.packages]))"
    )
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True)
    return dict(zip(("digest", "definitions", "packages"), json.loads(done.stdout)))


ATTACK = "from .helper import double\n\n\nclass Attack:\n    def run(self):\n        return double(1)\n"
HELPER = """
import scipy

FACTOR = 2


def double(x):
    return scipy.special.expit(x) * FACTOR


def unused(): ...
"""


def test_a_relative_import_of_an_outside_plugin_is_seen(tmp_path):
    package(tmp_path, plug__attack=ATTACK, plug__helper=HELPER)
    first = code(tmp_path)
    assert {"plug/helper.py::double", "plug/helper.py::FACTOR"} <= set(first["definitions"])
    assert "plug/helper.py::unused" not in first["definitions"]
    assert first["packages"] == ["scipy"]
    package(tmp_path, plug__helper=HELPER.replace("FACTOR = 2", "FACTOR = 3"))
    second = code(tmp_path)
    assert second["digest"] != first["digest"]
    assert changed(first["definitions"], second["definitions"]) == ["plug/helper.py::FACTOR changed"]
    package(tmp_path, plug__helper=HELPER.replace("def unused(): ...", "def unused(): return 1"))
    assert code(tmp_path)["digest"] == first["digest"]


def test_a_move_to_another_file_keeps_the_digest_and_a_swap_does_not(tmp_path):
    package(tmp_path, plug__attack=ATTACK, plug__helper=HELPER)
    first = code(tmp_path)
    package(tmp_path, plug__attack=ATTACK.replace(".helper", ".deep.other"), plug__deep__other=HELPER)
    (tmp_path / "plug/deep/__init__.py").touch()
    moved = code(tmp_path)
    assert moved["digest"] == first["digest"]
    assert changed(first["definitions"], moved["definitions"]) == []
    two = "from . import a, b\n\n\nclass Attack:\n    def run(self):\n        return a.f(), b.f()\n"
    package(tmp_path, plug__attack=two, plug__a="def f(): return 1\n", plug__b="def f(): return 2\n")
    before = code(tmp_path)
    package(tmp_path, plug__a="def f(): return 2\n", plug__b="def f(): return 1\n")
    assert code(tmp_path)["digest"] != before["digest"]


def test_the_same_name_for_another_package_counts(tmp_path):
    package(tmp_path, plug__attack="import numpy as np\n\n\nclass Attack:\n    def run(self):\n        return np.sum\n")
    first = code(tmp_path)
    package(
        tmp_path, plug__attack="import pandas as np\n\n\nclass Attack:\n    def run(self):\n        return np.sum\n"
    )
    assert code(tmp_path)["digest"] != first["digest"]


TRACE = """
import json, sys
from pathlib import Path
import fairpriv
from fairpriv import config
from fairpriv.runner.driver import tasks_of
from fairpriv.runner.work import perform
from fairpriv.errors import DataUnavailable
from fairpriv.registry import build

root = str(Path(fairpriv.__file__).parent)
config.start()
plan = config.plan([f"experiment={sys.argv[1]}", "profile=smoke"])
protocol = build("protocols", plan.protocol)
seen, entered = set(), {}


def profile(frame, event, arg):
    code = frame.f_code
    if event == "call" and code not in seen:
        seen.add(code)
        if code.co_filename.startswith(root):
            entered[code.co_filename, code.co_firstlineno] = code.co_name


def runnable(cell):
    from fairpriv import datasets
    try:
        protocol.validate(cell)
        if "dataset" not in cell.plugins:  # an audit has none
            return True
        params = dict(cell.plugins["dataset"])
        return datasets.sums_at_hand(params.pop("name"), params) is not None
    except DataUnavailable:
        return False


cells = [cell for cell in plan.cells if runnable(cell)]
found = []
for task in tasks_of(cells, set(range(len(cells)))):
    entered.clear(), seen.clear()
    sys.setprofile(profile)
    results = perform(task)
    sys.setprofile(None)
    assert all(r.metrics is not None for r in results), results[0].traceback
    found.append([task.cells[0].identity, [c.identity for c in task.cells], [[*k, v] for k, v in entered.items()]])
print(json.dumps(found))
"""


def definition_at(path: str, line: int) -> str | None:
    """Return the name of the module-level definition (or method) that a line is in."""
    import ast

    def inside(node):
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        return first <= line <= node.end_lineno

    for node in ast.parse(Path(path).read_text()).body:
        if inside(node):
            if isinstance(node, ast.ClassDef):
                inner = [n.name for n in node.body if isinstance(n, ast.FunctionDef) and inside(n)]
                return f"{node.name}.{inner[0]}" if inner else node.name
            return getattr(node, "name", None) or ast.unparse(getattr(node, "target", None) or node.targets[0])
    return None


LONG = ("maad_private", "information_obfuscation", "attack_defense_matrix")  # a minute each when traced


@pytest.mark.data
@pytest.mark.parametrize(
    "experiment", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in EXPERIMENTS]
)
def test_nothing_that_a_smoke_run_enters_is_missing_from_the_closure(experiment):
    config.start()  # whatever conf/ another test pointed at
    plan = config.plan([f"experiment={experiment}", "profile=smoke"])
    try:
        if params := dict(plan.cells[0].plugins.get("dataset", {})):  # an audit needs no data
            datasets.sums(params.pop("name"), params)
    except DataUnavailable as error:
        pytest.skip(str(error))
    done = subprocess.run([sys.executable, "-c", TRACE, experiment], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found
    by_identity = {cell.identity: cell for cell in plan.cells}
    total = 0
    for _, identities, entered in found:
        reached = set().union(*(code_behind(by_identity[i]).definitions for i in identities))
        for path, line, name in entered:
            module = module_of(path)
            if (name == "<module>" and line == 1) or module.startswith(NEUTRAL):
                continue
            where = definition_at(path, line)
            assert where is None or label((module, where)) in reached, f"{module}::{where} ({name}, line {line})"
            total += 1
    assert total > 10


def module_of(path: str) -> str:
    import fairpriv

    parts = Path(path).relative_to(Path(fairpriv.__file__).parents[1]).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_always_reached_places_exist():
    for module, name in ALWAYS:
        assert find_module(module) is not None
        assert name.split(".")[0] in find_module(module).read_text()
