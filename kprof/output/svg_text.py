"""Text from outside inside an SVG picture."""

import re
from html import escape

_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def svg_text(value: str) -> str:
    """Escaped, and what XML 1.0 forbids (control characters, halves of surrogate pairs) replaced by U+FFFD."""
    return escape(_FORBIDDEN.sub("\ufffd", value))
