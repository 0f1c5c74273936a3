"""A rich console that escapes control sequences in the text that it prints."""

import errno
import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from kprof.output.sink import clean


class CleanConsole(Console):
    """A rich console that shows escape sequences in text as visible characters. Only rich's styles become sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield rendered segments, with control characters in their texts escaped."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))

    def on_broken_pipe(self) -> None:
        """Raise an error that kprof handles. rich itself would exit with 1, which means a regression.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
