"""Draw the roofline as SVG: without scripts, with escaped text, and readable on light and dark pages."""

import math

from kprof.inputs.rocprof import short
from kprof.output.svg_text import svg_text
from kprof_analyzers.profiles.counters.roofline import Point, Roof, of_hbm, ranges

_WIDTH, _HEIGHT = 860, 520
_LEFT, _TOP, _RIGHT, _BOTTOM = 80, 30, 230, 60
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c510a", "#555555")
_MOST = 40


def render(points: list[Point], limits: list[Roof], title: str) -> str:
    """Return the picture; the caption gives the number of kernels that cannot be placed."""
    shown = [point for point in points if point.intensity and point.flop_rate][:_MOST]
    roofs = of_hbm(limits)
    body = [f'<text x="{_LEFT}" y="20" font-size="15" font-weight="bold">{svg_text(title)}</text>']
    if not shown:
        body.append(f'<text x="{_LEFT}" y="60">No kernel has the counters that a roofline needs.</text>')
        return _document(body)
    axes = _Axes(*ranges(shown, roofs))
    body += axes.frame()
    for number, roof in enumerate(roofs):
        body += axes.roof(roof, roofs, number)
    for number, point in enumerate(shown):
        body += axes.point(point, number)
    left_out = len(points) - len(shown)
    if left_out:
        words = f"{left_out} kernels without FLOP, or without the counters, are not shown"
        body.append(f'<text x="{_LEFT}" y="{_HEIGHT - 8}" font-size="11">{words}</text>')
    return _document(body)


def _document(body: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="#333">'
    )
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *body, "</svg>", ""])


class _Axes:
    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    def at(self, intensity: float, rate: float) -> tuple[float, float]:
        across = (math.log10(intensity) - self.x[0]) / (self.x[1] - self.x[0])
        up = (math.log10(rate) - self.y[0]) / (self.y[1] - self.y[0])
        return (
            round(_LEFT + across * (_WIDTH - _LEFT - _RIGHT), 1),
            round(_HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM), 1),
        )

    def frame(self) -> list[str]:
        lines = []
        for exponent in range(int(self.x[0]), int(self.x[1]) + 1):
            x, bottom = self.at(10.0**exponent, 10.0 ** self.y[0])
            lines.append(f'<line x1="{x}" y1="{_TOP}" x2="{x}" y2="{bottom}" stroke="#ddd"/>')
            lines.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{10.0**exponent:g}</text>')
        for exponent in range(int(self.y[0]), int(self.y[1]) + 1):
            left, y = self.at(10.0 ** self.x[0], 10.0**exponent)
            lines.append(f'<line x1="{left}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}" stroke="#ddd"/>')
            lines.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{10.0**exponent:g}</text>')
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        lines.append(f'<text x="{middle}" y="{_HEIGHT - 24}" text-anchor="middle">FLOP per byte of HBM traffic</text>')
        up = (_TOP + _HEIGHT - _BOTTOM) / 2
        lines.append(f'<text x="20" y="{up}" text-anchor="middle" transform="rotate(-90 20 {up})">GFLOP/s</text>')
        return lines

    def roof(self, roof: Roof, roofs: list[Roof], number: int) -> list[str]:
        low, high = 10.0 ** self.x[0], 10.0 ** self.x[1]
        slope = max((one.bandwidth for one in roofs if one.bandwidth), default=None)
        if roof.bandwidth:
            peak = max((one.flop_rate for one in roofs if one.flop_rate), default=10.0 ** self.y[1])
            start = max(low, 10.0 ** self.y[0] / roof.bandwidth)
            ends = self.at(start, roof.at(start)), self.at(peak / roof.bandwidth, peak)
        else:
            rate = roof.flop_rate or 1.0
            ends = self.at(min(high, max(low, rate / slope)) if slope else low, rate), self.at(high, rate)
        (x1, y1), (x2, y2) = ends
        label_x, label_y = (x1 + 4, y1 - 6) if roof.bandwidth else (x2 + 6, y2 + 4 - 3 * (number % 2))
        value = f"{roof.bandwidth:,.0f} GB/s" if roof.bandwidth else f"{(roof.flop_rate or 0) / 1000:,.0f} TFLOP/s"
        return [
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#888" stroke-width="1.5"/>',
            f'<text x="{label_x}" y="{label_y}" font-size="10">{svg_text(roof.name)} {value}</text>',
        ]

    def point(self, point: Point, number: int) -> list[str]:
        x, y = self.at(point.intensity or 1.0, point.flop_rate or 1.0)
        colour = _COLOURS[number % len(_COLOURS)]
        share = f", {point.share:.0%} of {point.bound}" if point.share is not None else ""
        name = short(point.kernel)
        title = f"{point.kernel[:300]}: {point.flop_rate:,.0f} GFLOP/s at {point.intensity:.3g} FLOP/byte{share}"
        text = name if len(name) <= 28 else name[:27] + "…"
        return [
            f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}" fill-opacity="0.8">',
            f"<title>{svg_text(title)}</title></circle>",
            f'<text x="{x + 9}" y="{y + 4}" font-size="11">{svg_text(text)}</text>',
        ]
