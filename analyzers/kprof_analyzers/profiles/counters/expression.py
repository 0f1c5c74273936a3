"""Formulas: numbers, names, ``+ - * /``, brackets, ``min(a, b)`` and ``max(a, b)``. Nothing else is understood."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from kprof.errors import InputError, KprofError

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*(?:\[\d+\])?)|([-+*/(),]))")
_DEEPEST = 60
_FUNCTIONS: dict[str, Callable[[float, float], float]] = {"min": min, "max": max}


@dataclass(frozen=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True)
class Name:
    """A counter, metric or constant."""

    name: str


@dataclass(frozen=True)
class Operation:
    """Two operands and ``+``, ``-``, ``*``, ``/``, ``min`` or ``max``."""

    operator: str
    left: "Node"
    right: "Node"


Node = Number | Name | Operation


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """The expression as a tree.

    Raises:
        KprofError: it is not of the language above.
    """
    parser = _Parser(text)
    node = parser.sum(0)
    if parser.token is not None:
        raise parser.error("something is left over")
    return node


def names(node: Node) -> Iterator[str]:
    """Every name in the tree, from left to right, repeated ones too."""
    if isinstance(node, Name):
        yield node.name
    elif isinstance(node, Operation):
        yield from names(node.left)
        yield from names(node.right)


def evaluate(node: Node, value_of: Callable[[str], float]) -> float | None:
    """The value; ``None`` when something is divided by zero.

    Args:
        node: from :func:`parse`.
        value_of: gives the value of a name; what it raises is passed on.
    """
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return value_of(node.name)
    left, right = evaluate(node.left, value_of), evaluate(node.right, value_of)
    if left is None or right is None:
        return None
    if node.operator == "/":
        return left / right if right else None
    if node.operator in _FUNCTIONS:
        return _FUNCTIONS[node.operator](left, right)
    return left + right if node.operator == "+" else left - right if node.operator == "-" else left * right


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.token: tuple[str, str] | None = None
        self._next()

    def error(self, what: str) -> KprofError:
        return InputError(f"formula {self._text!r}: {what}", place=f"character {self._at + 1}")

    def _next(self) -> None:
        rest = self._text[self._at :]
        if not rest.strip():
            self.token = None
            return
        match = _TOKEN.match(rest)
        if match is None:
            raise self.error("not understood")
        self._at += match.end()
        kinds = ("number", "name", "sign")
        self.token = next((kind, text) for kind, text in zip(kinds, match.groups(), strict=True) if text is not None)

    def _accept(self, *signs: str) -> str | None:
        if self.token is not None and self.token[0] == "sign" and self.token[1] in signs:
            sign = self.token[1]
            self._next()
            return sign
        return None

    def sum(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.error("too many brackets")
        node = self._product(depth)
        while sign := self._accept("+", "-"):
            node = Operation(sign, node, self._product(depth))
        return node

    def _product(self, depth: int) -> Node:
        node = self._factor(depth)
        while sign := self._accept("*", "/"):
            node = Operation(sign, node, self._factor(depth))
        return node

    def _factor(self, depth: int) -> Node:
        if self._accept("-"):
            return Operation("-", Number(0.0), self._factor(depth + 1) if depth < _DEEPEST else self.sum(depth + 1))
        if self._accept("("):
            return self._closed(self.sum(depth + 1))
        if self.token is None:
            raise self.error("something is missing at the end")
        kind, text = self.token
        if kind == "sign":
            raise self.error(f"{text!r} is not expected here")
        self._next()
        if kind == "number":
            return Number(float(text))
        if text in _FUNCTIONS and self._accept("("):
            left = self.sum(depth + 1)
            if not self._accept(","):
                raise self.error(f"{text} takes two values")
            return self._closed(Operation(text, left, self.sum(depth + 1)))
        return Name(text)

    def _closed(self, node: Node) -> Node:
        if not self._accept(")"):
            raise self.error("a bracket is not closed")
        return node
