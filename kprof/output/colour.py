"""ANSI colours without rich, whose import is slow."""

import os
import sys

from kprof.output.sink import clean


def coloured(*, no_color: bool = False) -> bool:
    """Return whether standard output is a terminal and colours are not disabled."""
    return not no_color and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def painted(text: str, code: str, *, colour: bool = True) -> str:
    """Return the text with control characters escaped, in the ANSI colour ``code`` if ``colour`` is set."""
    return f"\x1b[{code}m{clean(text)}\x1b[0m" if colour and text else clean(text)
