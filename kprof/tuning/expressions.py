"""Arithmetic and comparisons over knobs and problem sizes, read from text without running any of it.

``BLOCK_M * BLOCK_N <= 65536``, ``K % (BLOCK_K * SPLIT_K) == 0 or SPLIT_K == 1``,
``cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)``. Names, numbers, strings, ``+ - * // %``, comparisons, ``and``, ``or``, ``not``,
``in`` with a list, and the functions ``cdiv``, ``min`` and ``max``; nothing else.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.errors import KprofError, near

LONGEST = 500
"""Characters of an expression; nobody writes longer ones by hand."""

LARGEST = 1 << 64
"""Numbers beyond which a result is no size of anything."""


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


_BINARY: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {"cdiv": _cdiv, "min": min, "max": max}


@dataclass(frozen=True)
class Expression:
    """A parsed expression.

    Attributes:
        text: as it was written.
        names: names of knobs and sizes in it.
    """

    text: str
    names: frozenset[str] = frozenset()
    _tree: ast.expr = field(default_factory=lambda: ast.Constant(None), repr=False, compare=False)

    def value(self, values: Mapping[str, Any]) -> Any:
        """The expression's value.

        Raises:
            KprofError: a name has no value, a division by zero, a number out of bounds, or types that do not go
                together.
        """
        try:
            return _value(self._tree, values)
        except ZeroDivisionError:
            raise KprofError(f"{self.text!r} divides by zero") from None
        except (TypeError, OverflowError, ValueError) as error:
            raise KprofError(f"{self.text!r} cannot be computed: {error}") from None


def parse(text: str, what: str = "the expression") -> Expression:
    """An expression from text.

    Args:
        text: see the module.
        what: what it is, for the message.

    Raises:
        KprofError: it is too long, no expression, or holds something that is not allowed.
    """
    if len(text) > LONGEST:
        raise KprofError(f"{what} is longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise KprofError(f"{what} cannot be read: {text!r}", hint="for example BLOCK_M * BLOCK_N <= 65536") from None
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = set()
    for node in ast.walk(tree):
        _check(node, text, what)
        if isinstance(node, ast.Name) and id(node) not in called:
            names.add(node.id)
    return Expression(text.strip(), frozenset(names), tree)


_PLAIN = (ast.Name, ast.Load, ast.And, ast.Or, ast.Not, ast.USub, ast.BoolOp, ast.List, ast.Tuple, ast.Compare)


def _check(node: ast.AST, text: str, what: str) -> None:
    if isinstance(node, ast.Constant) and (isinstance(node.value, int | float | str) or node.value is None):
        return
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else "this"
        if name in _FUNCTIONS and not node.keywords and node.args:
            return
        known = ", ".join(_FUNCTIONS)
        raise KprofError(f"{what} {text!r} calls {name}{near(name, _FUNCTIONS)}", hint=f"it may call {known}")
    if (
        isinstance(node, _PLAIN)
        or type(node) in _BINARY
        or isinstance(node, ast.UnaryOp)
        or (isinstance(node, ast.BinOp) and type(node.op) in _BINARY)
    ):
        return
    hint = "names, numbers, + - * // %, comparisons, and, or, not, in, cdiv, min, max"
    raise KprofError(f"{what} {text!r} holds {type(node).__name__}, which is not allowed", hint=hint)


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if name not in values:
                raise KprofError(f"no knob or problem size {name!r}{near(name, values)}")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _number(_BINARY[type(op)](_operand(left, values), _operand(right, values)))
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, values)
            return (not value) if isinstance(op, ast.Not) else -value
        case ast.BoolOp(op=op, values=parts):
            decides = isinstance(op, ast.Or)
            return next((decides for part in parts if bool(_value(part, values)) is decides), not decides)
        case ast.Compare():
            return _compare(node, values)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_value(arg, values) for arg in args))
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, values) for item in items]
    raise KprofError(f"{type(node).__name__} is not allowed")


def _compare(node: ast.Compare, values: Mapping[str, Any]) -> bool:
    left = _value(node.left, values)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, values)
        if not _BINARY[type(op)](left, right):
            return False
        left = right
    return True


def _operand(node: ast.expr, values: Mapping[str, Any]) -> Any:
    value = _value(node, values)
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is not a number")
    return value


def _number(value: Any) -> Any:
    if isinstance(value, int | float) and abs(value) > LARGEST:
        raise OverflowError("the result is too large")
    return value
