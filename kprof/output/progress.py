"""Report the progress of compiles and long steps to a watcher, such as the terminal's status line."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kprof.output.sink import before_output

EVERY = 0.25
"""Seconds between two progress reports."""


@dataclass(frozen=True)
class Underway:
    """Progress of the compiles that a pool of workers runs.

    Attributes:
        done: number of finished compiles.
        total: number of all compiles, or ``None`` if unknown.
        name: name of the compile that has been running the longest.
        seconds: running time of that compile.
        stage: stage that it currently produces (``ttir``, ``ttgir``, ``llir``, ``amdgcn``, ``hsaco``), or ``None``.
    """

    done: int
    total: int | None
    name: str
    seconds: float
    stage: str | None


@dataclass
class Step:
    """A long step other than a compile, such as reading a file or building tables.

    Attributes:
        what: description such as ``reading trace.json``.
        total: amount of work, or ``None`` if unknown.
        unit: unit of ``total`` and ``done``: ``bytes``, or a plural such as ``traces``.
        done: amount of finished work; the step itself updates it.
        since: start time on the monotonic clock.
    """

    what: str
    total: int | None = None
    unit: str = ""
    done: int = 0
    since: float = field(default_factory=time.monotonic)


Watcher = Callable[[Underway | tuple[Step, ...] | None], None]
_watcher: Watcher | None = None
_steps: list[Step] = []


def watched() -> bool:
    """Return whether a watcher shows the progress."""
    return _watcher is not None


def tell(underway: Underway | tuple[Step, ...] | None) -> None:
    """Pass progress to the watcher, if there is one; ``None`` clears the shown progress before a result is printed."""
    if _watcher is not None:
        _watcher(underway)


@contextlib.contextmanager
def step(what: str, total: int | None = None, unit: str = "") -> Iterator[Step]:
    """Report the progress of a step inside this context. Steps can be nested. Without a watcher this does nothing."""
    made = Step(what, total, unit)
    if _watcher is None:
        yield made
        return
    outermost = not _steps
    _steps.append(made)
    try:
        with _ticking() if outermost else contextlib.nullcontext():
            yield made
    finally:
        # A step inside an abandoned generator may end after its enclosing step, so remove all inner steps.
        if made in _steps:
            del _steps[_steps.index(made) :]
        if not _steps:
            tell(None)


@contextlib.contextmanager
def until_output(what: str) -> Iterator[None]:
    """Show a step until the first output, because imports and short work report no steps.

    Args:
        what: the command, such as ``kprof select``.
    """
    made = Step(what)
    _steps.append(made)

    def end() -> None:
        if made in _steps:
            _steps.remove(made)
        if _steps:
            tell(None)
        else:
            ticking.close()

    with contextlib.ExitStack() as ticking:
        ticking.enter_context(_ticking())
        before_output.append(end)
        try:
            yield
        finally:
            if end in before_output:
                before_output.remove(end)
            if made in _steps:
                _steps.remove(made)


@contextlib.contextmanager
def _ticking() -> Iterator[None]:
    """Report the steps regularly from a separate thread, because the main thread may be blocked by a long read."""
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(EVERY):
            tell(tuple(_steps))

    thread = threading.Thread(target=look, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        tell(None)


@contextlib.contextmanager
def watching(watcher: Watcher | None) -> Iterator[None]:
    """Use this watcher inside the context; ``None`` if the caller shows the progress itself."""
    global _watcher  # noqa: PLW0603  # one terminal, one line
    before = _watcher
    tell(None)
    _watcher = watcher
    try:
        yield
    finally:
        _watcher = before
