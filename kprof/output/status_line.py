"""A status line on standard error that is redrawn in place and cleared at the end."""

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
    """A status line that is drawn only on a terminal.

    Args:
        stream: stream to draw on; standard error by default.
        takes_over: whether the first text removes the program's progress line, and keeps it hidden until this line is
            closed.

    Attributes:
        stream: stream to draw on.
        terminal: whether the stream is a terminal; otherwise nothing is drawn.
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
        """Replace the shown text, cut to the width of the terminal."""
        if self.terminal:
            if self._takes_over:
                output_begins()
                self._alone.enter_context(watching(None))
                self._takes_over = False
            self._write(_AGAIN + one_line(text)[: shutil.get_terminal_size().columns - 1])
            self._drawn = True

    def clear(self) -> None:
        """Clear the line if it is shown."""
        if self._drawn:
            self._write(_AGAIN)
            self._drawn = False

    def _write(self, text: str) -> None:
        DrawingStream(self.stream).write(text)
        self.stream.flush()
