"""Check that a file contains only Triton functions, so that importing and interpreting it runs no other Python.

Triton's compiler evaluates any Python that a function names, and its interpreter runs the whole function as Python. A
file that passes the check uses only names from :mod:`triton.language`.
"""

import ast
import builtins
import math
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from kprof.errors import TargetError

CONFIG = "CONFIG"
"""Name of the constant that may contain knobs: ``CONFIG = {"BLOCK": 1024, "num_warps": 8}``."""

# isinstance and str are not allowed: a loop variable is a number in the interpreter but a tensor in the compiler, so
# they would give different results.
_BUILTINS = frozenset({"range", "len", "min", "max", "abs", "int", "float", "bool", "tuple", "sum"})
_OF_TRITON = frozenset({"cdiv", "next_power_of_2", "jit"})
_SPACES = frozenset({"triton.language", "triton.language.math"})
_EXTRA = "triton.language.extra"
_FORBIDDEN: Mapping[type[ast.AST], str] = {
    ast.Import: "an import inside a function",
    ast.ImportFrom: "an import inside a function",
    ast.Lambda: "a lambda",
    ast.ClassDef: "a class",
    ast.FunctionDef: "a function inside a function",
    ast.AsyncFunctionDef: "an asynchronous function",
    ast.Global: "a global statement",
    ast.Nonlocal: "a nonlocal statement",
    ast.Yield: "a generator",
    ast.YieldFrom: "a generator",
    ast.Await: "an await",
    ast.Try: "a try statement",
    ast.With: "a with statement",
    ast.Raise: "a raise statement",
    ast.Delete: "a del statement",
    ast.JoinedStr: "a formatted string",
}


class FormError(TargetError):
    """A file contains something other than Triton functions."""


def knobs_of(tree: ast.Module) -> dict[str, Any]:
    """Return the content of ``CONFIG``, read without running anything; empty if it is not defined.

    Raises:
        TargetError: ``CONFIG`` is not a dictionary of literals.
    """
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and [ast.unparse(one) for one in statement.targets] == [CONFIG]:
            try:
                found = ast.literal_eval(statement.value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                found = None
            if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
                raise TargetError(f"{CONFIG} is not a dictionary of knobs", place=f"line {statement.lineno}")
            return found
    return {}


def parsed(text: str) -> ast.Module:
    """Parse a file.

    Raises:
        TargetError: the text is not Python.
    """
    try:
        return ast.parse(text)
    except SyntaxError as error:
        # The error for a null byte has no line.
        place = f"line {error.lineno}" if error.lineno else None
        raise TargetError(f"is not valid Python: {error.msg}", place=place) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise TargetError(f"is not valid Python: {error}") from None


def check_plain(tree: ast.Module) -> None:
    """Check that a file contains only imports of Triton, constants and ``@triton.jit`` functions. This imports Triton.

    Raises:
        FormError: the file contains something else; the error names it and its line.
    """
    _File(tree).check()


class _File:
    """Checker of one file, which keeps track of the names that the file imports or defines at top level."""

    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._imported: dict[str, Any] = {}
        self._known: set[str] = set()

    def check(self) -> None:
        functions = []
        for statement in self._tree.body:
            match statement:
                case ast.Import():
                    self._import(statement)
                case ast.ImportFrom():
                    self._import_from(statement)
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    if statement.value is not None:
                        self._constant(statement.value)
                    self._known.add(name)
                case ast.Expr(value=ast.Constant()):
                    pass
                case ast.FunctionDef():
                    self._known.add(statement.name)
                    functions.append(statement)
                case _:
                    raise _refused(statement, f"a {type(statement).__name__.lower()} statement outside of functions")
        for function in functions:
            self._function(function)

    def _import(self, statement: ast.Import) -> None:
        for each in statement.names:
            if each.name not in {"triton", "triton.language", "math"}:
                raise _refused(statement, f"import {each.name}")
            if each.name == "math":
                self._imported[each.asname or "math"] = math
            else:
                whole = each.asname and each.name == "triton.language"
                self._imported[each.asname or "triton"] = _triton("triton.language" if whole else "triton")

    def _import_from(self, statement: ast.ImportFrom) -> None:
        if statement.module == "__future__":
            return
        name = statement.module or ""
        if statement.level or name.partition(".")[0] != "triton":
            raise _refused(statement, f"from {'.' * statement.level}{name} import")
        if name != "triton" and not _is_space(name):
            raise _refused(statement, f"from {name} import")
        owner = _triton(name)
        for each in statement.names:
            whole = f"{name}.{each.name}"
            # A package has a submodule as attribute only after its import; libdevice of triton.language.extra is an
            # example.
            if _is_space(whole) and not hasattr(owner, each.name) and hasattr(owner, "__path__") and find_spec(whole):
                _triton(whole)
            found = self._member(owner, each.name, statement)
            self._imported[each.asname or each.name] = found

    def _constant(self, value: ast.AST) -> None:
        """Check that a value is a literal, possibly inside ``tl.constexpr``, or arithmetic on literals."""
        match value:
            case ast.Constant() | ast.Name():
                pass
            case ast.UnaryOp():
                self._constant(value.operand)
            case ast.BinOp():
                self._constant(value.left)
                self._constant(value.right)
            case ast.Tuple() | ast.List():
                for each in value.elts:
                    self._constant(each)
            case ast.Dict():
                for one in (*value.keys, *value.values):
                    if one is None:
                        raise _refused(value, "a constant that is not a literal")
                    self._constant(one)
            case ast.Attribute():
                self._attribute(value)
            case ast.Call(func=ast.Attribute(attr="constexpr") | ast.Name(id="constexpr"), args=[one], keywords=[]):
                self._callee(value.func)
                self._constant(one)
            case _:
                raise _refused(value, "a constant that is not a literal")

    def _callee(self, node: ast.expr) -> None:
        if isinstance(node, ast.Attribute):
            self._attribute(node)
        elif not (isinstance(node, ast.Name) and node.id in self._imported):
            raise _refused(node, f"a call of {ast.unparse(node)}")

    def _function(self, function: ast.FunctionDef) -> None:
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._resolved(called) is not _triton("triton").jit:
                raise _refused(decorator, f"the decorator {ast.unparse(called)}")
            for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
                self._constant(keyword.value)
        if not function.decorator_list:
            raise _refused(function, f"{function.name}, a function without @triton.jit")
        spec = function.args
        every = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, (spec.vararg, spec.kwarg))]
        for value in (*spec.defaults, *filter(None, spec.kw_defaults)):
            self._constant(value)
        for annotation in (*(argument.annotation for argument in every), function.returns):
            if annotation is not None:
                self._constant(annotation)
        nodes = [each for statement in function.body for each in ast.walk(statement)]
        for node in nodes:
            self._node(node)
        for node in _values_of_logic(nodes, self._known | {one.arg for one in every if _is_constexpr(one.annotation)}):
            raise _refused(node, "an and or an or whose value is used as a number")

    def _node(self, node: ast.AST) -> None:
        if type(node) in _FORBIDDEN:
            raise _refused(node, _FORBIDDEN[type(node)])
        if isinstance(node, ast.Compare) and _compares_identities(node):
            raise _refused(node, "a comparison of identities")
        if isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            local = node.id not in self._imported and node.id not in self._known
            if node.id.startswith("__") or (local and hasattr(builtins, node.id) and node.id not in _BUILTINS):
                raise _refused(node, f"the name {node.id}")

    def _attribute(self, node: ast.Attribute) -> None:
        """Check an attribute.

        An attribute of a module must be usable in kernels. Any other attribute must exist on tensors or their types.
        """
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._imported:
            self._resolved(node)
        elif node.attr not in _value_attributes():
            raise _refused(node, f"the attribute {node.attr}")

    def _resolved(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name) if name in self._imported:
                return self._imported[name]
            case ast.Attribute():
                return self._member(self._resolved(node.value), node.attr, node)
        raise _refused(node, ast.unparse(node))

    def _member(self, owner: Any, name: str, node: ast.AST) -> Any:
        """Return a member of a module, or of an object in a module, that kernels may use."""
        words = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
        found = None if name.startswith("_") else getattr(owner, name, None)
        if found is None:
            raise _refused(node, words)
        if owner is math or (owner is _triton("triton") and name in _OF_TRITON):
            return found
        if isinstance(found, ModuleType):
            if _is_space(found.__name__):
                return found
        elif isinstance(owner, ModuleType) and owner is not _triton("triton"):
            if _is_for_kernels(found):
                return found
        elif name in _value_attributes() or hasattr(owner, "__members__"):
            return found
        raise _refused(node, words)


def _compares_identities(node: ast.Compare) -> bool:
    """Return whether objects are compared by identity, which differs between interpreter and compiler.

    Comparisons with ``None``, such as ``x is None``, do not differ and do not count.
    """
    sides = (node.left, *node.comparators)
    by_identity = any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops)
    return by_identity and not any(isinstance(side, ast.Constant) and side.value is None for side in sides)


def _is_constexpr(annotation: ast.expr | None) -> bool:
    return annotation is not None and ast.unparse(annotation).rpartition(".")[2] == "constexpr"


def _values_of_logic(nodes: list[ast.AST], constants: set[str]) -> Iterator[ast.BoolOp]:
    """Yield each ``and`` and ``or`` with different values in Python (one of the operands) and the compiler (0 or 1).

    The difference does not matter in a condition, and does not exist if the operands are constants or comparisons.
    """

    def is_the_same(node: ast.expr) -> bool:
        return isinstance(node, _LOGICAL | ast.Constant) or (isinstance(node, ast.Name) and node.id in constants)

    conditions = {id(node.test) for node in nodes if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert)}
    # ast.walk yields a node before the nodes inside it, so a condition is found before the operators inside it.
    for node in nodes:
        if isinstance(node, ast.BoolOp):
            if id(node) in conditions:
                conditions.update(map(id, node.values))
            elif not all(map(is_the_same, node.values)):
                yield node
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            conditions.add(id(node.operand))


_LOGICAL = ast.Compare | ast.BoolOp


def _is_space(name: str) -> bool:
    return name in _SPACES or f"{name}.".startswith(f"{_EXTRA}.")


def _is_for_kernels(value: Any) -> bool:
    from kprof.importing.wrappers import kernel_function

    if isinstance(value, int | float | str | tuple):
        return True
    if isinstance(value, type) or getattr(value, "__triton_builtin__", False):
        return getattr(value, "__module__", "").startswith(("triton.language", "triton._C.libtriton"))
    core = _triton("triton.language.core")
    if type(value).__name__ == "ConstexprFunction" or isinstance(value, core.dtype | core.constexpr):
        return True
    return kernel_function(value) is not None


@cache
def _triton(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise TargetError(f"there is no module {name}") from None


@cache
def _value_attributes() -> frozenset[str]:
    """Return the public attribute names of tensors, their types and other kernel arguments."""
    core = _triton("triton.language.core")
    kinds = (
        "tensor",
        "dtype",
        "pointer_type",
        "block_type",
        "constexpr",
        "tensor_descriptor",
        "tensor_descriptor_base",
    )
    names = {name for kind in kinds for name in dir(getattr(core, kind, object)) if not name.startswith("_")}
    return frozenset(names | {"shape", "dtype", "type", "value", "numel", "element_ty", "T", "strides"}) - {"handle"}


def _refused(node: ast.AST, what: str) -> FormError:
    return FormError(
        f"contains {what}: a candidate may contain only imports of triton, constants and @triton.jit functions",
        place=f"line {getattr(node, 'lineno', 1)}",
    )
