"""Create rich consoles for tables."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def terminal(*, no_color: bool = False, stderr: bool = False) -> "Console":
    """Create a rich console that uses colours only on a terminal, and 110 instead of rich's 80 columns in a pipe."""
    from kprof.output.clean_console import CleanConsole
    from kprof.output.sink import StyledStream

    stream = sys.stderr if stderr else sys.stdout
    # NO_COLOR and TERM=dumb need no code, because rich handles them.
    return CleanConsole(
        file=StyledStream(stream),  # type: ignore[arg-type]  # it has the methods of a text stream
        no_color=no_color or None,
        highlight=False,
        width=None if stream.isatty() else 110,
        soft_wrap=False,
    )
