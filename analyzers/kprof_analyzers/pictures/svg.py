"""SVG elements as text. Every string from outside is escaped."""

from collections.abc import Sequence

from kprof.output.svg_text import svg_text

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"


def document(width: float, height: float, body: Sequence[str], title: str) -> str:
    """Return a complete SVG file with a white background and a title for screen readers."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" font-size="12">'
    )
    background = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([head, f"<title>{svg_text(title)}</title>", background, *body, "</svg>", ""])


def rectangle(
    x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "#555555", radius: float = 3
) -> str:
    """Return a rectangle."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:g}" '
        f'fill="{fill}" stroke="{stroke}"/>'
    )


def text(x: float, y: float, words: str, *, size: int = 12, colour: str = "#222222", anchor: str = "start") -> str:
    """Return one line of text."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} font-size="{size}" fill="{colour}">{svg_text(words)}</text>'


def hint(words: str) -> str:
    """Return a hover text for the enclosing group."""
    return f"<title>{svg_text(words)}</title>"


def path(points: str, *, colour: str, width: float = 1.5, arrow: bool = True, dashed: bool = False) -> str:
    """Return a path, by default with an arrow head at its end."""
    head = ' marker-end="url(#arrow)"' if arrow else ""
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="{points}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dash}{head}/>'


ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="context-stroke"/></marker></defs>'
)


def heat(share: float) -> str:
    """Return a colour from white for 0 to orange for 1."""
    share = min(1.0, max(0.0, share))
    low, high = (255, 255, 255), (253, 174, 97)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True))
