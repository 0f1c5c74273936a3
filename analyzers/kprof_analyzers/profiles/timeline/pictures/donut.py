"""The share donut: where one trace's GPU time goes."""

from collections.abc import Mapping
from math import cos, pi, sin

from kprof.output.svg_text import svg_text
from kprof_analyzers.profiles.timeline.pictures.colours import colour, shortened, svg

_MIDDLE, _OUTER, _INNER = 170, 140, 85
_LEAST_LABEL = 0.04


def donut(shares: Mapping[str, int], title: str) -> str:
    """SVG of categories (ns each) as a ring with a legend; an empty ring when there is nothing."""
    whole = sum(shares.values())
    body: list[str] = [f'<text x="20" y="24" font-size="15" font-weight="bold">{svg_text(shortened(title, 80))}</text>']
    angle = -pi / 2
    for name, value in shares.items():
        if whole and value > 0:
            share = value / whole
            body.append(_slice(angle, share, name, value))
            angle += 2 * pi * share
    body.extend(
        (
            f'<text x="{_MIDDLE}" y="{_MIDDLE + 40}" text-anchor="middle" font-size="22">{whole / 1e6:,.2f} ms</text>',
            f'<text x="{_MIDDLE}" y="{_MIDDLE + 60}" text-anchor="middle" fill="#555">GPU time</text>',
        )
    )
    for row, (name, value) in enumerate(shares.items()):
        y = 60 + row * 20
        share_text = f"{100 * value / whole:5.1f} %" if whole else "-"
        body.extend(
            (
                f'<rect x="340" y="{y - 10}" width="12" height="12" fill="{colour(name)}"/>',
                f'<text x="360" y="{y}">{svg_text(shortened(name, 30))}</text>',
                f'<text x="640" y="{y}" text-anchor="end">{value / 1e6:,.3f} ms  {share_text}</text>',
            )
        )
    return svg(660, max(360, 80 + 20 * len(shares)), title, body)


def _slice(start: float, share: float, name: str, value: int) -> str:
    y = _MIDDLE + 35
    tip = f"<title>{svg_text(name)}: {value / 1e6:,.3f} ms, {100 * share:.1f} %</title>"
    if share > 0.99999:
        radius, width = (_OUTER + _INNER) / 2, _OUTER - _INNER
        return (
            f'<circle cx="{_MIDDLE}" cy="{y}" r="{radius}" fill="none" stroke="{colour(name)}" '
            f'stroke-width="{width}">{tip}</circle>'
        )
    end = start + 2 * pi * share
    large = int(share > 0.5)
    points = [(_MIDDLE + r * cos(a), y + r * sin(a)) for r, a in ((_OUTER, start), (_OUTER, end))]
    points += [(_MIDDLE + r * cos(a), y + r * sin(a)) for r, a in ((_INNER, end), (_INNER, start))]
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = points
    path = (
        f"M{ax:.2f} {ay:.2f}A{_OUTER} {_OUTER} 0 {large} 1 {bx:.2f} {by:.2f}"
        f"L{cx:.2f} {cy:.2f}A{_INNER} {_INNER} 0 {large} 0 {dx:.2f} {dy:.2f}Z"
    )
    label = ""
    if share >= _LEAST_LABEL:
        middle, radius = (start + end) / 2, (_OUTER + _INNER) / 2
        label = (
            f'<text x="{_MIDDLE + radius * cos(middle):.1f}" y="{y + radius * sin(middle) + 4:.1f}" '
            f'text-anchor="middle" fill="#fff" font-size="11">{100 * share:.0f}%</text>'
        )
    return f'<path d="{path}" fill="{colour(name)}" stroke="#fff">{tip}</path>{label}'
