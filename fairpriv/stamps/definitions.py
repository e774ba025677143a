"""The definitions of a module as its source says: one hash each, and the names each refers to.

Only what can change a result counts: comments, docstrings, annotations, declarations of abstract methods, names of
plug-ins, what is said of a parameter, the words of errors and the bounds of checks do not. The hashes are equal on
Python 3.11, 3.12 and 3.13, whose syntax trees are not.
"""

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Calls into these say what is refused and where bytes come from (which are summed); their arguments change no result.
SPOKEN = ("fairpriv.validate", "fairpriv.errors", "fairpriv.datasets.sources")
# Fields of a syntax tree that differ between versions of Python, or only say what a reader or a type checker wants.
_UNREAD_FIELDS = frozenset({"annotation", "returns", "ctx", "kind", "type_comment", "type_params"})
# class attributes by which a plug-in is found, cited, refused or fetched
_NAMING = frozenset({"name", "kind", "paper", "accepts", "later", "least_rows", "files", "presented_by"})
_NEUTRAL_NAMES = frozenset({"__all__", "__version__"})
REST = "<module>"  # what a module does when it is imported, besides defining names

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Import:
    """What an imported name stands for: a module, or a name in a module."""

    module: str
    name: str | None = None


@dataclass
class Definition:
    """One function, method, class header or constant: the text that is hashed, and the dotted names it refers to."""

    text: str = ""
    names: set[tuple[str, ...]] = field(default_factory=set)
    imports: dict[str, Import] = field(default_factory=dict)  # made inside a function
    methods: tuple[str, ...] = ()  # of a class
    bases: tuple[tuple[str, ...], ...] = ()

    @property
    def hash(self) -> str:
        """Return the hash of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


@dataclass
class Module:
    """A module's definitions and the names it imports."""

    name: str
    path: Path
    definitions: dict[str, Definition] = field(default_factory=dict)
    imports: dict[str, Import] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)


def chain_of(node: ast.AST) -> tuple[str, ...] | None:
    """Return ("a", "b", "c") for the expression a.b.c, None for any other."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else None


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Import]]:
    """Give (bound name, what it stands for); a relative import is made absolute."""
    if isinstance(node, ast.Import):
        for alias in node.names:  # `import a.b` binds a, `import a.b as c` binds a.b
            top = alias.name.split(".")[0]
            yield (alias.asname, Import(alias.name)) if alias.asname else (top, Import(top))
        return
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - (node.level - 1)]
        base = ".".join([*above, *([base] if base else [])])
    for alias in node.names:
        yield alias.asname or alias.name, Import(base, alias.name)


class _Names(ast.NodeVisitor):
    """Collects the dotted names that a piece of code takes from outside itself, and its own imports."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.found: set[tuple[str, ...]] = set()
        self.imports: dict[str, Import] = {}
        self.bound: list[set[str]] = []

    def _add(self, chain: tuple[str, ...]) -> None:
        if not any(chain[0] in names for names in self.bound):
            self.found.add(chain)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain = chain_of(node)
        if chain is None:
            self.generic_visit(node)
        else:
            self._add(chain)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._add((node.id,))

    def visit_Import(self, node: ast.Import) -> None:
        self.imports |= dict(_imported(node, self.package))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imports |= dict(_imported(node, self.package))

    def visit_arg(self, node: ast.arg) -> None:
        """Pass over a parameter's annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        self.visit(node.target)

    def _scope(self, outside: list[ast.AST], names: set[str], inside: list[ast.AST]) -> None:
        for node in outside:
            self.visit(node)
        self.bound.append(names)
        for node in inside:
            self.visit(node)
        self.bound.pop()

    def _function(self, node: Function | ast.Lambda) -> None:
        args = node.args
        outside = [*args.defaults, *(d for d in args.kw_defaults if d), *getattr(node, "decorator_list", [])]
        names = {a.arg for a in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg] if a}
        body = node.body if isinstance(node.body, list) else [node.body]
        self._scope(outside, names | _assigned(body), body)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def _comprehension(self, node: ast.AST) -> None:
        names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inside = [*parts, *(g.iter for g in node.generators[1:]), *(i for g in node.generators for i in g.ifs)]
        self._scope([node.generators[0].iter], names, inside)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def _assigned(body: list[ast.AST]) -> set[str]:
    """Return the names a function's body binds itself (not by import), leaving nested scopes out."""
    names: set[str] = set()
    free: set[str] = set()
    todo = list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            # only := reaches out of these
            names |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            free |= set(node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
        todo.extend(ast.iter_child_nodes(node))
    return names - free


class _Text:
    """Writes a syntax tree as text: the same on every Python, without what does not count."""

    def __init__(self, spoken: set[str]) -> None:
        self.spoken = spoken  # local names of modules and functions whose calls do not count

    def _is_spoken(self, node: ast.AST) -> bool:
        chain = chain_of(node.func) if isinstance(node, ast.Call) else None
        return chain is not None and chain[0] in self.spoken

    def _body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        kept = []
        for node in body:
            words = isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or self._is_spoken(node.value))
            if not words and not isinstance(node, ast.Import | ast.ImportFrom):
                kept.append(node)
        return kept or [ast.Pass()]

    def __call__(self, value: object) -> str:
        if isinstance(value, list):
            return "[" + ",".join(map(self, value)) + "]"
        if not isinstance(value, ast.AST):
            return repr(value)
        if self._is_spoken(value):
            return "Spoken"
        if isinstance(value, ast.JoinedStr):
            return f"JoinedStr({self._joined(value)})"
        parts = []
        for name, child in ast.iter_fields(value):
            if name in _UNREAD_FIELDS or child is None or child == []:
                continue
            if name in ("body", "orelse", "finalbody") and isinstance(child, list):
                child = self._body(child)
            parts.append(f"{name}={self(child)}")
        if isinstance(value, ast.AnnAssign) and _is_class_variable(value.annotation):
            parts.append("ClassVar")  # decides whether a dataclass takes it for a parameter
        return f"{type(value).__name__}({','.join(parts)})"

    def _joined(self, node: ast.JoinedStr) -> str:
        """Write an f-string; neighbouring constants, which versions split differently, are put together."""
        parts: list[str] = []
        text = ""
        for value in node.values:
            if isinstance(value, ast.Constant):
                text += str(value.value)
                continue
            parts += [repr(text)] if text else []
            text = ""
            parts.append(self(value))
        return ",".join(parts + ([repr(text)] if text else []))


def _is_class_variable(annotation: ast.AST) -> bool:
    outer = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    chain = chain_of(outer)
    return chain is not None and chain[-1] == "ClassVar"


def _targets(node: ast.stmt) -> list[str]:
    """Return the names a module-level assignment defines; none where it sets something else."""
    if isinstance(node, ast.Assign):
        found = [n for t in node.targets for n in ([t] if not isinstance(t, ast.Tuple | ast.List) else t.elts)]
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        found = [node.target]
    else:
        return []
    return [n.id for n in found if isinstance(n, ast.Name)] if all(isinstance(n, ast.Name) for n in found) else []


class _Reader:
    """Reads one module's statements into definitions."""

    def __init__(self, module: Module, package: str) -> None:
        self.module, self.package = module, package

    def _define(self, name: str, node: ast.AST, **more: object) -> None:
        names = _Names(self.package)
        names.visit(node)
        known = self.module.definitions.setdefault(name, Definition(**more))
        local = self.module.imports | names.imports
        spoken = {n for n, i in local.items() if _dotted(i).startswith(SPOKEN)}
        known.text += _Text(spoken)(node) + "\n"
        known.names |= names.found
        known.imports |= names.imports

    def imports(self, body: list[ast.stmt]) -> None:
        """Take in the imports first: a definition may stand above one that it needs."""
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                for bound, target in _imported(node, self.package):
                    if bound == "*":
                        self.module.stars.append(target.module)
                    else:
                        self.module.imports[bound] = target
            elif isinstance(node, ast.If | ast.Try | ast.With):
                self.imports(_inner(node))

    def read(self, body: list[ast.stmt]) -> None:
        """Take in the statements."""
        for node in body:
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
                continue
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._define(node.name, node)
            elif isinstance(node, ast.ClassDef):
                self._class(node)
            elif targets := _targets(node):
                for name in targets:
                    if name not in _NEUTRAL_NAMES:
                        self._define(name, node)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            elif isinstance(node, ast.If | ast.Try | ast.With) and not _is_main(node):
                self.read(_inner(node))
                if any(not isinstance(n, ast.Import | ast.ImportFrom | ast.Pass) for n in _inner(node)):
                    self._define(REST, node)
            elif not _is_main(node):
                self._define(REST, node)

    def _parameter(self, node: ast.stmt) -> ast.stmt:
        """Return a parameter without what is said of it: `param(1, "...")` is 1, and a field's metadata is dropped."""
        value = node.value if isinstance(node, ast.AnnAssign) else None
        chain = chain_of(value.func) if isinstance(value, ast.Call) else None
        target = self.module.imports.get(chain[0]) if chain else None
        if target == Import("fairpriv.registry", "param"):
            given = value.args[0]
            value = None if isinstance(given, ast.Constant) and given.value is ... else given
        elif target == Import("dataclasses", "field"):
            value = ast.Call(value.func, value.args, [k for k in value.keywords if k.arg != "metadata"])
        else:
            return node
        return ast.AnnAssign(node.target, node.annotation, value, node.simple)

    def _class(self, node: ast.ClassDef) -> None:
        body = [n for n in node.body if not _is_declaration(n)]
        functions = [n for n in body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        header = [self._parameter(n) for n in body if n not in functions and not set(_targets(n)) & _NAMING]
        for function in functions:
            self._define(f"{node.name}.{function.name}", function)
        bare = ast.ClassDef(node.name, node.bases, node.keywords, header, node.decorator_list)
        methods = tuple(dict.fromkeys(f.name for f in functions))
        bases = tuple(chain for base in node.bases if (chain := chain_of(base)))
        self._define(node.name, bare, methods=methods, bases=bases)


def _is_declaration(node: ast.stmt) -> bool:
    """Say whether a method is declared only (`@abstractmethod`, nothing but words and a refusal)."""
    if not isinstance(node, ast.FunctionDef) or "abstractmethod" not in map(ast.unparse, node.decorator_list):
        return False
    said = [n for n in node.body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]
    return [ast.unparse(n) for n in said] in ([], ["raise NotImplementedError"])


def _inner(node: ast.stmt) -> list[ast.stmt]:
    found = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
    return found + [n for h in getattr(node, "handlers", []) for n in h.body]


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "__main__" in ast.unparse(node.test)


def _dotted(target: Import) -> str:
    return target.module if target.name is None else f"{target.module}.{target.name}"


def read_module(name: str, path: Path) -> Module:
    """Read the definitions of a module's source file."""
    tree = ast.parse(path.read_bytes())
    module = Module(name, path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    reader = _Reader(module, package)
    reader.imports(tree.body)
    reader.read(tree.body)
    return module
