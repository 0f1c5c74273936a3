"""Text inside Markdown that stays text."""

import html
import re

from kprof.output.sink import clean

COMMENT_LIMIT = 65_536
"""Characters that GitHub takes in a comment."""

STATUS_ICON = {"ok": "✅", "regression": "❌", "cannot_tell": "❔"}
"""Of a verdict."""


def code(text: str) -> str:
    """As code, or nothing for no text."""
    # A backslash before it would be the one that is escaped, and the bar would end the cell.
    clean = re.sub(r"(\\*)\|", r"\1\1\\|", flat(text).replace("`", "'"))
    return f"`{clean}`" if clean else ""


def cell(text: str) -> str:
    """Text that stays text: no markup, no table cell of its own, no mention of anyone."""
    escaped = html.escape(flat(text), quote=False)
    for character in "\\`*_[]|":
        escaped = escaped.replace(character, f"\\{character}")
    return escaped.replace("@", "&#64;")


def flat(text: str) -> str:
    """On one line, without control characters."""
    return " ".join(clean(text).split())
