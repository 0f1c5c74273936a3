"""Cache entries: written completely or not at all, verified when read, and removed when there are too many.

An entry begins with its kind and a SHA-256 of section, key, kind and bytes. An entry that was truncated, altered or put
under another key is removed and treated as missing. A large entry, such as the text of each compiler pass, is
compressed, typically to 2 % of its size.
"""

import contextlib
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.cache import limits, location

_MAGIC = b"kprof entry 2\n"
_COMPRESSED = b"kprof entry z\n"
_START = len(_MAGIC) + hashlib.sha256().digest_size
_LARGE = 1 << 20
_FASTEST = 1
# Non-blocking, so that a named pipe in the place of an entry does not block the read.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class CacheSection:
    """Entries of one kind.

    Attributes:
        name: name of the folder that contains them.
        version: version of their format. Entries of another version are never read.
    """

    name: str
    version: int = 1

    def read(self, key: str, root: Path | None = None) -> bytes | None:
        """Return the bytes stored under a key; ``None`` if there is no valid entry.

        Args:
            key: a key made by :func:`kprof.cache.keys.key`.
            root: the cache's root, by default :func:`kprof.cache.location.root`.
        """
        base = root or location.root()
        if base is None or not _is_key(key):
            return None
        path = self._path(base, key)
        try:
            data = _bytes(path)
        except OSError:
            return None
        content = None if data is None else self._content(key, data)
        # Mark the entry as used, since the least recently used entries are removed first.
        with contextlib.suppress(OSError):
            path.unlink() if content is None else os.utime(path)
        return content

    def _content(self, key: str, data: bytes) -> bytes | None:
        """Return the content of an entry's file; ``None`` if its digest does not match."""
        magic, body = data[: len(_MAGIC)], memoryview(data)[_START:]
        if magic not in {_MAGIC, _COMPRESSED} or data[:_START] != magic + self._digest(key, [magic, body]):
            return None
        try:
            return zlib.decompress(body) if magic == _COMPRESSED else bytes(body)
        except zlib.error:
            return None

    def write(self, key: str, parts: Iterable[bytes], root: Path | None = None) -> bool:
        """Store bytes under a key atomically: other processes see all of them or none.

        Args:
            key: a key made by :func:`kprof.cache.keys.key`.
            parts: the bytes, in pieces.
            root: as in :meth:`read`.

        Returns:
            Whether the bytes were stored. A disk that is full or not writable is no error.
        """
        if root is None:
            location.check()
        base = root or location.root()
        if base is None or not _is_key(key):
            return False
        path, magic, pieces = self._path(base, key), _MAGIC, list(parts)
        if sum(map(len, pieces)) > _LARGE:
            magic, pieces = _COMPRESSED, list(_compressed(pieces))
        partial = path.with_name(f".{os.urandom(8).hex()}.part")
        try:
            location.make_folder(path.parent)
            with os.fdopen(os.open(partial, _NEW, 0o600), "wb") as file:
                location.make_private(file.fileno())
                file.writelines((magic, self._digest(key, [magic, *pieces]), *pieces))
            partial.replace(path)
        except OSError:
            return False
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()
        limits.sweep_sometimes(location.entries(base))
        return True

    def read_json(self, key: str, root: Path | None = None) -> Any:
        """Return the JSON value stored under a key; ``None`` if there is none."""
        data = self.read(key, root)
        return None if data is None else json.loads(data)

    def write_json(self, key: str, value: Any, root: Path | None = None) -> bool:
        """Store a JSON value under a key; see :meth:`write`."""
        return self.write(key, [json.dumps(value).encode()], root)

    def _path(self, base: Path, key: str) -> Path:
        return location.entries(base) / f"{self.name}-{self.version}" / key[:2] / key

    def _digest(self, key: str, pieces: Iterable[bytes | memoryview]) -> bytes:
        digest = hashlib.sha256(f"{self.name}-{self.version}/{key}\n".encode())
        for piece in pieces:
            digest.update(piece)
        return digest.digest()


def _compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(_FASTEST)
    yield from map(compressor.compress, pieces)
    yield compressor.flush()


def _bytes(path: Path) -> bytes | None:
    """Return the content of a file; ``None`` if another user may have written it."""
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return file.read() if stat.S_ISREG(status.st_mode) and location.trusted(status) else None


def _is_key(key: str) -> bool:
    """Return whether a key consists of ASCII letters and digits.

    A key may come from a damaged or foreign file and must not lead out of the cache.
    """
    return key.isascii() and key.isalnum()
