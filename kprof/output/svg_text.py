"""Text from outside inside an SVG picture."""

import re
from functools import cache
from html import escape


def svg_text(value: str) -> str:
    """Escaped, and what XML 1.0 forbids (control characters, halves of surrogate pairs) replaced by U+FFFD."""
    return escape(_forbidden().sub("\ufffd", value))


@cache
def _forbidden() -> "re.Pattern[str]":
    # Compiling it takes longer than the rest of what most commands, which draw nothing, load here.
    return re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
