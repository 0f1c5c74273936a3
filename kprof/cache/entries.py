"""Entries: written whole or not at all, checked when they are read, removed when there are too many.

An entry begins with a SHA-256 of its section, key and bytes. What was cut off, altered, or put under another key is
removed and read as if it had never been there.
"""

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.cache import limits, location

_MAGIC = b"kprof entry 1\n"
_START = len(_MAGIC) + hashlib.sha256().digest_size
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
        body = memoryview(data)[_START:] if data is not None else None
        if data is None or body is None or data[:_START] != _MAGIC + self._digest(key, [body]):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        # What is used stays longest.
        with contextlib.suppress(OSError):
            os.utime(path)
        return bytes(body)

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
        path, pieces = self._path(base, key), list(parts)
        partial = path.with_name(f".{os.urandom(8).hex()}.part")
        try:
            location.make_folder(path.parent)
            with os.fdopen(os.open(partial, _NEW, 0o600), "wb") as file:
                location.make_private(file.fileno())
                file.writelines((_MAGIC, self._digest(key, pieces), *pieces))
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


def _bytes(path: Path) -> bytes | None:
    """The content of a file; ``None`` when somebody else may have written it."""
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return file.read() if stat.S_ISREG(status.st_mode) and location.trusted(status) else None


def _is_key(key: str) -> bool:
    """A key may come from a damaged or foreign file: it never leads out of the cache."""
    return key.isascii() and key.isalnum()
