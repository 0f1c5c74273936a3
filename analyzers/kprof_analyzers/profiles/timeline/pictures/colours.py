"""Assign one colour to each category, the same in all pictures."""

from zlib import crc32

from kprof.output.svg_text import svg_text

# Okabe and Ito's palette, which colour-blind readers can distinguish, with some darker additions.
_FIXED = {
    "attention": "#0072B2",
    "attention GEMM": "#56B4E9",
    "MLP GEMM": "#009E73",
    "GEMM": "#4C9F70",
    "MoE": "#7BC8A4",
    "convolution": "#2E8B8B",
    "normalization": "#E69F00",
    "activation": "#F0C419",
    "softmax": "#C77CFF",
    "elementwise": "#CC79A7",
    "reduction": "#8C6BB1",
    "communication": "#D55E00",
    "memory": "#7F7F7F",
    "embedding": "#A6761D",
    "idle": "#E8E8E8",
    "other": "#B0B0B0",
}
_FURTHER = ("#1B6CA8", "#B5651D", "#6B8E23", "#8B3A62", "#483D8B", "#008B8B", "#A0522D", "#556B2F")


def colour(category: str) -> str:
    """Return the fixed colour of a category, or a colour derived from its name."""
    return _FIXED.get(category) or _FURTHER[crc32(category.encode()) % len(_FURTHER)]


def shortened(value: str, length: int) -> str:
    """Return the text cut to at most ``length`` characters, with an ellipsis."""
    return value if len(value) <= length else value[: length - 1] + "…"


def svg(width: int, height: int, title: str, body: list[str]) -> str:
    """Return a complete SVG document with an accessible title."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12" role="img"><title>{svg_text(title)}</title>'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>' + "".join(body) + "</svg>\n"
    )
