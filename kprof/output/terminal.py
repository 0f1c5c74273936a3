"""The rich console for tables."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def terminal(*, no_color: bool = False, stderr: bool = False) -> "Console":
    """Return a rich console with colours only on a terminal, and 110 instead of rich's 80 columns in a pipe."""
    from kprof.output.clean_console import CleanConsole
    from kprof.output.sink import StyledStream

    stream = sys.stderr if stderr else sys.stdout
    # rich itself handles NO_COLOR and TERM=dumb.
    return CleanConsole(
        file=StyledStream(stream),  # type: ignore[arg-type]  # it has what a stream has
        no_color=no_color or None,
        highlight=False,
        width=None if stream.isatty() else 110,
        soft_wrap=False,
    )
