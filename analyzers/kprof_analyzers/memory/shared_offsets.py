"""Compute the offsets of tensor elements in LDS, for each of Triton's shared layouts."""

from collections.abc import Callable, Sequence
from math import prod
from typing import TypeAlias

from kprof.inputs.mlir.layouts import Layout, PaddedShared, RotatingShared, SharedLinear, SwizzledShared
from kprof_analyzers.memory.linear_layout import Basis, UnknownLayoutError

Placement: TypeAlias = Callable[[Basis], int]
"""Function that maps the coordinates of an element to its LDS offset, in elements."""


def placement(layout: Layout, shape: Sequence[int]) -> Placement:
    """Return the function that places the elements of a buffer of ``shape`` in LDS.

    Raises:
        UnknownLayoutError: the layout is not a supported shared layout, or has more dimensions than the buffer.
    """
    if max(getattr(layout, "order", ()), default=0) >= len(shape):
        raise UnknownLayoutError(f"{type(layout).__name__} has more dimensions than the {len(shape)} of its buffer")
    if isinstance(layout, SwizzledShared | RotatingShared):
        return _swizzled(layout, tuple(shape))
    if isinstance(layout, PaddedShared):
        return _padded(layout, tuple(shape))
    if isinstance(layout, SharedLinear):
        return _inverse(layout.offset, tuple(shape))
    raise UnknownLayoutError(f"{type(layout).__name__} is not a shared layout that is known here")


def is_linear(layout: Layout, shape: Sequence[int]) -> bool:
    """Return whether a placement is certainly linear over exclusive-or.

    A placement is linear if the offset of the exclusive-or of two coordinates is the exclusive-or of their offsets.
    """
    if isinstance(layout, SharedLinear):
        return True
    if not isinstance(layout, SwizzledShared | RotatingShared):
        return False
    numbers = (*shape, layout.vec, layout.per_phase, layout.max_phase)
    return all(number > 0 and number & (number - 1) == 0 for number in numbers)


def _strides(shape: Sequence[int], order: Sequence[int]) -> list[int]:
    strides = [0] * len(shape)
    step = 1
    for axis in order:
        strides[axis] = step
        step *= shape[axis]
    return strides


def _swizzled(layout: SwizzledShared | RotatingShared, shape: tuple[int, ...]) -> Placement:
    """Return the placement of a swizzled layout: the index of a vector in its row is exclusive-ored with a phase.

    The phase depends on the row.
    """
    strides = _strides(shape, layout.order)
    fast = layout.order[0]
    slow = layout.order[1] if len(layout.order) > 1 else None
    blocks = max(1, layout.per_phase * layout.max_phase)

    def offset(element: Basis) -> int:
        at = sum(index * stride for index, stride in zip(element, strides, strict=True))
        if slow is None or layout.max_phase == 1:
            return at
        row, column = element[slow], element[fast]
        phase = (row // layout.per_phase) % layout.max_phase
        if isinstance(layout, RotatingShared):
            phase ^= (row // blocks) % layout.max_phase
        moved = ((column // layout.vec) ^ phase) * layout.vec % shape[fast] + column % layout.vec
        return at - column + moved

    return offset


def _padded(layout: PaddedShared, shape: tuple[int, ...]) -> Placement:
    """Return a placement that adds ``padding`` elements to the plain offset after every ``interval`` elements."""
    if layout.offset:
        plain = _inverse(layout.offset, shape)
    else:
        strides = _strides(shape, layout.order)

        def plain(element: Basis) -> int:
            return sum(index * stride for index, stride in zip(element, strides, strict=True))

    def offset(element: Basis) -> int:
        at = plain(element)
        return at + sum(at // interval * padding for interval, padding in layout.paddings)

    return offset


def _inverse(bases: Sequence[Basis], shape: tuple[int, ...]) -> Placement:
    """Invert a map from offset bits to coordinates, by elimination over GF(2)."""
    widths = [size.bit_length() - 1 for size in shape]
    starts = [sum(widths[:axis]) for axis in range(len(widths))]

    def packed(element: Sequence[int]) -> int:
        return sum(index << start for index, start in zip(element, starts, strict=True))

    rows = [(packed(basis), 1 << bit) for bit, basis in enumerate(bases) if any(basis)]
    reduced: dict[int, tuple[int, int]] = {}
    for place, combination in rows:
        value, made = place, combination
        while value and (value.bit_length() - 1) in reduced:
            other, by = reduced[value.bit_length() - 1]
            value, made = value ^ other, made ^ by
        if value:
            reduced[value.bit_length() - 1] = (value, made)
    if 1 << len(reduced) < prod(shape):
        raise UnknownLayoutError("the layout's bases do not reach every element")

    def offset(element: Basis) -> int:
        value, found = packed(element), 0
        while value:
            if value.bit_length() - 1 not in reduced:
                raise UnknownLayoutError("an element is outside what the layout's bases reach")
            other, by = reduced[value.bit_length() - 1]
            value, found = value ^ other, found ^ by
        return found

    return offset
