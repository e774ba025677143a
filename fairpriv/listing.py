"""What `fairpriv list` says of plug-ins, read off their source: importing all of them takes seconds.

A plug-in is imported where the source does not tell: one brought by another package, one whose name is not written in
its class, and one that would not import, whose error is then shown.
"""

import ast
import importlib.util
import inspect
from pathlib import Path

from fairpriv import registry
from fairpriv.stamps.closure import find_module

Row = dict[str, str]


def rows(kind: str) -> list[Row]:
    """Return name, paper and summary of every plug-in of a kind, broken ones last with their import error."""
    whole: list[Row] = []
    broken: list[Row] = []
    for name, modules in registry.places(kind).items():
        read = [_read(module) for module in modules]
        if name not in registry.outside(kind) and all(read):
            whole += [row for row in read if row]
            continue
        error = registry.load(kind, name)
        if error is not None:
            broken.append({"name": name, "paper": "", "about": f"BROKEN: {type(error).__name__}: {error}"})
        else:
            whole += [_imported(cls) for cls in registry.registered(kind) if cls.__module__ in modules]
    return sorted(whole, key=lambda row: row["name"]) + broken


def _imported(cls: type) -> Row:
    return {"name": cls.name, "paper": cls.paper, "about": registry.summary(cls)}


def _read(module: str) -> Row | None:
    """Return the row of a module's plug-in; None where its source does not tell, or it could not be imported."""
    path = find_module(module)
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (SyntaxError, ValueError, OSError, TypeError):
        return None
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and _is_registered(n)]
    if len(classes) != 1 or not all(map(_is_there, tree.body)):
        return None
    said = {"paper": "", "about": (inspect.cleandoc(ast.get_docstring(classes[0]) or "")).split("\n", 1)[0]}
    for node in classes[0].body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant):
            said[ast.unparse(node.target)] = node.value.value
    return {key: said[key] for key in ("name", "paper", "about")} if "name" in said else None


def _is_registered(node: ast.ClassDef) -> bool:
    return any(ast.unparse(decorator).endswith("register") for decorator in node.decorator_list)


def _is_there(node: ast.stmt) -> bool:
    """Say whether what an import names can be found."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level:
        modules = [node.module]
    else:
        return True
    return all(
        find_module(m) is not None
        if m.startswith("fairpriv.")
        else importlib.util.find_spec(m.split(".")[0]) is not None
        for m in modules
    )
