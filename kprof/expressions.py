"""Evaluate expressions from users and data files without executing any of their text.

Python's parser reads the text; constructs that a :class:`Language` does not list are rejected before anything is
computed. Length, depth and the size of numbers are limited, so that no expression takes long or exhausts the stack.

:data:`SCALARS` is the language of constraints and grids: ``BLOCK_M * BLOCK_N <= 65536``, ``K % (BLOCK_K * SPLIT_K) == 0
or SPLIT_K == 1``, ``cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)``.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kprof.errors import KprofError, near

LONGEST = 500
"""Maximum length of an expression in characters; nobody writes longer ones by hand."""

DEEPEST = 200
"""Maximum nesting depth of operations; a sum of n terms has depth n."""

LARGEST = 1 << 64
"""Largest absolute value of a result of :data:`SCALARS`; no problem size is larger."""

V = TypeVar("V")


@dataclass(frozen=True)
class Language(Generic[V]):
    """Rules for the constructs that an expression may contain besides names, brackets and a minus sign.

    Attributes:
        literals: types of allowed literals.
        constant: converts a literal to a value.
        binary: operators with two operands.
        functions: functions that may be called, by name.
        operands: number of operands by function; a function that is not listed takes two or more.
        comparisons: operators that return true or false. If there are any, ``and``, ``or``, ``not`` and lists are
            allowed as well.
        summary: description of the language, for a message.
        example: an example expression, for a message.
    """

    literals: tuple[type, ...]
    constant: Callable[[Any], V]
    binary: Mapping[type[ast.AST], Callable[[V, V], V]]
    functions: Mapping[str, Callable[..., V]]
    summary: str
    example: str
    operands: Mapping[str, int] = field(default_factory=dict)
    comparisons: Mapping[type[ast.AST], Callable[[V, V], Any]] = field(default_factory=dict)

    def nodes(self) -> set[type[ast.AST]]:
        """Return the types of syntax tree nodes that an expression may contain."""
        found = {ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.UnaryOp, ast.USub, ast.Call, *self.binary}
        if self.comparisons:
            found |= {ast.Compare, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.List, ast.Tuple, *self.comparisons}
        return found


@dataclass(frozen=True)
class Expression(Generic[V]):
    """A parsed expression.

    Attributes:
        text: the expression as it was written.
        names: names that need a value.
    """

    text: str
    names: frozenset[str]
    _tree: ast.expr = field(repr=False, compare=False)
    _language: Language[V] = field(repr=False, compare=False)

    def value(self, values: Mapping[str, V]) -> V:
        """Return the value of the expression.

        Raises:
            KprofError: a name has no value, a division by zero, a number out of bounds, or operands of incompatible
                types. Other exceptions of the language's own operators are passed on.
        """
        try:
            value: V = _value(self._tree, values, self._language)
        except ZeroDivisionError:
            raise KprofError(f"{self.text!r} divides by zero") from None
        except (TypeError, OverflowError, ValueError) as error:
            raise KprofError(f"{self.text!r} cannot be computed: {error}") from None
        return value


def whole(expression: Expression[Any], values: Mapping[str, Any]) -> int:
    """Return the value of an expression as an integer, rounded towards zero.

    Raises:
        KprofError: the value is not a finite number, or :meth:`Expression.value` fails.
    """
    value = expression.value(values)
    if not isinstance(value, int | float) or value != value or abs(value) > LARGEST:  # noqa: PLR0124 - not a number
        raise KprofError(f"{expression.text!r} is {value!r}, which is not a valid number")
    return int(value)


def parse(text: str, what: str, language: Language[V]) -> Expression[V]:
    """Parse an expression.

    Args:
        text: the expression.
        what: description of the expression, for the message.
        language: the allowed constructs.

    Raises:
        KprofError: the text is too long or too deep, is not an expression, or contains a construct that the language
            does not allow.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise KprofError(f"{what} is longer than {LONGEST} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise KprofError(f"{what} cannot be read: {text!r}", hint=f"for example {language.example}") from None
    allowed = language.nodes()
    for node, depth in _walk(tree):
        if depth > DEEPEST:
            raise KprofError(f"{what} has more than {DEEPEST} operations inside each other")
        if isinstance(node, ast.Call):
            _check_call(node, f"{what} {text!r}", language)
        elif isinstance(node, ast.Constant) and type(node.value) not in language.literals:
            raise KprofError(f"{what} {text!r} holds {node.value!r}, which is not allowed", hint=language.summary)
        elif type(node) not in allowed:
            held = type(node).__name__
            raise KprofError(f"{what} {text!r} holds {held}, which is not allowed", hint=language.summary)
    called = {id(node.func) for node, _ in _walk(tree) if isinstance(node, ast.Call)}
    names = (node.id for node, _ in _walk(tree) if isinstance(node, ast.Name) and id(node) not in called)
    return Expression(text, frozenset(names), tree, language)


def _walk(tree: ast.AST) -> Iterator[tuple[ast.AST, int]]:
    """Yield every node of a syntax tree with its depth, without recursion."""
    waiting = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        yield node, depth
        waiting += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def _check_call(node: ast.Call, where: str, language: Language[Any]) -> None:
    name = node.func.id if isinstance(node.func, ast.Name) else "this"
    if name not in language.functions or node.keywords:
        hint = f"it may call {', '.join(language.functions)}"
        raise KprofError(f"{where} calls {name}{near(name, language.functions)}", hint=hint)
    takes = language.operands.get(name)
    if len(node.args) < 2 if takes is None else len(node.args) != takes:
        raise KprofError(f"{where} calls {name} with {len(node.args)} values; it takes {takes or 'two or more'}")


def _value(node: ast.expr, values: Mapping[str, V], language: Language[V]) -> Any:
    match node:
        case ast.Constant(value=value):
            return language.constant(value)
        case ast.Name(id=name):
            if name not in values:
                raise KprofError(f"{name!r} has no value{near(name, values)}")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right):
            return language.binary[type(op)](_value(left, values, language), _value(right, values, language))
        case ast.UnaryOp(op=op, operand=operand):
            value = _value(operand, values, language)
            return not value if isinstance(op, ast.Not) else -value
        case ast.Call(func=ast.Name(id=name), args=args):
            return language.functions[name](*[_value(arg, values, language) for arg in args])
        case ast.BoolOp(op=op, values=parts):
            decides = isinstance(op, ast.Or)
            return next((decides for part in parts if bool(_value(part, values, language)) is decides), not decides)
        case ast.Compare():
            return _compare(node, values, language)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, values, language) for item in items]
    raise AssertionError(f"parse let {type(node).__name__} through")


def _compare(node: ast.Compare, values: Mapping[str, V], language: Language[V]) -> bool:
    left = _value(node.left, values, language)
    for op, comparator in zip(node.ops, node.comparators, strict=True):
        right = _value(comparator, values, language)
        if not language.comparisons[type(op)](left, right):
            return False
        left = right
    return True


def _literal(value: Any) -> Any:
    return value


def _bounded(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def of(left: Any, right: Any) -> Any:
        for value in (left, right):
            if not isinstance(value, int | float):
                raise TypeError(f"{value!r} is not a number")
        found = compute(left, right)
        if abs(found) > LARGEST:
            raise OverflowError("the result is too large")
        return found

    return of


def _cdiv(a: Any, b: Any) -> Any:
    return -(-a // b)


SCALARS: Language[Any] = Language(
    literals=(int, float, str, bool, type(None)),
    constant=_literal,
    binary={
        ast.Add: _bounded(operator.add),
        ast.Sub: _bounded(operator.sub),
        ast.Mult: _bounded(operator.mul),
        ast.FloorDiv: _bounded(operator.floordiv),
        ast.Mod: _bounded(operator.mod),
    },
    functions={"cdiv": _bounded(_cdiv), "min": min, "max": max},
    operands={"cdiv": 2},
    comparisons={
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda one, several: one in several,
        ast.NotIn: lambda one, several: one not in several,
    },
    summary="names, numbers, strings, + - * // %, comparisons, and, or, not, in, cdiv, min, max",
    example="BLOCK_M * BLOCK_N <= 65536",
)
"""Language of numbers, strings and lists, for knobs and problem sizes."""
