"""Open files from outside kprof; :mod:`kprof.inputs.boundary` builds on this module to read them.

The module imports only the standard library and ``kprof.errors``, because it is also used inside recorded programs.
"""

import mmap
import os
from errno import EISDIR
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO

from kprof.errors import InputError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def opened(path: str | Path, *, links: bool = True) -> BinaryIO:
    """Open a plain file for reading. Other files are rejected: a pipe would wait for a writer, a device may never end.

    Args:
        path: path of the file.
        links: whether to follow a symbolic link.

    Raises:
        OSError: if the file is missing or unreadable; ``IsADirectoryError`` for a folder.
        InputError: if it is not a plain file.
    """
    number = os.open(path, _FLAGS | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    mode = os.fstat(number).st_mode
    if S_ISREG(mode):
        return os.fdopen(number, "rb")
    os.close(number)
    if S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    raise InputError("is not a file", path=str(path))


def head_of(path: str | Path, size: int) -> bytes:
    """Return the first bytes of a plain file, which identify its format; ``b""`` if it cannot be read."""
    try:
        with opened(path) as file:
            return file.read(size)
    except (OSError, ValueError, InputError):
        return b""


def unlisted(error: OSError) -> InputError:
    """Return the error for a folder that cannot be listed, which ``os.walk`` skips silently."""
    return InputError(f"cannot be listed: {error.strerror or error}", path=str(error.filename))


def mapped(path: str | Path) -> memoryview:
    """Map a plain file into memory; parts that are not accessed are not read.

    Raises:
        KprofError: if the file is missing, is not a plain file, or cannot be read.
    """
    try:
        with opened(path) as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=str(path)) from None
