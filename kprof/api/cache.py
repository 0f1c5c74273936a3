"""The cache that kprof keeps between runs: its size and contents, and how to clear it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.cache.inventory import CacheFolder


@dataclass(frozen=True)
class Cached:
    """Location, contents and size limits of the current user's cache.

    Attributes:
        root: folder of the cache.
        parts: subfolders of the cache, each with its number of files and bytes, in total and by kind.
        limits: maximum size in bytes of each part that has a limit, by the part's name.
    """

    root: Path
    parts: "Sequence[CacheFolder]"
    limits: dict[str, int]

    @property
    def trouble(self) -> str | None:
        """Reason why the cache cannot be used, or ``None``.

        Reading this property creates the folder of entries, so read the other properties first.
        """
        from kprof.cache import location

        return location.trouble(self.root) if self.root.exists() else None

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof cache info --json`` writes."""
        parts = [
            {"name": part.name, "files": part.files, "bytes": part.size, "limit_bytes": self.limits.get(part.name)}
            for part in self.parts
        ]
        return {"schema": "kprof.cache/1", "root": str(self.root), "parts": parts, "trouble": self.trouble}


def cached() -> Cached:
    """Return the location, size, size limits and contents of the cache.

    Raises:
        KprofError: this user has no cache folder.
    """
    from kprof.cache import inventory, limits, location

    root = _root()
    return Cached(root, inventory.parts(root), {location.entries(root).name: limits.size_limit()})


def clear(*, everything: bool = False) -> tuple[int, int]:
    """Remove cache entries that kprof can recreate; return the number of removed files and bytes.

    Args:
        everything: also remove search results and downloaded Triton releases.

    Raises:
        KprofError: this user has no cache, or something cannot be removed.
    """
    from kprof.cache import inventory

    root = _root()
    try:
        return inventory.clear(root, inventory.QUICK + (inventory.SLOW if everything else ()))
    except OSError as error:
        where = str(error.filename or root)
        raise KprofError(f"cannot be removed: {error.strerror or error}", path=where) from error


def _root() -> Path:
    from kprof.cache import location

    root = location.root()
    if root is None:
        raise KprofError("this user has no home folder, so there is no cache", hint=f"Set {location.VARIABLE}.")
    return root
