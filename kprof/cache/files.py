"""Files of the cache: written whole or not at all, checked when read, removed when there are too many."""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kprof.compiler.wire import pack, unpack

SIZE_LIMIT = 1 << 30
"""Bytes of compiled kernels that are kept; ``KPROF_CACHE_SIZE`` sets another limit: bytes, or as 500M, 4G, 4GiB."""

_SIZE = re.compile(r"([0-9]{1,15})\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_MAGIC = b"kprof cache 1\n"
_SWEEP_EVERY = 64
_KEEP = 0.8


def root() -> Path:
    """``$KPROF_CACHE_DIR``, or ``kprof`` below the user's cache directory.

    A user without a home gets a folder that cannot be written: nothing is kept then.
    """
    own = os.environ.get("KPROF_CACHE_DIR")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "kprof" if base else home() / ".cache" / "kprof"


def home() -> Path:
    """The user's home directory, ``/nonexistent`` where there is none, as in containers with a bare user number."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/nonexistent")


def write(path: Path, head: Mapping[str, Any], blobs: Mapping[str, str | bytes] | None = None) -> bool:
    """Write a file so that others see all of it or none; false when the disk does not let us."""
    parts = pack(head, blobs)
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            try:
                file.writelines((_MAGIC, digest.digest(), *parts))
                file.close()
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError:
        return False
    return True


def read(path: Path) -> tuple[dict[str, Any], dict[str, str | bytes]] | None:
    """What was written; ``None`` when there is nothing, or something cut off or altered, which is then removed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + 32
    body = bytearray(data[start:])
    if data[: len(_MAGIC)] == _MAGIC and hashlib.sha256(body).digest() == data[len(_MAGIC) : start]:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            frame = unpack(body)
            if frame is not None:
                with contextlib.suppress(OSError):
                    os.utime(path)
                return frame
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def read_json(path: Path) -> Any:
    """A small JSON file; ``None`` when it is missing or broken."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def write_json(path: Path, value: Any) -> bool:
    """Write a small JSON file, whole or not at all."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            json.dump(value, file)
        Path(file.name).replace(path)
    except OSError:
        return False
    return True


def sweep_sometimes(folder: Path, limit: int | None = None) -> None:
    """Every so many calls: remove what was not used for the longest time, down to 80 % of the limit."""
    if int.from_bytes(os.urandom(2), "little") % _SWEEP_EVERY == 0:
        sweep(folder, size_limit() if limit is None else limit)


def size_limit() -> int:
    """Bytes that the cache may hold."""
    text = os.environ.get("KPROF_CACHE_SIZE", "").strip()
    found = _SIZE.fullmatch(text)
    if found is None:
        return SIZE_LIMIT
    return int(found[1]) << (10 * " KMGT".index(found[2].upper() or " "))


def sweep(folder: Path, limit: int) -> int:
    """Remove the files used longest ago until the rest is below 80 % of ``limit`` bytes, if above it. Bytes removed."""
    files = sorted(_files(folder))
    total = sum(size for _, size, _ in files)
    if total <= limit:
        return 0
    removed = 0
    for _, size, path in files:
        if total - removed <= limit * _KEEP:
            break
        with contextlib.suppress(OSError):
            Path(path).unlink()
            removed += size
    return removed


def _files(folder: Path) -> Iterable[tuple[int, int, str]]:
    for directory, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)  # noqa: PTH118  # thousands of them
            with contextlib.suppress(OSError):
                stat = os.stat(path)  # noqa: PTH116
                yield stat.st_mtime_ns, stat.st_size, path
