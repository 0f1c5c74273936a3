"""The roofline as characters."""

import math

from kprof_analyzers.profiles.counters.roofline import Point, Roof

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def draw(points: list[Point], limits: list[Roof], *, width: int = 72, height: int = 18) -> list[str]:
    """Lines of a plot with logarithmic axes; kernels are letters in the order given.

    Returns an empty list when no kernel can be placed.
    """
    shown = [point for point in points if point.intensity and point.flop_rate]
    if not shown:
        return []
    roofs = of_hbm(limits)
    x_range, y_range = ranges(shown, roofs)
    grid = [[" "] * width for _ in range(height)]

    def row_of(rate: float) -> int:
        return height - 1 - round((math.log10(rate) - y_range[0]) / (y_range[1] - y_range[0]) * (height - 1))

    for column in range(width):
        intensity = 10 ** (x_range[0] + (x_range[1] - x_range[0]) * column / (width - 1))
        # A roof is drawn only where it is the limit: slanted below the highest flat one, flat right of the ridge.
        flat = max((roof.flop_rate for roof in roofs if roof.flop_rate), default=math.inf)
        slanted = max((roof.at(intensity) for roof in roofs if roof.bandwidth), default=math.inf)
        for roof in roofs:
            rate = roof.at(intensity)
            if 0 < rate <= min(flat, slanted) * 1.0001 and 0 <= row_of(rate) < height:
                grid[row_of(rate)][column] = "/" if roof.bandwidth else "-"
    for letter, point in zip(_LETTERS, shown, strict=False):
        column = round((math.log10(point.intensity or 1) - x_range[0]) / (x_range[1] - x_range[0]) * (width - 1))
        grid[max(0, min(height - 1, row_of(point.flop_rate or 1)))][max(0, min(width - 1, column))] = letter
    lines = []
    for number, cells in enumerate(grid):
        rate = 10 ** (y_range[1] - (y_range[1] - y_range[0]) * number / (height - 1))
        label = f"{rate:9.3g} " if number % 3 == 0 else " " * 10
        lines.append(label + "|" + "".join(cells).rstrip())
    lines.append(" " * 10 + "+" + "-" * width)
    low, high = (f"{10**end:.3g}" for end in x_range)
    lines.append(" " * 11 + low + " " * (width - len(low) - len(high)) + high)
    lines.append(" " * 11 + "FLOP/byte of HBM traffic; upwards GFLOP/s")
    return lines


def of_hbm(limits: list[Roof]) -> list[Roof]:
    """Those that a plot over FLOP a byte of HBM traffic can show: arithmetic, and HBM alone of the memory levels."""
    return [roof for roof in limits if roof.flop_rate is not None or roof.name == "HBM"]


def ranges(points: list[Point], roofs: list[Roof]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Exponents of ten of both axes, so that points and the ridge are inside."""
    intensities = [point.intensity for point in points if point.intensity]
    rates = [point.flop_rate for point in points if point.flop_rate]
    peaks = [roof.flop_rate for roof in roofs if roof.flop_rate]
    slopes = [roof.bandwidth for roof in roofs if roof.bandwidth]
    ridges = [max(peaks) / slope for slope in slopes] if peaks else []
    x = (math.floor(math.log10(min(intensities)) - 0.3), math.ceil(math.log10(max([*intensities, *ridges])) + 0.1))
    y = (math.floor(math.log10(min(rates)) - 0.3), math.ceil(math.log10(max([*rates, *peaks])) + 0.05))
    return (float(x[0]), float(max(x[1], x[0] + 1))), (float(y[0]), float(max(y[1], y[0] + 1)))
