"""Formulas: numbers, names, ``+ - * /``, brackets, ``min(a, b)`` and ``max(a, b)``. Nothing else is understood."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from kprof.errors import InputError, KprofError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Column = npt.NDArray[np.float64] | np.float64

_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*(?:\[\d+\])?)|([-+*/(),]))")
_DEEPEST = 60
# Of numpy; the words are functions in a formula, too.
_FUNCTIONS = {"min": "minimum", "max": "maximum", "+": "add", "-": "subtract", "*": "multiply", "/": "divide"}


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


def evaluate(node: Node, value_of: "Callable[[str], Column]") -> "Column":
    """The values of a column, one for each kernel; not a number where something is divided by zero.

    Args:
        node: from :func:`parse`.
        value_of: gives the values of a name; what it raises is passed on.
    """
    import numpy as np

    def of(one: Node) -> "Column":
        if isinstance(one, Number):
            return np.asarray(one.value, np.float64)
        if isinstance(one, Name):
            return value_of(one.name)
        left, right = of(one.left), of(one.right)
        found: Column = getattr(np, _FUNCTIONS[one.operator])(left, right)
        return np.where(np.equal(right, 0), np.nan, found) if one.operator == "/" else found

    with np.errstate(all="ignore"):
        return of(node)


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
