"""Escape untrusted text for SVG pictures."""

import re
from functools import cache
from html import escape


def svg_text(value: str) -> str:
    """Escape a text; characters that XML 1.0 forbids (control characters, lone surrogates) become U+FFFD."""
    return escape(_forbidden().sub("\ufffd", value))


@cache
def _forbidden() -> "re.Pattern[str]":
    # Compile the pattern on first use, because it is slow and most commands draw nothing.
    return re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
