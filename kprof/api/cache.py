"""What kprof keeps from one run to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.cache.inventory import CacheFolder


@dataclass(frozen=True)
class Cached:
    """The cache of this user.

    Attributes:
        root: its folder.
        parts: what is in it, each with files and bytes, in all and by kind.
        limits: part to the bytes that it may grow to.
    """

    root: Path
    parts: "Sequence[CacheFolder]"
    limits: dict[str, int]

    @property
    def trouble(self) -> str | None:
        """Why it is not used; ``None`` where it is. Asking makes the folder of entries, so it is done last."""
        from kprof.cache import location

        return location.trouble(self.root) if self.root.exists() else None

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof cache info --json`` writes it."""
        parts = [
            {"name": part.name, "files": part.files, "bytes": part.size, "limit_bytes": self.limits.get(part.name)}
            for part in self.parts
        ]
        return {"schema": "kprof.cache/1", "root": str(self.root), "parts": parts, "trouble": self.trouble}


def cached() -> Cached:
    """Where the cache is, how large it is and may become, and what is in it.

    Raises:
        KprofError: this user has none.
    """
    from kprof.cache import inventory, limits, location

    root = _root()
    return Cached(root, inventory.parts(root), {location.entries(root).name: limits.size_limit()})


def clear(*, everything: bool = False) -> tuple[int, int]:
    """Remove what is made again by itself; files and bytes.

    Args:
        everything: also what searches found, and the Tritons that were fetched.

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
