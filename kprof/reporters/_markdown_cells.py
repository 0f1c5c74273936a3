"""Escape text for Markdown."""

import html
import re

from kprof.output.sink import clean

COMMENT_LIMIT = 65_536
"""Maximum length of a comment on GitHub, in characters."""

STATUS_ICON = {"ok": "✅", "regression": "❌", "cannot_tell": "❔"}
"""Icons of verdicts."""


def code(text: str) -> str:
    """Format text as inline code; empty text stays empty."""
    # An unescaped bar would end the table cell. Backslashes before it are doubled, or they would escape its backslash.
    clean = re.sub(r"(\\*)\|", r"\1\1\\|", flat(text).replace("`", "'"))
    return f"`{clean}`" if clean else ""


def cell(text: str) -> str:
    """Escape text so that it contains no markup, no cell separator and no mention of a user."""
    escaped = html.escape(flat(text), quote=False)
    for character in "\\`*_[]|":
        escaped = escaped.replace(character, f"\\{character}")
    return escaped.replace("@", "&#64;")


def flat(text: str) -> str:
    """Return text on one line, without control characters."""
    return " ".join(clean(text).split())
