"""Open folders, plain files and ``.gz`` files of measurements, within size limits."""

import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kprof.errors import InputError
from kprof.inputs.boundary import gunzipped
from kprof.inputs.opening import mapped

_BOM = b"\xef\xbb\xbf"


class EmptyFileError(InputError):
    """The file, or the content of its ``.gz``, is empty. Profilers write this for a process without kernels."""


@dataclass
class Opened:
    """An opened file and its content.

    Attributes:
        path: path given by the user or found in a folder.
        folder: folder that contains the file.
        body: unpacked content without a byte order mark; a memory map for plain files.
        damage: description of damage to the compression, if part of the content could be read.
        is_plain: whether the file is uncompressed, so that SQLite can open it by its path.
    """

    path: Path
    folder: Path
    body: memoryview
    damage: str | None = None
    is_plain: bool = True

    @cached_property
    def head(self) -> bytes:
        """The first 256 KiB, by which the format is recognised."""
        return bytes(self.body[: 1 << 18])

    @cached_property
    def first_line(self) -> str:
        """The first line as text, without its line ending."""
        return self.head.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace")


def files_of(path: Path) -> list[Path]:
    """Return the file itself, or all files below a folder, sorted and including hidden ones. Links are ignored.

    Raises:
        KprofError: if the path does not exist.
    """
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
    if not path.exists():
        raise InputError("no such file or folder", path=str(path))
    return [path]


def open_file(path: Path, *, limit: int | None = None) -> Opened:
    """Map a file into memory, or unpack it if its first bytes are those of gzip.

    Raises:
        KprofError: if the file is empty, unreadable, named .gz without being gzip, or unpacks to more than ``limit``
            bytes or than :func:`kprof.inputs.boundary.gunzipped` allows.
    """
    try:
        if not path.is_file():
            raise InputError("not a regular file", path=str(path))
        if path.stat().st_size == 0:
            raise EmptyFileError("the file is empty", path=str(path))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=str(path)) from error
    body = mapped(path)
    damage = None
    packed = bytes(body[:2]) == b"\x1f\x8b"
    if packed:
        data, damage = _unpack(body, path, limit)
        body = memoryview(data)
    elif path.suffix == ".gz":
        raise InputError("named .gz but not gzip data", path=str(path))
    if bytes(body[:3]) == _BOM:
        body = body[3:]
    return Opened(path, path.parent, body, damage, is_plain=not packed)


def _unpack(body: memoryview, path: Path, limit: int | None) -> tuple[bytearray, str | None]:
    # The buffer grows in place, because joining pieces at the end would take twice the memory.
    whole = bytearray()
    try:
        for piece in gunzipped(body, str(path), most=limit):
            whole += piece
    except (zlib.error, EOFError) as error:
        if not whole:
            raise InputError("damaged gzip data, nothing could be unpacked", path=str(path)) from error
        what = "is cut off" if isinstance(error, EOFError) else "is damaged"
        return whole, f"the gzip data {what} after {len(whole):,} unpacked bytes; later data is missing"
    if not whole:
        raise EmptyFileError("the file is empty", path=str(path))
    return whole, None
