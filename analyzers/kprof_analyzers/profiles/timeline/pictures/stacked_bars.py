"""Stacked bars over several traces: batch sizes, versions, ranks."""

from collections.abc import Sequence

from kprof.output.svg_text import svg_text
from kprof_analyzers.profiles.timeline.pictures.colours import colour, shortened, svg

_LEFT, _TOP, _WIDTH, _BAR, _STEP = 190, 50, 520, 22, 34


def stacked_bars(rows: Sequence[tuple[str, dict[str, int]]], title: str, *, relative: bool = False) -> str:
    """SVG with one bar a trace.

    Args:
        rows: label and categories, in ns; an ``idle`` category is drawn light.
        title: heading.
        relative: every bar is 100 % wide; otherwise lengths compare.
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
