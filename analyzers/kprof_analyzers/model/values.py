"""Integers for many workgroups at a time, and the interface of their evaluator for loops and queues."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Protocol, TypeAlias

from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.dataflow import Dataflow

Value: TypeAlias = int | list[int]
"""One number where all workgroups agree, else one for each."""

_INDUCTION = re.compile(r"^\s*(?:unsigned\s+)?(%[\w$.-]+)\s*=")


def quotient(a: int, b: int) -> int:
    """Rounded towards zero, as MLIR's ``divsi``; division by zero, which the program never does, gives zero."""
    if not b:
        return 0
    below = a // b
    return below + 1 if below < 0 and below * b != a else below


def remainder(a: int, b: int) -> int:
    """What :func:`quotient` leaves over."""
    return a - b * quotient(a, b)


# Equal where nothing is negative, and faster: no Python code for each workgroup.
_PLAIN: Mapping[Callable[[int, int], int], Callable[[int, int], int]] = {
    quotient: operator.floordiv,
    remainder: operator.mod,
}


def induction_variable(loop: Operation) -> str | None:
    """Name of the variable that a ``scf.for`` counts with."""
    match = _INDUCTION.match(loop.text) if loop.name == "scf.for" else None
    return match[1] if match else None


def each_of(function: Callable[[int, int], int], left: Value, right: Value) -> Value:
    """A function of two numbers, for all workgroups."""
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
    """What loops and queues need of :class:`~kprof_analyzers.model.scalars.Evaluator`, which calls them."""

    module: Module
    flow: Dataflow
    programs: Sequence[tuple[int, int, int]]
    grid: tuple[int, int, int]

    def value(self, name: str, depth: int = ...) -> Value | None:
        """Value of a name."""

    def certain(self, name: str) -> Value | None:
        """The same, or ``None`` where it depends on what was loaded from memory."""

    def corner(self, load: Operation, depth: int = ...) -> Value | None:
        """Address of the first element of a load or store, in elements."""

    def trips(self, loop: Operation) -> Value | None:
        """Iterations of a loop each time that it is entered."""

    def walked(self, loop: Operation) -> tuple[list[int], list[int]] | None:
        """Entries and iterations in all of a loop in a ``scf.while``, for each workgroup."""

    def trips_here(self, loop: Operation) -> Value | None:
        """Iterations of a ``scf.for`` with what is known at this point."""

    def bounds(self, loop: Operation) -> tuple[Value, Value, Value] | None:
        """First value, end and step of a ``scf.for``."""

    def known(self) -> dict[str, Value | None]:
        """Names that loops around set, with arguments."""

    def snapshot(self) -> dict[str, Value | None]:
        """All that is known at this point."""

    def restart(self, known: dict[str, Value | None]) -> None:
        """Forget everything but these names."""

    def inside(self, loop: int | None) -> None:
        """Go on in the body of a loop."""

    def outside(self, loop: int | None) -> dict[str, Value | None]:
        """Return the values known before any operation is evaluated: arguments, and variables of the loops around."""
