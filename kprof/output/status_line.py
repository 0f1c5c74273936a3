"""A line on standard error that the next one replaces, and that is gone in the end."""

import contextlib
import shutil
import sys
from typing import TYPE_CHECKING, Any

from kprof.output.progress import watching
from kprof.output.sink import DrawingStream, one_line, output_begins

if TYPE_CHECKING:
    from typing_extensions import Self

_AGAIN = "\r\x1b[K"


class StatusLine:
    """The line, where there is a terminal to draw it on.

    Args:
        stream: where to; standard error by default.
        takes_over: whether it replaces, from its first text on, the line that is shown from the program's start.

    Attributes:
        stream: the same.
        terminal: whether it is one; on anything else nothing is drawn.
    """

    def __init__(self, stream: Any = None, *, takes_over: bool = True) -> None:
        self.stream = stream if stream is not None else sys.stderr
        self.terminal = bool(self.stream.isatty())
        self._takes_over = takes_over
        self._drawn = False
        self._alone = contextlib.ExitStack()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        self._alone.close()

    def draw(self, text: str) -> None:
        """Show a text instead of the one before, as much of it as one line holds."""
        if self.terminal:
            if self._takes_over:
                output_begins()
                self._alone.enter_context(watching(None))
                self._takes_over = False
            self._write(_AGAIN + one_line(text)[: shutil.get_terminal_size().columns - 1])
            self._drawn = True

    def clear(self) -> None:
        """Take it away, if there is one."""
        if self._drawn:
            self._write(_AGAIN)
            self._drawn = False

    def _write(self, text: str) -> None:
        DrawingStream(self.stream).write(text)
        self.stream.flush()
