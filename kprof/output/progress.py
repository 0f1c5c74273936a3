"""Tells somebody how far compiles are while they are made: a terminal, if there is one."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

EVERY = 0.5
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


Watcher = Callable[[Underway | None], None]
_watcher: Watcher | None = None


def watched() -> bool:
    """Whether anybody wants to know."""
    return _watcher is not None


def tell(underway: Underway | None) -> None:
    """Say how far it is; ``None`` when an outcome comes, before anything else is printed."""
    if _watcher is not None:
        _watcher(underway)


@contextlib.contextmanager
def watching(watcher: Watcher | None) -> Iterator[None]:
    """Have this one told inside, and nobody else; ``None``: nobody, since somebody else shows how far it is."""
    global _watcher  # noqa: PLW0603  # one terminal, one line
    before = _watcher
    tell(None)
    _watcher = watcher
    try:
        yield
    finally:
        _watcher = before
