"""Reading the files of a directory that may come from a stranger: bounded, and never through a link."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from kprof.errors import InputError

STAGE_LIMIT = 1 << 28
"""Bytes of one product of the compiler; a kernel of a hundred thousand instructions has a hundredth."""

HEAD_LIMIT = 1 << 20
LINE_LIMIT = 1 << 22
JOURNAL_LIMIT = 1 << 31
"""Bytes of one journal: some twenty million launches."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def read_bytes(path: Path, limit: int) -> bytes:
    """The whole content of a plain file.

    Raises:
        FileNotFoundError: there is none.
        KprofError: it is a link, a device or the like, larger than ``limit``, or cannot be read.
    """
    with os.fdopen(_open(path, limit), "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"{len(data):,} bytes are more than such a file has", path=str(path))
    return data


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a plain file with their numbers, from 1; one that is not ended by a newline too.

    Raises:
        FileNotFoundError: there is none.
        KprofError: as :func:`read_bytes`; or a line is longer than any that is written.
    """
    with os.fdopen(_open(path, JOURNAL_LIMIT), "rb") as file:
        number = 0
        while line := file.readline(LINE_LIMIT + 1):
            number += 1
            if len(line) > LINE_LIMIT:
                raise InputError("the line is longer than any that is written", path=str(path), place=f"line {number}")
            yield number, line


def plain_folder(path: Path) -> bool:
    """Whether this is a directory and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _open(path: Path, limit: int) -> int:
    try:
        number = os.open(path, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise InputError("is a link, and links are not followed", path=str(path)) from None
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from None
    found = os.fstat(number)
    if stat.S_ISREG(found.st_mode) and found.st_size <= limit:
        return number
    os.close(number)
    if stat.S_ISREG(found.st_mode):
        raise InputError(f"{found.st_size:,} bytes are more than such a file has", path=str(path))
    raise InputError("is no plain file", path=str(path))
