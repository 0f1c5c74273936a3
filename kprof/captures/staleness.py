"""Which files a capture was made from: it is stale when one of them changes. Standard library only."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from kprof.errors import InputError
from kprof.inputs.opening import opened

LIMIT = 10_000
"""Files of a capture."""

_BLOCK = 1 << 20
_SHOWN = 3


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


def listing(folder: Path) -> str | None:
    """SHA-256 of the names in a folder, hidden ones and ``__pycache__`` left out.

    ``None`` where there is no such folder, it cannot be read, or has more than 10,000 entries, as data have.
    """
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, LIMIT + 1)]
    except OSError:
        return None
    if len(names) > LIMIT:
        return None
    shown = sorted(os.fsencode(name) for name in names if name[:1] != "." and name != "__pycache__")
    return hashlib.sha256(b"\0".join(shown)).hexdigest()


def digests(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Files below the root by their path from there. Installed packages below it are left out."""
    return {name: content for name, content in _named(root, paths).items() if not _leads_out(name)}


def outside(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Files that are not below the root, by their path from there, ``../lib/tile.py``; no installed packages."""
    return {name: content for name, content in _named(root, paths).items() if _leads_out(name)}


def _named(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        for name in names_of(root, path):
            content = digest(path) if len(found) < LIMIT else None
            if content is not None:
                found[name] = content
    return dict(sorted(found.items()))


def names_of(root: Path, path: Path) -> list[str]:
    """A file's names from a root: where it is and, below the root, the link through which it was reached.

    None for what is in an installed package.
    """
    found: dict[str, None] = {}
    try:
        start, straight = root.resolve(), path.absolute()
        found[Path(os.path.relpath(path.resolve(), start)).as_posix()] = None
        for above in (root.absolute(), start):
            if straight.is_relative_to(above):
                found[straight.relative_to(above).as_posix()] = None
    except (OSError, ValueError, RuntimeError):
        pass
    return [name for name in found if not {"site-packages", "dist-packages"} & set(PurePosixPath(name).parts)]


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


def appeared(root: Path, absent: Iterable[str], *, follow: bool = False) -> list[str]:
    """Names of what is there now and was not.

    Args:
        root: where the names start.
        absent: what was looked for and not there. A name that leads out of the root is passed over.
        follow: it is looked for, since who wrote the names is trusted.
    """
    return [name for name in absent if (follow or not _leads_out(name)) and os.path.exists(root / name)]  # noqa: PTH110 - no error of any name


def relisted(root: Path, folders: Mapping[str, str], *, follow: bool = False) -> list[str]:
    """Names of folders that hold other names than they did; arguments as for :func:`appeared`."""
    known = folders.items()
    return [name for name, had in known if (follow or not _leads_out(name)) and listing(root / name) != had]


def shortened(names: Sequence[str], verbs: tuple[str, str] = ("", "")) -> list[str]:
    """The first three as one phrase, with the number of others and the verb that fits; nothing of nothing."""
    if not names:
        return []
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [f"{', '.join(names[:_SHOWN])}{more} {verbs[len(names) > 1]}".rstrip()]
