"""List and remove the content of the cache."""

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from kprof.cache import location

QUICK = ("entries", "functions", "inductor", "programs", "servers")
"""Folders below the root whose content is recreated automatically, in seconds or minutes."""
SLOW = ("searches", "triton-envs")
"""Folders with results of searches that took hours, and with packages downloaded from an index."""


@dataclass(frozen=True)
class CacheFolder:
    """A folder of the cache.

    Attributes:
        name: name of the folder below the root.
        files: number of files.
        size: total size in bytes.
        kinds: for ``entries``: number of files and bytes of each kind.
    """

    name: str
    files: int
    size: int
    kinds: dict[str, tuple[int, int]]


def parts(root: Path) -> list[CacheFolder]:
    """Return the folders of a cache that exist."""
    found = []
    for name in (*QUICK, *SLOW):
        folder = root / name
        if folder.is_dir():
            kinds = {}
            if folder == location.entries(root):
                kinds = {kind.name: _count(kind) for kind in sorted(folder.iterdir()) if kind.is_dir()}
            found.append(CacheFolder(name, *_count(folder), kinds))
    return found


def clear(root: Path, names: tuple[str, ...] = QUICK) -> tuple[int, int]:
    """Remove folders of a cache. Other content of the root is kept, because the root may serve other purposes.

    Args:
        root: root of the cache.
        names: names from :data:`QUICK` and :data:`SLOW`.

    Returns:
        Number of files and bytes that were removed.

    Raises:
        OSError: something cannot be removed.
    """
    files = size = 0
    for name in names:
        folder = root / name
        before = _count(folder)
        if folder.is_dir():
            shutil.rmtree(folder)
        files, size = files + before[0], size + before[1]
    return files, size


def _count(folder: Path) -> tuple[int, int]:
    files = size = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118 - thousands of them
                files += 1
    return files, size
