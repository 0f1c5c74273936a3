"""Limit the size of the cache."""

import contextlib
import os
import re
from collections.abc import Iterable
from pathlib import Path

SIZE_LIMIT = 1 << 30
"""Default maximum size in bytes; ``KPROF_CACHE_SIZE`` overrides it, in bytes or as 500M, 4G, 4GiB."""

_SIZE = re.compile(r"([0-9]{1,15})\s*([KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_SWEEP_EVERY = 64
_KEEP = 0.8


def size_limit() -> int:
    """Return the maximum size of the cache in bytes."""
    text = os.environ.get("KPROF_CACHE_SIZE", "").strip()
    found = _SIZE.fullmatch(text)
    if found is None:
        return SIZE_LIMIT
    return int(found[1]) << (10 * " KMGT".index(found[2].upper() or " "))


def sweep_sometimes(folder: Path) -> None:
    """Call :func:`sweep` in a random 1 of 64 calls, to keep the cache below its limit."""
    if int.from_bytes(os.urandom(2), "little") % _SWEEP_EVERY == 0:
        sweep(folder, size_limit())


def sweep(folder: Path, limit: int) -> int:
    """Remove the least recently used files until 80 % of ``limit`` bytes remain, if above it; return removed bytes."""
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
                stat = os.lstat(path)
                yield stat.st_mtime_ns, stat.st_size, path
