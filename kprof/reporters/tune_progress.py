"""Progress of a search on standard error: one changing line on a terminal, occasional lines elsewhere."""

import time
from typing import TYPE_CHECKING, Any

from kprof.output.status_line import StatusLine

if TYPE_CHECKING:
    from typing_extensions import Self

    from kprof.tuning.search_result import Progress

_EVERY_TERMINAL = 0.2
_EVERY_PIPE = 10.0


class Reporter:
    """Shows the progress of a search on standard error.

    Args:
        quiet: whether to show nothing.
        stream: output stream; standard error by default.
    """

    def __init__(self, *, quiet: bool = False, stream: Any = None) -> None:
        self._line = StatusLine(stream)
        self._quiet = quiet
        self._last = time.monotonic() - (_EVERY_PIPE - 2.0)

    def __enter__(self) -> "Self":
        self._line.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._line.__exit__()

    def show(self, progress: "Progress") -> None:
        """Show the progress, unless it was shown just before."""
        now = time.monotonic()
        if self._quiet or now - self._last < (_EVERY_TERMINAL if self._line.terminal else _EVERY_PIPE):
            return
        self._last = now
        if self._line.terminal:
            self._line.draw(line(progress))
        else:
            print(line(progress), file=self._line.stream, flush=True)

    def tell(self, text: str) -> None:
        """Print a permanent line."""
        self._line.clear()
        if not self._quiet:
            print(text, file=self._line.stream, flush=True)


def line(progress: "Progress") -> str:
    """Return the progress of a search as one line.

    For example ``312 of 1,204 · 2:55 left · best 210 µs · 96 of 180 tiles · 5.1 compiles/s · 12 invalid``. The most
    important values come first, because a narrow terminal truncates the line.
    """
    from kprof.output.quantities import duration
    from kprof.reporters.tune_text import element_cycles

    parts = [f"{progress.done:,} of {progress.total:,}"]
    left = progress.left
    if left is not None:
        parts.append(f"{_clock(left)} left")
    if progress.best is not None:
        name, cost = progress.best
        best = element_cycles(cost, progress.axis) if progress.axis else duration(cost)
        parts.append(f"best {best}" + (f" for {name}" if progress.problems > 1 else ""))
    if progress.tiles_seen < progress.tiles:
        parts.append(f"{progress.tiles_seen:,} of {progress.tiles:,} tiles")
    parts.append(f"{progress.rate:.1f} compiles/s")
    if progress.failed:
        parts.append(f"{progress.failed:,} invalid")
    if progress.resumed:
        parts.append(f"{progress.resumed:,} known before")
    return " · ".join(parts)


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
