"""Tells somebody how far compiles and long steps are: a terminal, if there is one."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kprof.output.sink import before_output

EVERY = 0.25
"""Seconds between two looks."""


@dataclass(frozen=True)
class Underway:
    """How far the compiles of a pool are.

    Attributes:
        done: how many have ended.
        total: how many there are, where that is known.
        name: of the one that has taken longest so far.
        seconds: that it has taken.
        stage: what is being made of it (``ttir``, ``ttgir``, ``llir``, ``amdgcn``, ``hsaco``), where that is known.
    """

    done: int
    total: int | None
    name: str
    seconds: float
    stage: str | None


@dataclass
class Step:
    """A piece of work that may take long and is no compile: a file that is read, tables that are put together.

    Attributes:
        what: it is, in words such as ``reading trace.json``.
        total: how much there is to do, where that is known.
        unit: of ``total`` and ``done``: ``bytes``, or a plural such as ``traces``.
        done: how much is done; the work itself counts here.
        since: when it began, on the monotonic clock.
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
    """Whether progress is shown."""
    return _watcher is not None


def tell(underway: Underway | tuple[Step, ...] | None) -> None:
    """Say how far it is; ``None`` when an outcome comes, before anything else is printed."""
    if _watcher is not None:
        _watcher(underway)


@contextlib.contextmanager
def step(what: str, total: int | None = None, unit: str = "") -> Iterator[Step]:
    """Show, while this is done, how far it is; steps may stand in steps. Without a watcher it costs nothing."""
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
        # A generator that is given up may end after the step around it.
        if made in _steps:
            del _steps[_steps.index(made) :]
        if not _steps:
            tell(None)


@contextlib.contextmanager
def until_output(what: str) -> Iterator[None]:
    """Show a step from the program's start until its first output: imports and short work have no step of their own.

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
    """A thread that looks now and then, as a file may take longer than its reader could tell."""
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
    """Inside, tell this watcher and no other; ``None``: none, since the caller shows the progress."""
    global _watcher  # noqa: PLW0603  # one terminal, one line
    before = _watcher
    tell(None)
    _watcher = watcher
    try:
        yield
    finally:
        _watcher = before
