"""Entries: written whole or not at all, checked when they are read, removed when there are too many.

An entry begins with its kind and a SHA-256 of section, key, kind and bytes. What was cut off, altered, or put under
another key is removed and read as if it had never been there. A large one, such as the text of each of a compiler's
passes, is compressed: to a fiftieth.
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
# A named pipe in the place of an entry must not be waited for.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class CacheSection:
    """Entries of one kind.

    Attributes:
        name: of the folder that holds them.
        version: of what their bytes mean. Entries of another version are never read.
    """

    name: str
    version: int = 1

    def read(self, key: str, root: Path | None = None) -> bytes | None:
        """The bytes kept under a key; ``None`` when there are none that can be believed.

        Args:
            key: as :func:`kprof.cache.keys.key` makes them.
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
        # What is used stays longest.
        with contextlib.suppress(OSError):
            path.unlink() if content is None else os.utime(path)
        return content

    def _content(self, key: str, data: bytes) -> bytes | None:
        """The content of an entry's file; ``None`` where its digest does not match."""
        magic, body = data[: len(_MAGIC)], memoryview(data)[_START:]
        if magic not in {_MAGIC, _COMPRESSED} or data[:_START] != magic + self._digest(key, [magic, body]):
            return None
        try:
            return zlib.decompress(body) if magic == _COMPRESSED else bytes(body)
        except zlib.error:
            return None

    def write(self, key: str, parts: Iterable[bytes], root: Path | None = None) -> bool:
        """Keep bytes under a key, so that other processes see all of them or none.

        Args:
            key: as :func:`kprof.cache.keys.key` makes them.
            parts: the bytes, in pieces.
            root: as in :meth:`read`.

        Returns:
            Whether they are kept. A disk that is full or cannot be written to is no error.
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
        """JSON kept under a key; ``None`` when there is none."""
        data = self.read(key, root)
        return None if data is None else json.loads(data)

    def write_json(self, key: str, value: Any, root: Path | None = None) -> bool:
        """Keep JSON under a key; see :meth:`write`."""
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
    """The content of a file; ``None`` when somebody else may have written it."""
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return file.read() if stat.S_ISREG(status.st_mode) and location.trusted(status) else None


def _is_key(key: str) -> bool:
    """A key may come from a damaged or foreign file: it never leads out of the cache."""
    return key.isascii() and key.isalnum()
