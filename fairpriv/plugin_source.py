"""Plug-ins as their source tells of them: importing one may bring scikit-learn or jax, and take seconds.

A reader here answers None where the source does not tell (a name that is not written in the class, a default that is
computed, an import that cannot be found): whoever asks then imports the plug-in, and meets its error if there is one.
"""

import ast
import importlib.util
import inspect
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fairpriv.stamps.closure import find_module
from fairpriv.stamps.definitions import chain_of

_EMPTY: dict[str, Any] = {"dict": {}, "list": [], "tuple": ()}  # default_factory=...


@dataclass(frozen=True)
class Told:
    """What the source of a plug-in tells; a parameter that must be given is `...`."""

    name: str
    paper: str
    about: str
    parameters: dict[str, Any]


class _Untold(Exception):
    """The source does not say it in so many words."""


def read(module: str) -> Told | None:
    """Return what a module tells of the one plug-in it holds; None where it does not."""
    try:
        tree = _tree(module)
        found = [n for n in tree.body if isinstance(n, ast.ClassDef) and _is_registered(n)]
        if len(found) != 1 or not all(map(_is_there, tree.body)):
            return None
        said = _constants(found[0])
        about = inspect.cleandoc(ast.get_docstring(found[0]) or "")
        return Told(said["name"], said.get("paper", ""), about, _parameters(module, found[0]))
    except (_Untold, KeyError):
        return None


@cache
def _tree(module: str) -> ast.Module:
    path = find_module(module)
    if path is None:
        raise _Untold
    try:
        return ast.parse(Path(path).read_bytes())
    except (SyntaxError, ValueError, OSError) as error:
        raise _Untold from error


def _is_registered(node: ast.ClassDef) -> bool:
    return any((chain_of(decorator) or ("",))[-1] == "register" for decorator in node.decorator_list)


def _constants(node: ast.ClassDef) -> dict[str, Any]:
    """Return the class attributes that are written as plain values."""
    lines = [n for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.value, ast.Constant)]
    return {ast.unparse(n.target): n.value.value for n in lines if isinstance(n.value, ast.Constant)}


def _is_there(node: ast.stmt) -> bool:
    """Say whether what an import names can be found."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        modules = [node.module]
    else:
        return True
    return all(
        find_module(m) is not None
        if m.startswith("fairpriv.")
        else importlib.util.find_spec(m.split(".")[0]) is not None
        for m in modules
    )


def _parameters(module: str, node: ast.ClassDef) -> dict[str, Any]:
    """Return the fields of a dataclass with their defaults, those of its bases first, as dataclasses has them."""
    found: dict[str, Any] = {}
    for base in reversed(node.bases):
        found |= _parameters(*_class(module, base))
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line.annotation):
            name = ast.unparse(line.target)
            found[name] = ... if line.value is None else _default(line.value)
    return found


def _class(module: str, base: ast.expr) -> tuple[str, ast.ClassDef]:
    """Find a base class: in the same module, or in the one it is imported from."""
    if not isinstance(base, ast.Name):
        raise _Untold
    for node in _tree(module).body:
        if isinstance(node, ast.ClassDef) and node.name == base.id:
            return module, node
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == base.id:
                    return _class(node.module, ast.Name(alias.name))
    raise _Untold


def _default(node: ast.expr) -> Any:
    """Return the default that an expression stands for: a value, `later(value)`, or a field with one or a factory."""
    if isinstance(node, ast.Call) and chain_of(node.func) == ("float",):
        return float(ast.literal_eval(node.args[0]))
    if isinstance(node, ast.Call):
        said = {k.arg: k.value for k in node.keywords}
        if "default_factory" in said:
            factory = said["default_factory"]
            if isinstance(factory, ast.Lambda):
                return _default(factory.body)
            return _EMPTY[ast.unparse(factory)]
        if "init" in said:
            raise _Untold
        value = said.get("default", node.args[0] if node.args else None)
        return ... if value is None else _default(value)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise _Untold from error
