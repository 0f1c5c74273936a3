"""A rich console that styles text and takes no orders from it."""

import errno
import os
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from kprof.output.sink import clean


class CleanConsole(Console):
    """As rich's; escape sequences in what is printed are shown, only its own styles become sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of something, each text in them clean."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=clean(segment.text))

    def on_broken_pipe(self) -> None:
        """Let the program end as it does for every reader that left: rich would exit with 1, which is a regression.

        Raises:
            BrokenPipeError: always.
        """
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
