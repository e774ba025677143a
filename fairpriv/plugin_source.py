"""Plug-ins as their source tells of them: importing one may bring scikit-learn or jax, and take seconds.

A reader here answers None where the source does not tell (a name that is not written in the class, a default that is
computed, an import that cannot be found): whoever asks then imports the plug-in, and meets its error if there is one.
"""

import ast
import importlib.util
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from fairpriv.registry import SIGNS
from fairpriv.stamps.closure import find_module
from fairpriv.stamps.definitions import chain_of

Described = dict[str, Any]  # default (`...` where it must be given), type, the values it takes, what it is
_EMPTY: dict[str, Any] = {"dict": {}, "list": [], "tuple": ()}  # default_factory=...


@dataclass(frozen=True)
class Told:
    """What the source of a plug-in tells of it."""

    name: str
    paper: str
    about: str


class _Untold(Exception):
    """The source does not say it in so many words."""


def read(module: str) -> Told | None:
    """Return what a module tells of the one plug-in it holds; None where it does not."""
    try:
        node = _registered(module)
        said = _constants(node)
        return Told(said["name"], said.get("paper", ""), inspect.cleandoc(ast.get_docstring(node) or ""))
    except (_Untold, KeyError):
        return None


def described(module: str) -> dict[str, Described] | None:
    """Return the parameters of the one plug-in that a module holds, as `registry.described` does; None if untold."""
    try:
        leaf = module, _registered(module)
        return _described(*leaf, leaf)
    except _Untold:
        return None


def _registered(module: str) -> ast.ClassDef:
    tree = _tree(module)
    found = [n for n in tree.body if isinstance(n, ast.ClassDef) and _is_registered(n)]
    if len(found) != 1 or not all(map(_is_there, tree.body)):
        raise _Untold
    return found[0]


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


def _described(module: str, node: ast.ClassDef, leaf: tuple[str, ast.ClassDef]) -> dict[str, Described]:
    """Return the fields of a class above `leaf`, its bases' first; what it does not say of one, its base says."""
    found: dict[str, Described] = {}
    for base in reversed(node.bases):
        found |= _described(*_class(module, base), leaf)
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and "ClassVar" not in ast.unparse(line.annotation):
            name = ast.unparse(line.target)
            said = found.get(name, {"takes": "", "about": ""}) | _meaning(module, leaf, line.value)
            default = ... if line.value is None else _default(line.value)
            found[name] = {"default": default, "type": ast.unparse(line.annotation)} | {
                key: said[key] for key in ("takes", "about")
            }
    return found


def _meaning(module: str, leaf: tuple[str, ast.ClassDef], value: ast.expr | None) -> dict[str, str]:
    """Return what a field's `param(default, about, ...)` or `metadata=meaning(about, ...)` says of it."""
    if not isinstance(value, ast.Call):
        return {}
    said = {k.arg: k.value for k in value.keywords}
    if chain_of(value.func) == ("param",):
        about = value.args[1]
    elif isinstance(said.get("metadata"), ast.Call):
        value = cast("ast.Call", said["metadata"])
        said, about = {k.arg: k.value for k in value.keywords}, value.args[0]
    else:
        return {}
    takes = [f"{SIGNS[bound]} {ast.literal_eval(limit):g}" for bound, limit in said.items() if bound in SIGNS]
    told = {"about": ast.literal_eval(about)} | ({"takes": ", ".join(takes)} if takes else {})
    if "choices" in said:
        told["takes"] = " | ".join(map(str, _choices(module, leaf, said["choices"])))
    return told


def _choices(module: str, leaf: tuple[str, ast.ClassDef], said: ast.expr) -> Iterable[Any]:
    """Return the values that an expression lists: written out, a constant's, a mapping's keys, an attribute's."""
    if isinstance(said, ast.Call) and chain_of(said.func) == ("tuple",):
        return _choices(module, leaf, said.args[0])
    if isinstance(said, ast.Tuple):
        parts = [_choices(module, leaf, e.value) if isinstance(e, ast.Starred) else [_value(e)] for e in said.elts]
        return [one for part in parts for one in part]
    if isinstance(said, ast.Lambda) and isinstance(said.body, ast.Attribute):
        return _attribute(*leaf, said.body.attr)
    if isinstance(said, ast.Name):
        return _constant(module, said.id)
    raise _Untold


def _attribute(module: str, node: ast.ClassDef, name: str) -> Iterable[Any]:
    """Return a class attribute that is written in the class or in one of its bases."""
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and ast.unparse(line.target) == name and line.value is not None:
            return cast("Iterable[Any]", _value(line.value))
    for base in node.bases:
        return _attribute(*_class(module, base), name)
    raise _Untold


def _constant(module: str, name: str) -> Iterable[Any]:
    """Return a constant of a module, or of the one it is imported from."""
    for line in _tree(module).body:
        if isinstance(line, ast.Assign) and [ast.unparse(t) for t in line.targets] == [name]:
            return cast("Iterable[Any]", _value(line.value))
        if isinstance(line, ast.ImportFrom) and not line.level and line.module:
            for alias in line.names:
                if (alias.asname or alias.name) == name and alias.name == name:
                    return _constant(line.module, name)
    raise _Untold


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Dict) and all(node.keys):
        return [_value(key) for key in node.keys if key]
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise _Untold from error


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
    """Return the default that an expression stands for: a value, or a parameter or field with one or a factory."""
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
        return ... if value is None or ast.unparse(value) == "..." else _default(value)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise _Untold from error
