"""Opening a file that comes from outside: the one place, below :mod:`kprof.inputs.boundary`, which reads it.

It imports nothing but the standard library, as it is used inside recorded programs, too.
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
    """A plain file, open for reading. Opening a pipe would wait for a writer, and a device may never end.

    Args:
        path: the file.
        links: whether one that is a link is followed.

    Raises:
        OSError: it is missing or cannot be read; ``IsADirectoryError`` for a folder.
        InputError: it is no plain file.
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
    """The first bytes of a plain file, by which its kind is recognised; none where it cannot be read."""
    try:
        with opened(path) as file:
            return file.read(size)
    except (OSError, ValueError, InputError):
        return b""


def unlisted(error: OSError) -> InputError:
    """What to say of a folder whose content cannot be listed, and which ``os.walk`` passes over."""
    return InputError(f"cannot be listed: {error.strerror or error}", path=str(error.filename))


def mapped(path: str | Path) -> memoryview:
    """A plain file as a map of memory: what is not looked at is not read.

    Raises:
        KprofError: it is missing, is no plain file, or cannot be read.
    """
    try:
        with opened(path) as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", path=str(path)) from None
