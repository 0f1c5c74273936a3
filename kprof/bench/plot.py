"""Plot benchmark results over the cases (SVG)."""

from collections.abc import Sequence
from math import ceil, floor, log10

from kprof.bench.document import BenchReport, Measurement
from kprof.output.svg_text import svg_text

_COLOURS = ("#3b6fb6", "#d1603d", "#4a9d5b", "#8a5fb0", "#b08a2e", "#5f6b76")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _RIGHT = 900, 460, 70, 50, 110, 30


def as_svg(report: BenchReport) -> str:
    """Return an SVG of the rates over the cases, with one line per provider.

    The rate is GB/s for memory-bound kernels, TFLOP/s for compute-bound ones, and 1 / ms for others. A case that a
    provider could not run is a gap in the provider's line.
    """
    timed = [m for m in report.measurements if m.timing]
    cases = list(dict.fromkeys(m.case for m in report.measurements))
    providers = list(dict.fromkeys(m.who for m in timed))
    unit, values = _series(timed)
    top = _round_up(max(values.values(), default=1.0))
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_LEFT, 22, f"{_kernel(report)} on {report.device.name}", size=15),
        *_axes(cases, unit, top),
    ]
    for number, provider in enumerate(providers):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [
            (_x(i, len(cases)), _y(values[c, provider], top)) for i, c in enumerate(cases) if (c, provider) in values
        ]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in points)
        place = _LEFT + 130 * number
        parts.append(f'<rect x="{place}" y="32" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(place + 17, 42, provider))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _kernel(report: BenchReport) -> str:
    return ", ".join(dict.fromkeys(m.kernel for m in report.measurements))


def _series(timed: Sequence[Measurement]) -> tuple[str, dict[tuple[str, str], float]]:
    bounds = [m.bound for m in timed]
    if timed and all(m.gbs for m in timed) and bounds.count("compute") <= len(bounds) // 2:
        return "GB/s", {(m.case, m.who): m.gbs for m in timed if m.gbs}
    if timed and all(m.tflops for m in timed):
        return "TFLOP/s", {(m.case, m.who): m.tflops for m in timed if m.tflops}
    return "calls / ms", {(m.case, m.who): 1 / m.timing.median for m in timed if m.timing and m.timing.median}


def _axes(cases: Sequence[str], unit: str, top: float) -> list[str]:
    parts = [_text(_LEFT - 60, _TOP - 4, unit)]
    for step in range(6):
        y = _y(top * step / 5, top)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 8, y + 4, f"{top * step / 5:g}", anchor="end"))
    for number, case in enumerate(cases):
        x, y = _x(number, len(cases)), _HEIGHT - _BOTTOM + 16
        parts.append(f'<g transform="translate({x:.1f},{y}) rotate(-35)">{_text(0, 0, case, anchor="end")}</g>')
    return parts


def _x(number: int, count: int) -> float:
    return _LEFT + (number + 0.5) * (_WIDTH - _LEFT - _RIGHT) / max(1, count)


def _y(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - value / top * (_HEIGHT - _BOTTOM - _TOP)


def _round_up(value: float) -> float:
    """Round up to the next number of 1, 2, 2.5 or 5 times a power of ten.

    >>> _round_up(3100)
    5000.0
    """
    if value <= 0:
        return 1.0
    power = 10.0 ** floor(log10(value))
    return next((s * power for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= value), float(ceil(value)))


def _text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{svg_text(words)}</text>'
