"""Who may import whom: the import graph, read off the source, has no cycle between packages and no upward import."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import fairpriv

ROOT = Path(fairpriv.__file__).parent
# From the ground up. What stands in a line knows only the lines above it, and nobody beside itself.
LAYERS = (
    ("errors", "paths", "seeds", "strict_json", "cvxpy_quiet", "jax_cpu", "yaml_files"),
    ("validate", "registry"),
    ("cells", "datasets", "metrics"),
    ("mechanisms", "stamps"),
    ("defenses", "plugin_source"),
    ("models", "desk"),  # the desk answers by a defense ...
    ("attacks", "audits"),  # ... and an attack asks it
    ("protocols", "config"),
    ("report",),
    ("runner", "listing"),
    ("api", "assessment", "shown", "skeletons"),
    ("cli",),
    ("fairpriv", "__main__"),  # the public names
)


def module_of(path: Path) -> str:
    return ".".join(("fairpriv", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_of(path): path for path in ROOT.rglob("*.py")}


def executed(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, but for what is there for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield child
            yield from executed(child)


def imported(path: Path) -> Iterator[str]:
    """Give the modules of ours that a file imports, wherever in it; a name in a package may itself be a module."""
    for node in executed(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in MODULES or (node.module in MODULES and whole != "fairpriv.__version__"):
                    yield whole if whole in MODULES else node.module


def package(module: str, depth: int) -> str:
    """Return the package that a module is in, so deep; a module directly in fairpriv/ is one by itself."""
    parts = module.split(".")
    folder = parts if MODULES[module].name == "__init__.py" or len(parts) == 2 else parts[:-1]
    return ".".join(folder[1 : depth + 1]) or "fairpriv"


def graph(depth: int) -> dict[str, set[str]]:
    """Return which packages each package imports from, so deep."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, path in MODULES.items():
        here = package(module, depth)
        found[here] |= {package(name, depth) for name in imported(path)} - {here}
    return found


def test_no_package_imports_from_its_own_layer_or_one_above():
    layer = {name: number for number, names in enumerate(LAYERS) for name in names}
    found = graph(depth=1)
    assert set(found) <= set(layer), "a package without a layer"
    assert [(a, b) for a in found for b in sorted(found[a]) if layer[b] >= layer[a]] == []


def test_families_within_a_package_import_each_other_in_one_direction():
    below = {a: {b for b in others if "." in b} for a, others in graph(depth=2).items() if "." in a}
    assert "defenses.query" in below
    TopologicalSorter(below).prepare()  # raises CycleError, naming the cycle


def test_the_graph_sees_an_import_inside_a_function():
    assert "defenses" in graph(depth=1)["models"]  # models/mlp.py imports its networks when it trains
