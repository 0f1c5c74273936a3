"""Arithmetic and traffic of one call of an operator."""

from collections.abc import Callable, Sequence

import msgspec

from kprof_analyzers.profiles.timeline.operators.arguments import Argument


class Work(msgspec.Struct, frozen=True):
    """What one call has to do, however it is done.

    Attributes:
        flop: operations, a multiply-add being two; ``None`` where it is not known (lengths in tensors).
        bytes: every operand and result once; ``None`` as above.
        unit: whose peak holds: ``matrix_bf16``, ...; empty where arithmetic is no limit.
        assumed: what was taken for granted, in words.
    """

    flop: int | None
    bytes: int | None
    unit: str = ""
    assumed: str = ""


Formula = Callable[[Sequence[Argument]], Work | None]
"""Work of a call from its arguments; ``None`` where they are not what the operator takes."""


def matrix_unit(argument: Argument) -> str:
    """The peak that holds for products of a type."""
    return f"matrix_{argument.arithmetic}" if argument.arithmetic else ""
