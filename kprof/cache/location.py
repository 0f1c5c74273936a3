"""Where the cache is, and whether it can be trusted.

An entry is believed only when it belongs to this user or to root, and no one else may write to it: who can put a file
into the cache decides what kprof says. Folders are made for this user alone, whatever the umask.
"""

import os
import stat
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VARIABLE = "KPROF_CACHE_DIR"
OPEN = stat.S_IWGRP | stat.S_IWOTH
"""Bits of a mode that let others write."""

_POSIX = hasattr(os, "geteuid")
_FOLDER, _FILE = 0o700, 0o600


@dataclass
class _State:
    """What this process was told by the one that started it."""

    silent: bool = False
    settled: bool = False
    root: Path | None = None


_state = _State()


def root() -> Path | None:
    """``$KPROF_CACHE_DIR``, or ``kprof`` in the user's folder for caches; ``None`` for a user without a home."""
    if _state.settled:
        return _state.root
    own = os.environ.get(VARIABLE)
    if own:
        return Path(own).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base).absolute() / "kprof"
    from platformdirs import user_cache_path

    # For a user whom the system does not know, newer releases raise, and older ones leave "~" as it is.
    try:
        place = user_cache_path("kprof", appauthor=False)
    except RuntimeError:
        return None
    return place if place.is_absolute() else None


def entries(base: Path) -> Path:
    """The folder below the cache's root that holds entries and nothing else."""
    return base / "entries"


def check() -> None:
    """Warn, once in the life of a process, if nothing can be kept in the cache."""
    reason = None if _state.silent else trouble(root())
    if reason is not None:
        import logging

        _state.silent = True
        logging.getLogger("kprof").warning("kprof: nothing is kept in the cache: %s", reason)


def silence() -> None:
    """Leave it to another process to say that there is no cache: a worker's output is taken for the compiler's."""
    _state.silent = True


def settle(base: Path | None) -> None:
    """Take the root that another process has found, silently: a recorded program may have no platformdirs."""
    _state.settled, _state.root, _state.silent = True, base, True


@cache
def trouble(base: Path | None) -> str | None:
    """Why entries cannot be kept below a root, which is made if it does not exist; ``None`` when they can."""
    if base is None:
        return f"this user has no home folder; {VARIABLE} names another place"
    folder = entries(base)
    try:
        make_folder(folder)
        mode = folder.stat()
        if not _own(mode):
            return f"{folder} belongs to another user; {VARIABLE} names another place"
        if _POSIX and mode.st_mode & OPEN:
            # Entries that others have put there meanwhile are theirs, and not believed.
            folder.chmod(_FOLDER)
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror}; {VARIABLE} names another place"
    if not os.access(folder, os.W_OK):
        return f"{folder} cannot be written to; {VARIABLE} names another place"
    return None


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, each for this user alone.

    Raises:
        OSError: it cannot be made.
    """
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    try:
        folder.mkdir(_FOLDER)
    except FileExistsError:
        if not folder.is_dir():
            raise
        return
    if _POSIX:
        folder.chmod(_FOLDER)


def make_private(descriptor: int) -> None:
    """Let nobody else read or write an open file, whatever the umask."""
    if _POSIX:
        os.fchmod(descriptor, _FILE)


def trusted(status: os.stat_result) -> bool:
    """Whether what has this status can only have been written by this user or root."""
    return not _POSIX or (_own(status) and not status.st_mode & OPEN)


def _own(status: os.stat_result) -> bool:
    return not _POSIX or status.st_uid in {0, os.geteuid()}
