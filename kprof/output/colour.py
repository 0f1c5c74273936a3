"""ANSI colours for text that is too plain, or start-up too dear, for rich."""

import os
import sys

from kprof.output.sink import clean


def coloured(*, no_color: bool = False) -> bool:
    """Whether standard output is a terminal and colours are not switched off."""
    return not no_color and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def painted(text: str, code: str, *, colour: bool = True) -> str:
    """Clean text, with an ANSI code around it where colours are wanted."""
    return f"\x1b[{code}m{clean(text)}\x1b[0m" if colour and text else clean(text)
