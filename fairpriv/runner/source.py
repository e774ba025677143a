"""The source of a plug-in: its module and every fairpriv module it imports, so that a change reruns what it touches."""

import ast
import hashlib
import importlib.util
from functools import cache
from pathlib import Path

# What is made of the rows afterwards does not change the rows.
_PRESENTATION = {"tables", "figures", "checks"}


def _strip(tree: ast.AST) -> None:
    """Drop what does not change a cell: docstrings, and a protocol's methods that present its rows."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            kept = [n for n in node.body if not (isinstance(n, ast.FunctionDef) and n.name in _PRESENTATION)]
            node.body = kept or [ast.Pass()]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]


@cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """Return (hash of a module's code, the fairpriv modules it imports)."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return "", frozenset()
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    _strip(tree)
    imports = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            imports |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    root = module.split(".")[0]
    own = {name for name in imports if name.split(".")[0] in {"fairpriv", root} and _is_module(name)}
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), frozenset(own)


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ModuleNotFoundError, AttributeError, ValueError):
        return False


# How cells are run, shown and named is not what they compute.
_NEUTRAL = ("fairpriv.runner", "fairpriv.report", "fairpriv.registry", "fairpriv.errors", "fairpriv.cli")


@cache
def _closure(module: str) -> frozenset[str]:
    seen, todo = set(), [module]
    while todo:
        name = todo.pop()
        if name in seen or name.startswith(_NEUTRAL):
            continue
        seen.add(name)
        todo.extend(_read(name)[1])
    return frozenset(seen)


def source_sha256(*modules: str) -> str:
    """Return the sum over the code of these modules and of all fairpriv modules they import."""
    names = sorted(frozenset().union(*(_closure(m) for m in modules)))
    return hashlib.sha256("".join(f"{n}:{_read(n)[0]};" for n in names).encode()).hexdigest()
