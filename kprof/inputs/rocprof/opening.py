"""Open what a user points at: folders, plain files and ``.gz``, within bounds."""

import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kprof.errors import InputError
from kprof.inputs.boundary import gunzipped
from kprof.inputs.opening import mapped

_BOM = b"\xef\xbb\xbf"


class EmptyFileError(InputError):
    """There is nothing in a file, or in a ``.gz``: what a profiler leaves behind for a process without kernels."""


@dataclass
class Opened:
    """A file's bytes.

    Attributes:
        path: as the user gave it, or as found in a folder.
        folder: the folder it was found in, or its own.
        body: the content, unpacked, without a byte order mark; a memory map for plain files.
        damage: what was wrong with the packing, when something could still be read.
        is_plain: the file itself can be opened again by path (SQLite needs that).
    """

    path: Path
    folder: Path
    body: memoryview
    damage: str | None = None
    is_plain: bool = True

    @cached_property
    def head(self) -> bytes:
        """The first 256 KiB: enough to tell the format."""
        return bytes(self.body[: 1 << 18])

    @cached_property
    def first_line(self) -> str:
        """The first line as text, without its end."""
        return self.head.split(b"\n", 1)[0].rstrip(b"\r").decode("utf-8", "replace")


def files_of(path: Path) -> list[Path]:
    """The file itself, or every file below a folder, hidden ones too, sorted. Links are not followed out of it.

    Raises:
        KprofError: nothing is there.
    """
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and not p.is_symlink())
    if not path.exists():
        raise InputError("no such file or folder", path=str(path))
    return [path]


def open_file(path: Path, *, limit: int | None = None) -> Opened:
    """Map a file, or unpack it when its first bytes say gzip.

    Raises:
        KprofError: empty, unreadable, not really gzip, or unpacks to more than ``limit`` bytes or than
            :func:`kprof.inputs.boundary.gunzipped` lets it.
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
    # Grown in place: pieces that are joined at the end would take twice the memory.
    whole = bytearray()
    try:
        for piece in gunzipped(body, str(path), most=limit):
            whole += piece
    except (zlib.error, EOFError) as error:
        if not whole:
            raise InputError("damaged gzip data, nothing could be unpacked", path=str(path)) from error
        what = "is cut off" if isinstance(error, EOFError) else "is damaged"
        return whole, f"the gzip data {what} after {len(whole):,} unpacked bytes; what comes later is missing"
    if not whole:
        raise EmptyFileError("the file is empty", path=str(path))
    return whole, None
