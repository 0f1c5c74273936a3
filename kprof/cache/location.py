"""Location of the cache, and checks whether it can be trusted.

An entry is used only if it belongs to this user or to root and nobody else can write to it, because a file in the cache
decides what kprof reports. Folders are created for this user alone, whatever the umask.
"""

import os
import stat
from dataclasses import dataclass
from functools import cache
from pathlib import Path

VARIABLE = "KPROF_CACHE_DIR"
OPEN = stat.S_IWGRP | stat.S_IWOTH
"""Mode bits that let other users write."""

_POSIX = hasattr(os, "geteuid")
_FOLDER, _FILE = 0o700, 0o600


@dataclass
class _State:
    """State of the cache in this process, which a parent process may set."""

    silent: bool = False
    settled: bool = False
    root: Path | None = None


_state = _State()


def root() -> Path | None:
    """Return ``$KPROF_CACHE_DIR``, or ``kprof`` in the user's cache folder; ``None`` for a user without a home."""
    if _state.settled:
        return _state.root
    own = os.environ.get(VARIABLE)
    if own:
        return Path(own).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base).absolute() / "kprof"
    from platformdirs import user_cache_path

    # For a user without a home, newer releases of platformdirs raise an error, and older ones return "~" unchanged.
    try:
        place = user_cache_path("kprof", appauthor=False)
    except RuntimeError:
        return None
    return place if place.is_absolute() else None


def entries(base: Path) -> Path:
    """Return the folder below the cache's root that contains only entries."""
    return base / "entries"


def check() -> None:
    """Warn, once per process, if nothing can be stored in the cache."""
    reason = None if _state.silent else trouble(root())
    if reason is not None:
        import logging

        _state.silent = True
        logging.getLogger("kprof").warning("kprof: nothing is kept in the cache: %s", reason)


def silence() -> None:
    """Suppress the warning about a missing cache: in a worker, output would be mistaken for the compiler's."""
    _state.silent = True


def settle(base: Path | None) -> None:
    """Use the root that the parent process found, without warnings: a recorded program may not have platformdirs."""
    _state.settled, _state.root, _state.silent = True, base, True


@cache
def trouble(base: Path | None) -> str | None:
    """Return why entries cannot be stored below a root, or ``None``; the root is created if it does not exist."""
    if base is None:
        return f"this user has no home folder; {VARIABLE} names another folder"
    folder = entries(base)
    try:
        make_folder(folder)
        mode = folder.stat()
        if not _is_own(mode):
            return f"{folder} belongs to another user; {VARIABLE} names another folder"
        if _POSIX and mode.st_mode & OPEN:
            # Entries that other users wrote in the meantime still belong to them, so they are not trusted.
            folder.chmod(_FOLDER)
    except OSError as error:
        return f"{error.filename or folder}: {error.strerror}; {VARIABLE} names another folder"
    if not os.access(folder, os.W_OK):
        return f"{folder} cannot be written to; {VARIABLE} names another folder"
    return None


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, each for this user alone.

    Raises:
        OSError: a folder cannot be created.
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
    """Deny other users access to an open file, whatever the umask."""
    if _POSIX:
        os.fchmod(descriptor, _FILE)


def trusted(status: os.stat_result) -> bool:
    """Return whether only this user or root can have written a file with this status."""
    return not _POSIX or (_is_own(status) and not status.st_mode & OPEN)


def _is_own(status: os.stat_result) -> bool:
    return not _POSIX or status.st_uid in {0, os.geteuid()}
