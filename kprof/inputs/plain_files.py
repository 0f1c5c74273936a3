"""Read files of untrusted directories, with size limits and without following symbolic links."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from kprof.errors import InputError
from kprof.inputs.opening import opened

STAGE_LIMIT = 1 << 28
"""Maximum bytes of one compiler output: about a hundred times the output for a kernel with 100,000 instructions."""

HEAD_LIMIT = 1 << 20
LINE_LIMIT = 1 << 22
JOURNAL_LIMIT = 1 << 31
"""Maximum bytes of one journal: about twenty million launches."""


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the content of a plain file.

    Raises:
        FileNotFoundError: if the file does not exist.
        KprofError: if it is a link, a device or another special file, is larger than ``limit``, or cannot be read.
    """
    with _open(path, limit) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(f"too large for such a file: {len(data):,} bytes", path=str(path))
    return data


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a plain file with their numbers, from 1, including a last line without a newline.

    Raises:
        FileNotFoundError: if the file does not exist.
        KprofError: under the conditions of :func:`read_bytes`, or if a line is longer than any valid line.
    """
    with _open(path, JOURNAL_LIMIT) as file:
        number = 0
        while line := file.readline(LINE_LIMIT + 1):
            number += 1
            if len(line) > LINE_LIMIT:
                raise InputError("the line is too long", path=str(path), place=f"line {number}")
            yield number, line


def plain_folder(path: Path) -> bool:
    """Return whether a path is a directory and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _open(path: Path, limit: int) -> BinaryIO:
    try:
        file = opened(path, links=False)
    except FileNotFoundError:
        raise
    except (InputError, IsADirectoryError):
        raise InputError("is not a plain file", path=str(path)) from None
    except OSError as error:
        if path.is_symlink():
            raise InputError("is a link, and links are not followed", path=str(path)) from None
        raise InputError(f"cannot be read: {error.strerror}", path=str(path)) from None
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        file.close()
        raise InputError(f"too large for such a file: {size:,} bytes", path=str(path))
    return file
