"""Which files a capture was made from: it is stale when one of them changes. Standard library only."""

import hashlib
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
    found: dict[str, str] = {}
    for path in paths:
        try:
            name = path.resolve().relative_to(root.resolve())
        except (OSError, ValueError):
            continue
        if {"site-packages", "dist-packages"} & set(name.parts) or len(found) >= LIMIT:
            continue
        content = digest(path)
        if content is not None:
            found[name.as_posix()] = content
    return dict(sorted(found.items()))


def changed(root: Path, known: Mapping[str, str]) -> list[str]:
    """What differs now, in words: ``train.py changed``, ``model.py is gone``.

    Args:
        root: where the names start.
        known: files to their digests then. A name that leads out of the root is not followed.
    """
    found = []
    for name, before in known.items():
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            found.append(f"{name} is no path below {root}")
            continue
        now = digest(root / pure)
        if now != before:
            found.append(f"{name} {'is gone' if now is None else 'changed'}")
    return found
