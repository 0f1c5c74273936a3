"""Measure the distance between a requested shape and a measured shape."""

from collections.abc import Iterable
from math import log2
from typing import Any, NamedTuple

from kprof.kernel_spec import Shape


class ShapeGap(NamedTuple):
    """The distance between two comparable shapes.

    Attributes:
        total: sum of ``|log2(a / b)|`` over their numbers.
        largest: largest term of the sum.
    """

    total: float
    largest: float

    @property
    def near(self) -> bool:
        """Whether no number differs by more than a factor of two."""
        return self.largest <= 1


def gap(wanted: Shape, measured: Shape) -> ShapeGap | None:
    """Return the distance between two shapes, or ``None`` if they cannot be compared.

    Shapes cannot be compared if they have different parameter names or a different dtype, layout or flag. Zero and
    negative numbers have no logarithm, so they must be equal in both shapes.
    """
    if wanted.keys() != measured.keys():
        return None
    total = largest = 0.0
    for name, value in wanted.items():
        other = measured[name]
        if is_number(value) and is_number(other) and value > 0 and other > 0:
            step = abs(log2(value) - log2(other))
            total, largest = total + step, max(largest, step)
        elif value != other or type(value) is not type(other):
            return None
    return ShapeGap(total, largest)


def distance(wanted: Shape, measured: Shape) -> float | None:
    """Return the total of :func:`gap` if the shapes are near to each other, else ``None``."""
    found = gap(wanted, measured)
    return found.total if found is not None and found.near else None


def too_far(wanted: Shape, measured: Iterable[tuple[str, Shape]]) -> str | None:
    """Describe the nearest measured shape and why it is too far away; return ``None`` if no shape is comparable."""
    known = [(found, name, shape) for name, shape in measured if (found := gap(wanted, shape)) is not None]
    if not known:
        return None
    _, name, shape = min(known, key=lambda one: one[0].total)
    ratios = [(n, wanted[n] / shape[n]) for n in wanted if is_number(wanted[n]) and wanted[n] != shape[n]]
    words = ", ".join(f"{n}={wanted[n]} for {shape[n]}" for n, _ in ratios)
    return f"the nearest is {name}, too far away: {words} (at most a factor of two counts)"


def numbers(shape: Shape) -> str:
    """Format the numbers of a shape: ``M=4096, N=4096``."""
    return ", ".join(f"{name}={value}" for name, value in shape.items() if is_number(value))


def is_number(value: Any) -> bool:
    """Whether a parameter is a number; flags are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)
