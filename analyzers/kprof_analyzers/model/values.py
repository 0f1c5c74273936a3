"""Integer values for many workgroups at a time, and the evaluator interface that loop and queue models use."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Protocol, TypeAlias

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.dataflow import Dataflow

Value: TypeAlias = int | list[int]
"""One number if all workgroups agree, otherwise a list with one number for each workgroup."""

_INDUCTION = re.compile(r"^\s*(?:unsigned\s+)?(%[\w$.-]+)\s*=")


def quotient(a: int, b: int) -> int:
    """Return the quotient rounded towards zero, like MLIR's ``divsi``; 0 for a division by zero, which never runs."""
    if not b:
        return 0
    below = a // b
    return below + 1 if below < 0 and below * b != a else below


def remainder(a: int, b: int) -> int:
    """Return the remainder of a division rounded towards zero, like MLIR's ``remsi``; see :func:`quotient`."""
    return a - b * quotient(a, b)


# Faster built-in functions that have the same results for non-negative operands.
_PLAIN: Mapping[Callable[[int, int], int], Callable[[int, int], int]] = {
    quotient: operator.floordiv,
    remainder: operator.mod,
}


def induction_variable(loop: Operation) -> str | None:
    """Return the name of a ``scf.for``'s induction variable; ``None`` for other loops."""
    match = _INDUCTION.match(loop.text) if loop.name == "scf.for" else None
    return match[1] if match else None


def each_of(function: Callable[[int, int], int], left: Value, right: Value) -> Value:
    """Apply a function of two numbers to the values of all workgroups."""
    if isinstance(left, int) and isinstance(right, int):
        return function(left, right)
    if function in _PLAIN and _least(left) >= 0 and _least(right) > 0:
        function = _PLAIN[function]
    elif isinstance(left, list) and isinstance(right, int) and right > 0 and function in _PLAIN:
        if function is quotient:
            return [a // right if a >= 0 else -(-a // right) for a in left]
        return [a % right if a >= 0 else -(-a % right) for a in left]
    one = repeat(left) if isinstance(left, int) else left
    other = repeat(right) if isinstance(right, int) else right
    return list(map(function, one, other))


def _least(value: Value) -> int:
    return value if isinstance(value, int) else min(value, default=0)


class ValueContext(Protocol):
    """Interface of :class:`~kprof_analyzers.model.scalars.Evaluator` for the modules that model loops and queues.

    The evaluator calls these modules, so they cannot import it.
    """

    module: Module
    flow: Dataflow
    programs: Sequence[tuple[int, int, int]]
    grid: tuple[int, int, int]

    def value(self, name: str, depth: int = ...) -> Value | None:
        """Return the value of a name."""

    def certain(self, name: str) -> Value | None:
        """Return the value of a name, or ``None`` if it depends on data loaded from memory."""

    def corner(self, load: Operation, depth: int = ...) -> Value | None:
        """Return the address of the first element of a load or store, in elements."""

    def trips(self, loop: Operation) -> Value | None:
        """Return the iterations of a loop per entry."""

    def walked(self, loop: Operation) -> tuple[list[int], list[int]] | None:
        """Return each workgroup's total entries and iterations of a loop in a ``scf.while``."""

    def trips_here(self, loop: Operation) -> Value | None:
        """Return the iterations of a ``scf.for`` with the current values."""

    def bounds(self, loop: Operation) -> tuple[Value, Value, Value] | None:
        """Return the first value, end and step of a ``scf.for``."""

    def known(self) -> dict[str, Value | None]:
        """Return the arguments and the names that loops set."""

    def snapshot(self) -> dict[str, Value | None]:
        """Return a copy of all current values."""

    def restart(self, known: dict[str, Value | None]) -> None:
        """Replace all current values."""

    def inside(self, loop: int | None) -> None:
        """Continue in the body of a loop."""

    def outside(self, loop: int | None) -> dict[str, Value | None]:
        """Return the values known before any operation is evaluated: arguments, and variables of the outer loops."""
