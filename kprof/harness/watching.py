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
_watchers: list[Watcher] = []


def watched() -> bool:
    """Whether anybody wants to know."""
    return bool(_watchers)


def tell(underway: Underway | None) -> None:
    """Say how far it is; ``None`` when an outcome comes, before anything else is printed."""
    for watcher in _watchers:
        watcher(underway)


@contextlib.contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Have it told inside."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Tell nobody inside: somebody else shows how far it is."""
    kept = list(_watchers)
    tell(None)
    _watchers.clear()
    try:
        yield
    finally:
        _watchers[:] = kept
