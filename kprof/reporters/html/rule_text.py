"""A rule's documentation as HTML: headings, paragraphs, lists and code, which is all that it uses."""

import re
from typing import TYPE_CHECKING

from kprof.reporters.html.parts import clean

if TYPE_CHECKING:
    from markupsafe import Markup

_TRY = re.compile(r"^## What to try\s*$(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_STRESSED = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*]*[^\s*])\*(?![\w*])")
_ITEM = re.compile(r"^\s*[-*] ")


def what_to_try(help_text: str) -> "Markup":
    """The part that says what to do; empty when there is none."""
    found = _TRY.search(help_text)
    return as_html(found[1].strip() if found else "")


def explanation(help_text: str) -> "Markup":
    """The whole text without that part."""
    return as_html(_TRY.sub("", help_text).strip())


def as_html(text: str) -> "Markup":
    """The Markdown of a rule's docstring; whatever it does not use stays text."""
    from markupsafe import Markup

    blocks = (_block(block) for block in re.split(r"\n\s*\n|\n(?=## )", clean(text)) if block.strip())
    return Markup("\n").join(blocks)


def _block(text: str) -> "Markup":
    from markupsafe import Markup

    lines = text.strip("\n").splitlines()
    if lines[0].startswith("## "):
        heading = Markup("<h5>{}</h5>").format(lines[0][3:].strip())
        rest = "\n".join(lines[1:])
        return heading + _block(rest) if rest.strip() else heading
    if all(line.startswith("    ") for line in lines):
        return Markup("<pre>{}</pre>").format("\n".join(line[4:] for line in lines))
    if _ITEM.match(lines[0]):
        items = re.split(r"\n(?=\s*[-*] )", "\n".join(lines))
        inner = Markup("").join(Markup("<li>{}</li>").format(_inline(_ITEM.sub("", item))) for item in items)
        return Markup("<ul>{}</ul>").format(inner)
    return Markup("<p>{}</p>").format(_inline(" ".join(line.strip() for line in lines)))


def _inline(text: str) -> "Markup":
    from markupsafe import Markup, escape

    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else _stressed(part) for number, part in enumerate(parts)
    )


def _stressed(text: str) -> "Markup":
    """Words between single asterisks, which touch no other letter outside."""
    from markupsafe import Markup, escape

    parts = _STRESSED.split(text)
    return Markup("").join(
        Markup("<em>{}</em>").format(part) if number % 2 else escape(part) for number, part in enumerate(parts)
    )
