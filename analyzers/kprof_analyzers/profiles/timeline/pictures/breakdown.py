"""Draw the time of traces by category: stacked bars for several traces, a donut or text bars for one."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin

from kprof.output.svg_text import svg_text
from kprof_analyzers.profiles.timeline.pictures.colours import colour, shortened, svg

_MIDDLE, _OUTER, _INNER = 170, 140, 85
_LEAST_LABEL = 0.04
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"
_LEFT, _TOP, _WIDTH, _BAR, _STEP = 190, 50, 520, 22, 34


def stacked_bars(rows: Sequence[tuple[str, dict[str, int]]], title: str, *, relative: bool = False) -> str:
    """Return an SVG with one stacked bar per trace.

    Args:
        rows: label of each trace, with its time in ns by category; ``idle`` is drawn in a light colour.
        title: heading.
        relative: whether every bar has the same length, 100 %; otherwise lengths are proportional to the times.
    """
    names = list(dict.fromkeys(n for _, shares in rows for n in shares))
    longest = max((sum(s.values()) for _, s in rows), default=0) or 1
    body = [f'<text x="20" y="24" font-size="15" font-weight="bold">{svg_text(shortened(title, 90))}</text>']
    for index, (label, shares) in enumerate(rows):
        y = _TOP + index * _STEP
        whole = sum(shares.values())
        scale = _WIDTH / (whole or 1) if relative else _WIDTH / longest
        body.append(f'<text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end">{svg_text(shortened(label, 28))}</text>')
        x = float(_LEFT)
        for name in names:
            width = shares.get(name, 0) * scale
            if width > 0:
                tip = f"{name}: {shares[name] / 1e6:,.3f} ms, {100 * shares[name] / whole:.1f} %"
                body.append(
                    f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}" fill="{colour(name)}">'
                    f"<title>{svg_text(tip)}</title></rect>"
                )
                x += width
        body.append(f'<text x="{x + 6:.1f}" y="{y + 15}" fill="#333">{whole / 1e6:,.2f} ms</text>')
    below = _TOP + len(rows) * _STEP + 12
    for index, name in enumerate(names):
        column, row = index % 4, index // 4
        x_at, y = 20 + column * 200, below + row * 20
        body.append(f'<rect x="{x_at}" y="{y}" width="12" height="12" fill="{colour(name)}"/>')
        body.append(f'<text x="{x_at + 18}" y="{y + 10}">{svg_text(shortened(name, 24))}</text>')
    return svg(840, below + 20 * (len(names) // 4 + 1) + 12, title, body)


def bar(share: float, width: int) -> str:
    """Return a bar of text that fills ``share`` (0 to 1) of ``width`` cells, to an eighth of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def sparkline(shares: Sequence[float]) -> str:
    """Return a line of text with one block character per value (0 to 1); every value above 0 is visible."""
    return "".join(_LEVELS[max(1, round(min(1.0, s) * 8)) if s > 0 else 0] for s in shares)


def donut(shares: Mapping[str, int], title: str) -> str:
    """Return an SVG ring of categories (ns each) with a legend; the ring is empty if there is no time."""
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
