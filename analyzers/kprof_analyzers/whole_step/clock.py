"""Estimate the engine clock while a program runs: matrix units and memory draw power, and the clock falls with it."""

from collections.abc import Iterable

import msgspec

from kprof.hardware.machine import Product
from kprof_analyzers.whole_step.efficiency import figures_by_part
from kprof_analyzers.whole_step.timing import TimedCall

FALLEN = 0.95
"""Share of the peak clock; below it, ``kprof profile`` adds a note that names the clock."""


class ClockFigures(msgspec.Struct, frozen=True):
    """Coefficients of a linear model of a product's mean engine clock, for a clock that is not locked.

    Attributes:
        light_mhz: clock of programs that use matrix units and memory little.
        matrix_mhz: reduction if the matrix units multiply 16-bit or narrower numbers at their peak all the time.
        memory_mhz: reduction if the memory runs at its peak bandwidth all the time.
        rows: number of programs that the figures were fitted to.
    """

    light_mhz: float
    matrix_mhz: float
    memory_mhz: float
    rows: int


def clock_figures(gpu: str) -> ClockFigures | None:
    """Return the figures of a product; ``None`` if no clocks of programs on it are published."""
    found = figures_by_part().get("clock", {}).get(gpu)
    return None if found is None else msgspec.convert(found, ClockFigures)


def clock_mhz(product: Product, calls: Iterable[TimedCall], whole_us: float) -> float | None:
    """Return the mean clock in MHz while a program runs; ``None`` if it is unknown.

    Args:
        product: the GPU.
        calls: all calls of the program.
        whole_us: predicted time of the program.
    """
    figures = clock_figures(product.name)
    if figures is None or whole_us <= 0:
        return None
    matrix, memory = shares_of_peaks(product, calls, whole_us)
    return figures.light_mhz - figures.matrix_mhz * matrix - figures.memory_mhz * memory


def shares_of_peaks(product: Product, calls: Iterable[TimedCall], whole_us: float) -> tuple[float, float]:
    """Return the shares of the matrix units' peak and of the memory's peak bandwidth that a program reaches, 0 to 1."""
    hbm = product.memory.get("hbm")
    rate = hbm.bandwidth_gbs if hbm is not None else None
    matrix_us = moved = 0.0
    for call in calls:
        matrix_us += call.matrix_us
        moved += call.memory_bytes
    memory_us = moved / (rate * 1e3) if rate else 0.0
    return min(1.0, matrix_us / whole_us), min(1.0, memory_us / whole_us)
