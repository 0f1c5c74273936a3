"""The terminal that tables are drawn on."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def terminal(*, no_color: bool = False, stderr: bool = False) -> "Console":
    """A rich console: colours only on a terminal, 110 columns in a pipe so that nothing is squeezed to 80."""
    from kprof.output.clean_console import CleanConsole
    from kprof.output.sink import StyledStream

    stream = sys.stderr if stderr else sys.stdout
    # NO_COLOR and TERM=dumb are honoured by rich itself.
    return CleanConsole(
        file=StyledStream(stream),  # type: ignore[arg-type]  # it has what a stream has
        no_color=no_color or None,
        highlight=False,
        width=None if stream.isatty() else 110,
        soft_wrap=False,
    )
