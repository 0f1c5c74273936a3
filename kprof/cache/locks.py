"""File locks between processes; a lock ends with the process that holds it, however the process ends."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kprof.cache import location


def try_lock(descriptor: int) -> bool:
    """Lock an open file; return False if another process holds the lock."""
    return _lock(descriptor, wait=False)


def lock(descriptor: int) -> None:
    """Lock an open file, waiting as long as necessary."""
    while not _lock(descriptor, wait=True):
        pass


@contextmanager
def locked(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold a lock during a ``with`` block.

    Args:
        path: the lock's file, created if it does not exist.
        waiting: called once if another process holds the lock.

    Raises:
        OSError: the file cannot be created.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        location.make_private(descriptor)
        if not try_lock(descriptor):
            if waiting is not None:
                waiting()
            lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    # The module ``fcntl`` exists on POSIX systems only, and ``msvcrt`` on Windows only.
    try:
        import fcntl
    except ImportError:
        return _lock_windows(descriptor, wait=wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _lock_windows(descriptor: int, *, wait: bool) -> bool:
    from importlib import import_module

    msvcrt = import_module("msvcrt")
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        # LK_LOCK waits up to ten seconds, so a caller that has to wait longer calls again.
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True
