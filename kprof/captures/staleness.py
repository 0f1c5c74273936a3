"""Which files a capture was made from: it is stale when one of them changes. Standard library only."""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from kprof.errors import InputError
from kprof.inputs.opening import opened

LIMIT = 10_000
"""Files of a capture."""

_BLOCK = 1 << 20


def root_of(folder: Path) -> Path:
    """The work tree that a folder is in, which sources are named from; the folder itself where there is none."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def digest(path: Path) -> str | None:
    """SHA-256 of a regular file, in hexadecimal digits; ``None`` where there is none or it cannot be read."""
    try:
        found = hashlib.sha256()
        with opened(path) as file:
            while block := file.read(_BLOCK):
                found.update(block)
    except (OSError, ValueError, InputError):
        return None
    return found.hexdigest()


def digests(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Files below the root by their path from there. Installed packages below it are left out."""
    return {name: content for name, content in _named(root, paths).items() if not _leads_out(name)}


def outside(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Files that are not below the root, by their path from there, ``../lib/tile.py``; no installed packages."""
    return {name: content for name, content in _named(root, paths).items() if _leads_out(name)}


def _named(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    start = root.resolve()
    for path in paths:
        try:
            name = Path(os.path.relpath(path.resolve(), start))
        except (OSError, ValueError):
            continue
        if {"site-packages", "dist-packages"} & set(name.parts) or len(found) >= LIMIT:
            continue
        content = digest(path)
        if content is not None:
            found[name.as_posix()] = content
    return dict(sorted(found.items()))


def _leads_out(name: str) -> bool:
    pure = PurePosixPath(name)
    return pure.is_absolute() or ".." in pure.parts


def changed(root: Path, known: Mapping[str, str], *, follow: bool = False) -> list[str]:
    """What differs now, in words: ``train.py changed``, ``model.py is gone``.

    Args:
        root: where the names start.
        known: files to their digests then. A name that leads out of the root is not followed.
        follow: it is followed, since who wrote the names is trusted.
    """
    found = []
    for name, before in known.items():
        pure = PurePosixPath(name)
        if _leads_out(name) and not follow:
            found.append(f"{name} is no path below {root}")
            continue
        now = digest(root / pure)
        if now != before:
            found.append(f"{name} {'is gone' if now is None else 'changed'}")
    return found
