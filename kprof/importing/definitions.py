"""Read the definitions of a Python file from its text, with the names that each one uses. Nothing is imported.

Comments, docstrings and line numbers are ignored. Statements inside top-level ``if``, ``try``, ``with`` and loop blocks
are definitions too; they include the conditions around them.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_BLOCKS = ast.If | ast.Try | ast.With | ast.For | ast.While
_OTHER_COMPILERS = frozenset({"numba", "jax", "torch", "cuda", "nb", "ti", "taichi"})
_ONLY_NAMES = frozenset({"repr"})
_OF_LAUNCHES = frozenset({"do_not_specialize", "do_not_specialize_on_alignment", "launch_metadata"})


@dataclass(frozen=True)
class Import:
    """An imported name.

    Attributes:
        module: module as written, ``a.b``; empty for ``from . import x``.
        name: name imported from the module; empty if the module itself is imported.
        level: number of leading dots.
    """

    module: str
    name: str = ""
    level: int = 0


@dataclass(frozen=True)
class Text:
    """One part of a file's syntax tree: a digest of its syntax, and the names that it uses.

    Attributes:
        digest: digest of the syntax.
        uses: names and attribute chains (``tl.load``) that it reads but does not define, in order.
    """

    digest: str
    uses: tuple[str, ...]


@dataclass(frozen=True)
class Definition:
    """The definition of one name in a file.

    Attributes:
        name: the name in the file.
        line: first line.
        text: the whole definition.
        code: for a Triton function, the parts that the compiler reads: parameters, body and options of ``jit``.
        launch: for a Triton function, the parts that describe its launch: the other decorators.
        kernels: names of Triton functions inside it, for a function or class that is not a Triton function itself.
        is_callable: True for a function or a class.
        parameters: names of a function's parameters.
        imports: names that are imported inside it.
        words: string literals in the definition.
    """

    name: str
    line: int
    text: Text
    code: Text | None = None
    launch: Text | None = None
    kernels: tuple[str, ...] = ()
    is_callable: bool = False
    parameters: tuple[str, ...] = ()
    imports: Mapping[str, Import] = field(default_factory=dict)
    words: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FileDefinitions:
    """Names that a file defines and imports.

    Attributes:
        path: path relative to the root of the repository.
        definitions: definitions by name.
        imports: names that are imported at its top level.
        stars: modules from which it imports all names.
    """

    path: str
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    imports: Mapping[str, Import] = field(default_factory=dict)
    stars: tuple[Import, ...] = ()


def read_definitions(path: str, text: str) -> FileDefinitions:
    """Read the definitions of a file.

    Raises:
        SyntaxError: the text is not Python.
        ValueError: the text contains a null byte.
        RecursionError: the code is nested too deeply.
    """
    tree = ast.parse(text)
    names: dict[str, list[tuple[ast.stmt, tuple[ast.expr, ...]]]] = {}
    found = list(_statements(tree.body, ()))
    for statement, conditions in found:
        for name in _names_of(statement):
            names.setdefault(name, []).append((statement, conditions))
    top = [statement for statement, _ in found]
    return FileDefinitions(
        path,
        {name: _definition(name, parts) for name, parts in names.items()},
        dict(_imports(top)),
        tuple(_stars(top)),
    )


def _statements(
    body: Iterable[ast.stmt], conditions: tuple[ast.expr, ...]
) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    """Yield the top-level statements of a file, each with the conditions of the ``if`` and ``while`` around it."""
    for statement in body:
        if not isinstance(statement, _BLOCKS):
            yield statement, conditions
            continue
        if isinstance(statement, ast.For):
            yield statement, conditions
        test = (*conditions, statement.test) if isinstance(statement, ast.If | ast.While) else conditions
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, part, ()), test)
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body, test)


def _names_of(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a top-level statement defines or modifies."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Assign():
            for target in statement.targets:
                yield from _roots(target)
        case ast.AnnAssign() | ast.AugAssign():
            yield from _roots(statement.target)
        case ast.For():
            changed = (each for part in statement.body for each in ast.walk(part) if isinstance(each, ast.stmt))
            yield from dict.fromkeys(
                (*_roots(statement.target), *(name for each in changed for name in _names_of(each)))
            )
        case ast.Expr(value=ast.Call(func=ast.Attribute() as called)):
            # A method call such as ``names.append(x)`` modifies the object.
            yield from _roots(called)


def _roots(target: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from _roots(each)
        return
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id


def _definition(name: str, parts: list[tuple[ast.stmt, tuple[ast.expr, ...]]]) -> Definition:
    statements = [statement for statement, _ in parts]
    nodes: list[ast.AST] = [node for statement, conditions in parts for node in (statement, *conditions)]
    triton = next((each for each in statements if isinstance(each, _FUNCTIONS) and _jit_of(each) is not None), None)
    first = statements[0]
    read = _Reader()
    text = read.text(nodes)
    code = None if triton is None else _compiled(triton) if len(statements) == 1 else text
    return Definition(
        name,
        first.lineno,
        text,
        code,
        _launched(triton) if triton is not None else None,
        () if triton is not None else tuple(_inner_kernels(statements, read.functions)),
        is_callable=isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef),
        parameters=tuple(each.arg for each in _arguments(first.args)) if isinstance(first, _FUNCTIONS) else (),
        imports=dict(_imports(read.imports)),
        words=frozenset(read.words),
    )


def _inner_kernels(
    statements: list[ast.stmt], functions: list[ast.FunctionDef | ast.AsyncFunctionDef]
) -> Iterator[str]:
    """Yield names of Triton functions that a definition creates: nested functions, or ``triton.jit(function)``."""
    yield from (each.name for each in functions if _jit_of(each) is not None)
    for statement in statements:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            calls = (each for each in ast.walk(statement.value) if isinstance(each, ast.Call))
            if any(_is_jit(each.func) for each in calls):
                yield from _names_of(statement)


def _is_jit(node: ast.expr) -> bool:
    """Return whether an expression is a ``jit`` of Triton or Gluon: any ``jit`` except that of another compiler."""
    chain = _chain(node).split(".")
    return chain[-1] == "jit" and chain[0] not in _OTHER_COMPILERS


def _jit_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    """Return the decorator that makes a function a Triton function, or None."""
    called = ((each.func if isinstance(each, ast.Call) else each, each) for each in function.decorator_list)
    return next((decorator for name, decorator in called if _is_jit(name)), None)


def _options(decorator: ast.expr | None) -> list[ast.keyword]:
    return decorator.keywords if isinstance(decorator, ast.Call) else []


def _compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Text:
    """Return the text of a function's parts that affect its compiled code, without its name and the ``repr`` option."""
    options = [each for each in _options(_jit_of(function)) if each.arg not in _ONLY_NAMES | _OF_LAUNCHES]
    bare = ast.FunctionDef(
        name="kernel",
        args=function.args,
        body=function.body,
        decorator_list=[],
        returns=function.returns,
        lineno=0,
        col_offset=0,
    )
    return _text([bare, *options], own=function.name)


def _launched(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Text:
    jit = _jit_of(function)
    others = [each for each in function.decorator_list if each is not jit]
    return _text([*others, *(each for each in _options(jit) if each.arg in _OF_LAUNCHES)])


class _Reader:
    """Reader of syntax, which collects a normalised text, used names and imports in one pass.

    Attributes:
        imports: import statements.
        functions: nested functions.
        words: string literals.
    """

    def __init__(self) -> None:
        self.imports: list[ast.AST] = []
        self.functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = []
        self.words: set[str] = set()
        self._said: list[str] = []

    def text(self, nodes: Iterable[ast.AST], own: str = "") -> Text:
        """Return a digest of syntax, with the names that it uses.

        Args:
            nodes: the syntax.
            own: name of the function itself, which does not count as used, so that renaming a function does not change
                the digest.
        """
        uses: list[str] = []
        for node in nodes:
            self._read(node, uses, set())
        digest = hashlib.sha256("\0".join(self._said).encode(errors="surrogatepass")).hexdigest()[:24]
        return Text(digest, tuple(dict.fromkeys(each for each in uses if each != own)))

    def _read(self, node: ast.AST, uses: list[str], bound: set[str]) -> None:
        """Read one node; append the names that it reads to ``uses``, and add its local names to ``bound``."""
        self._said.append(type(node).__name__)
        match node:
            case ast.Name():
                self._said.append(node.id)
                if isinstance(node.ctx, ast.Load):
                    uses.append(node.id)
                else:
                    self._said.append("=")
                    bound.add(node.id)
                return
            case ast.Constant():
                self._said.append(repr(node.value))
                if isinstance(node.value, str):
                    self.words.add(node.value)
                return
            case ast.Attribute() if chain := _chain(node):
                self._said += (chain, type(node.ctx).__name__)
                uses.append(chain)
                return
            case ast.arg():
                bound.add(node.arg)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions.append(node)
                bound.add(node.name)
            case ast.ExceptHandler() if node.name:
                bound.add(node.name)
            case ast.Import() | ast.ImportFrom():
                self.imports.append(node)
        if isinstance(node, _SCOPES):
            self._scope(node, uses)
        elif isinstance(node, ast.ClassDef):
            bound.add(node.name)
            self._fields(node, uses, set())
        elif isinstance(node, _COMPREHENSIONS):
            inner: list[str] = []
            local: set[str] = set()
            self._fields(node, inner, local)
            uses += (each for each in inner if each.partition(".")[0] not in local)
        else:
            self._fields(node, uses, bound)

    def _scope(self, scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, uses: list[str]) -> None:
        """Read a function: first the parts evaluated at its definition, then its body with local names."""
        inner: list[str] = []
        local = {each.arg for each in _arguments(scope.args)}
        self._said.append(getattr(scope, "name", ""))
        for node in _evaluated_at_definition(scope):
            self._read(node, uses, set())
        self._said.append(repr([(each.arg, each.annotation is not None) for each in _arguments(scope.args)]))
        shape = scope.args
        self._said.append(repr((len(shape.posonlyargs), len(shape.args), bool(shape.vararg), bool(shape.kwarg))))
        for node in _inside(scope):
            self._statement(node, inner, local)
        local -= {name for node in _inside(scope) if isinstance(node, ast.Global) for name in node.names}
        uses += (each for each in inner if each.partition(".")[0] not in local)

    def _statement(self, node: ast.AST, uses: list[str], bound: set[str]) -> None:
        """Read a statement; skip a string statement, which is a docstring or a comment."""
        if not (isinstance(node, ast.Expr) and _is_string(node.value)):
            self._read(node, uses, bound)

    def _fields(self, node: ast.AST, uses: list[str], bound: set[str]) -> None:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                self._said.append("[")
                for each in value:
                    if isinstance(each, ast.AST):
                        self._statement(each, uses, bound)
                    else:
                        self._said.append(repr(each))
                self._said.append("]")
            elif isinstance(value, ast.AST):
                self._read(value, uses, bound)
            else:
                self._said.append(repr(value))


def _text(nodes: Iterable[ast.AST], own: str = "") -> Text:
    return _Reader().text(nodes, own)


def _evaluated_at_definition(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    """Return the parts of a function that are evaluated at its definition."""
    arguments = scope.args
    found: list[ast.AST] = [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]
    found += [each.annotation for each in _arguments(arguments) if each.annotation is not None]
    if not isinstance(scope, ast.Lambda):
        found += [*scope.decorator_list, *([scope.returns] if scope.returns is not None else [])]
    return found


def _inside(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    return [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    several = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [*several, *(each for each in (arguments.vararg, arguments.kwarg) if each is not None)]


def _chain(node: ast.expr) -> str:
    """Return a name or an attribute chain such as ``a.b.c`` as text, or "" for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join((node.id, *parts)) if isinstance(node, ast.Name) else ""


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, Import]]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for each in node.names:
                yield (
                    (each.asname, Import(each.name))
                    if each.asname
                    else (
                        each.name.partition(".")[0],
                        Import(each.name.partition(".")[0]),
                    )
                )
        elif isinstance(node, ast.ImportFrom):
            for each in node.names:
                if each.name != "*":
                    yield each.asname or each.name, Import(node.module or "", each.name, node.level)


def _stars(statements: Iterable[ast.stmt]) -> Iterator[Import]:
    for node in statements:
        if isinstance(node, ast.ImportFrom) and any(each.name == "*" for each in node.names):
            yield Import(node.module or "", level=node.level)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
