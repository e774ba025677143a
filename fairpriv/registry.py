"""Plug-ins: one file, one class, registered by decorator and found by name.

The file `<name>.py` in `fairpriv/<kind>/`, or in any folder below it, holds the plug-in `<name>`. A package from
outside brings its own through an entry point of the group `fairpriv.<kind>`. A plug-in that does not import is listed
with its error and breaks nothing else.
"""

import importlib
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

from fairpriv.errors import BadRequest, FairprivError, unknown

if TYPE_CHECKING:
    from fairpriv.protocols.base import Protocol

KINDS = ("datasets", "attacks", "defenses", "models", "protocols")


@dataclass(frozen=True)
class Plugin:
    """Base of every plug-in: frozen, validated parameters, and where it comes from.

    `paper` is "key, section", or "" for our own. `later` names parameters that are no part of what a cell is while at
    their default: those that came after results were made, and those that an experiment's own axis gives.
    """

    kind: ClassVar[str]
    name: ClassVar[str]
    paper: ClassVar[str] = ""
    later: ClassVar[Collection[str]] = ()


_P = TypeVar("_P", bound=Plugin)
_registered: dict[str, dict[str, type[Plugin]]] = {kind: {} for kind in KINDS}


def register(cls: type[_P]) -> type[_P]:
    """Register a plug-in class under its `kind` and `name` (both class attributes).

    Examples
    --------
    A class is decorated with it; a second one of the same kind and name is refused:

    >>> from fairpriv import QueryDefense, register
    >>> from fairpriv.registry import find
    >>> find("defenses", "laplace").name
    'laplace'
    >>> @register
    ... class Another(QueryDefense):
    ...     name = "laplace"
    Traceback (most recent call last):
    ValueError: two defenses are called 'laplace': fairpriv.defenses.query.laplace and __main__
    """
    known = _registered[cls.kind].get(cls.name)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(f"two {cls.kind} are called {cls.name!r}: {known.__module__} and {cls.__module__}")
    _registered[cls.kind][cls.name] = cls
    return cls


@cache
def outside(kind: str) -> dict[str, str]:
    """Return the plug-ins that other packages bring: name -> module to import."""
    return {e.name: e.module for e in entry_points(group=f"fairpriv.{kind}")}


@cache
def places(kind: str) -> dict[str, tuple[str, ...]]:
    """Where each plug-in of a kind is: name -> modules to import (several only where two files have the same name).

    A file is taken for a plug-in where it speaks of `@register`: helpers beside the plug-ins are not imported for it.
    """
    root = Path(__file__).parent / kind
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(root.rglob("*.py")):
        if not path.stem.startswith("_") and "@register" in path.read_text(encoding="utf-8", errors="replace"):
            module = ".".join(("fairpriv", kind, *path.relative_to(root).with_suffix("").parts))
            found[path.stem] = (*found.get(path.stem, ()), module)
    return found | {name: (module,) for name, module in outside(kind).items()}


def registered(kind: str) -> list[type[Plugin]]:
    """List the plug-in classes of a kind that have been imported."""
    return list(_registered[kind].values())


def candidates(kind: str) -> list[str]:
    """List the names under which plug-ins of a kind may be found, without importing any."""
    return sorted(places(kind))


def load(kind: str, name: str) -> Exception | None:
    """Import a plug-in; return what went wrong, if anything did."""
    try:
        for module in places(kind)[name]:
            importlib.import_module(module)
    except Exception as error:  # a broken plug-in is reported by whoever asked for it, not hidden
        return error
    return None


@overload
def find(kind: Literal["protocols"], name: str) -> "type[Protocol]": ...
@overload
def find(kind: str, name: str) -> type[Plugin]: ...
def find(kind: str, name: str) -> type[Plugin]:
    """Return the plug-in class of this name, or refuse with the closest names."""
    if name not in _registered[kind]:
        error = load(kind, name) if name in places(kind) else None
        if error is not None:
            said = " ".join(str(error).split())
            raise BadRequest(f"{kind[:-1]} {name!r} does not import: {type(error).__name__}: {said}") from error
        if name not in _registered[kind]:
            raise unknown(kind[:-1], name, names(kind)[0])
    return _registered[kind][name]


def names(kind: str) -> tuple[list[str], dict[str, Exception]]:
    """List the plug-ins of a kind, and the broken ones with their import error."""
    broken = {}
    for name in places(kind):
        if (error := load(kind, name)) is not None:
            broken[name] = error
    return sorted(_registered[kind]), broken


def parameters(cls: type[Plugin]) -> dict[str, Any]:
    """Return the parameters of a plug-in with their defaults (`...` where it must be given)."""
    found: dict[str, Any] = {}
    for f in fields(cls):
        if f.init and f.default_factory is not MISSING:
            found[f.name] = f.default_factory()
        elif f.init:
            found[f.name] = ... if f.default is MISSING else f.default
    return found


SIGNS = {"above": ">", "at_least": ">=", "below": "<", "at_most": "<="}


def meaning(
    about: str, choices: Iterable[Any] | Callable[[type], Iterable[Any]] = (), **bounds: float
) -> dict[str, Any]:
    """Return the metadata of a field that is a parameter: what it is, and which values it takes.

    `choices` may be a function of the plug-in's class; `bounds` are above, at_least, below and at_most, as in
    `fairpriv.validate`.
    """
    limits = ", ".join(f"{SIGNS[bound]} {value:g}" for bound, value in bounds.items())
    return {"about": about} | ({"takes": choices or limits} if choices or limits else {})


def param(default: Any, about: str, **takes: Any) -> Any:
    """Declare a parameter of a plug-in: its default (`...` where it must be given), and its `meaning`.

    The class checks what it is given in its `__post_init__`; what is said here is what `fairpriv show` prints.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Shifted:
    ...     by: float = param(0.5, "how far answers are moved", at_least=0)
    >>> described(Shifted)["by"]
    {'default': 0.5, 'type': 'float', 'takes': '>= 0', 'about': 'how far answers are moved'}
    """
    given = {} if default is ... else {"default": default}
    return field(metadata=meaning(about, **takes), **given)


def described(cls: type[Plugin]) -> dict[str, dict[str, Any]]:
    """Return the parameters of a plug-in with default, type, the values each takes, and what it is.

    What a class does not say of a parameter, the class above it says.
    """
    out = {}
    for name, default in parameters(cls).items():
        declared = [f for base in reversed(cls.__mro__) if is_dataclass(base) for f in fields(base) if f.name == name]
        said = {key: value for f in declared for key, value in f.metadata.items()}
        kind = inspect.formatannotation(declared[-1].type).replace("collections.abc.", "").replace("typing.", "")
        takes = said.get("takes", "")
        choices = takes(cls) if callable(takes) else takes
        takes = choices if isinstance(choices, str) else " | ".join(map(str, choices))
        out[name] = {"default": default, "type": kind, "takes": takes, "about": said.get("about", "")}
    return out


def essential(cls: type[Plugin], params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that make a cell what it is: those named in `later` only where they are not the default."""
    defaults = parameters(cls)
    return {k: v for k, v in params.items() if k not in cls.later or v != defaults[k]}


@overload
def build(kind: Literal["protocols"], name: str, params: Mapping[str, Any] | None = None) -> "Protocol": ...
@overload
def build(kind: str, name: str, params: Mapping[str, Any] | None = None) -> Any: ...
def build(kind: str, name: str, params: Mapping[str, Any] | None = None) -> Any:
    """Make a plug-in from its name and parameters; unknown or missing parameters are refused."""
    cls, params = find(kind, name), dict(params or {})
    allowed = parameters(cls)
    for key in params:
        if key not in allowed:
            raise unknown(f"parameter of {kind[:-1]} {name}", key, allowed)
    for key, default in allowed.items():
        if default is ... and params.get(key) is None:
            raise BadRequest(f"{kind[:-1]} {name} needs {key}")
    try:
        return cls(**params)
    except FairprivError:
        raise
    except Exception as error:  # a value of a kind its own checks did not think of
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadRequest(f"{kind[:-1]} {name} does not take these parameters ({said})") from error


def summary(cls: type[Plugin]) -> str:
    """Return the first line of a plug-in's docstring."""
    return (inspect.getdoc(cls) or "").split("\n", 1)[0]
