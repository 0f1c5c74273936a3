"""Detect whether files that a capture was made from have changed since. Imports only the standard library."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from kprof.errors import InputError
from kprof.inputs.opening import opened

LIMIT = 10_000
"""Maximum number of files of a capture."""

_BLOCK_BYTES = 1 << 20
_MAX_SHOWN = 3


def root_of(folder: Path) -> Path:
    """Return the Git work tree that contains a folder, or else the folder; source paths are relative to it."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), folder)


def digest(path: Path) -> str | None:
    """Return the SHA-256 of a regular file in hexadecimal; ``None`` if there is no such file or it cannot be read."""
    try:
        found = hashlib.sha256()
        with opened(path) as file:
            while block := file.read(_BLOCK_BYTES):
                found.update(block)
    except (OSError, ValueError, InputError):
        return None
    return found.hexdigest()


def listing(folder: Path) -> str | None:
    """Return the SHA-256 of the names in a folder, without hidden names and ``__pycache__``.

    ``None`` if the folder does not exist, cannot be read, or has more than 10,000 entries, as data folders have.
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
    """Return the digests of files below the root, by relative path, without files of installed packages."""
    return named(SourceNames(root), paths)[0]


def outside(root: Path, paths: Iterable[Path]) -> dict[str, str]:
    """Return digests by relative path (``../lib/tile.py``) of files outside the root and outside installed packages."""
    return named(SourceNames(root), paths)[1]


def named(names: "SourceNames", paths: Iterable[Path]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the results of :func:`digests` and :func:`outside`, reading each file once."""
    found: dict[str, str] = {}
    for path in paths:
        own = names.of(path)
        content = digest(path) if own and len(found) < LIMIT else None
        if content is not None:
            found |= dict.fromkeys(own, content)
    ordered = sorted(found.items())
    return (
        {name: content for name, content in ordered if not _leads_out(name)},
        {name: content for name, content in ordered if _leads_out(name)},
    )


class SourceNames:
    """Names of files relative to a root.

    Symbolic links are resolved once per folder, because thousands of files share few folders.

    Args:
        root: the work tree.
    """

    def __init__(self, root: Path) -> None:
        try:
            self._starts = tuple(dict.fromkeys((str(root.resolve()), str(root.absolute()))))
        except (OSError, RuntimeError):
            self._starts = ()
        self._folders: dict[str, list[str]] = {}
        self._real: dict[str, str] = {}

    def of(self, path: Path) -> list[str]:
        """Return a file's names: its real path and, below the root, the path of the link through which it was reached.

        The list is empty for a file of an installed package.
        """
        if not self._starts:
            return []
        try:
            straight = str(path.absolute())
            folder, last = os.path.split(straight)
            known = self._names_of_folder(folder)
            if known and self.resolved(folder, last) == straight:
                found = [os.path.join(name, last) if name != os.curdir else last for name in known]  # noqa: PTH118
            else:
                real = os.path.relpath(os.path.realpath(straight), self._starts[0])
                found = [real, *self._paths_below_root(straight)]
        except (OSError, ValueError, RuntimeError):
            return []
        return [name for name in dict.fromkeys(found) if _PACKAGES.isdisjoint(name.split("/"))]

    def resolved(self, folder: str, last: str) -> str:
        """Return the real path of a file in a folder, with links resolved."""
        path = os.path.join(folder, last)  # noqa: PTH118
        if not last or last == os.pardir or os.path.islink(path):  # noqa: PTH114
            return os.path.realpath(path)
        real = self._real.get(folder)
        if real is None:
            real = self._real[folder] = os.path.realpath(folder)
        return os.path.join(real, last)  # noqa: PTH118

    def _names_of_folder(self, folder: str) -> list[str]:
        """Return the folder's path relative to the root in each of its spellings; empty if it contains the root."""
        known = self._folders.get(folder)
        if known is None:
            above = any(start.startswith(os.path.join(folder, "")) for start in self._starts)  # noqa: PTH118
            known = [] if above else [os.path.relpath(folder, self._starts[0]), *self._paths_below_root(folder)]
            self._folders[folder] = known
        return known

    def _paths_below_root(self, path: str) -> list[str]:
        """Return the path relative to each spelling of the root that contains it, without resolving links."""
        inside = [start for start in self._starts if path == start or path.startswith(os.path.join(start, ""))]  # noqa: PTH118
        return [os.path.relpath(path, start) for start in inside]


_PACKAGES = frozenset({"site-packages", "dist-packages"})


def _leads_out(name: str) -> bool:
    pure = PurePosixPath(name)
    return pure.is_absolute() or ".." in pure.parts


def changed(root: Path, known: Mapping[str, str], *, follow: bool = False) -> list[str]:
    """Return a phrase for each file that differs now: ``train.py changed``, ``model.py is gone``.

    Args:
        root: folder that the names are relative to.
        known: recorded digests by file name.
        follow: whether to read files whose names lead out of the root, which is safe only for names from a trusted
            source.
    """
    found = []
    for name, before in known.items():
        pure = PurePosixPath(name)
        if _leads_out(name) and not follow:
            found.append(f"{name} is not a path below {root}")
            continue
        now = digest(root / pure)
        if now != before:
            found.append(f"{name} {'is gone' if now is None else 'changed'}")
    return found


def appeared(root: Path, absent: Iterable[str], *, follow: bool = False) -> list[str]:
    """Return the names that were absent and exist now.

    Args:
        root: folder that the names are relative to.
        absent: names that were looked for and not found.
        follow: whether to check names that lead out of the root, which is safe only for names from a trusted source.
    """
    return [name for name in absent if (follow or not _leads_out(name)) and os.path.exists(root / name)]  # noqa: PTH110 - raises no error for any name


def relisted(root: Path, folders: Mapping[str, str], *, follow: bool = False) -> list[str]:
    """Return the folders whose contents changed: folders whose :func:`listing` differs from the recorded digest."""
    known = folders.items()
    return [name for name, had in known if (follow or not _leads_out(name)) and listing(root / name) != had]


def shortened(names: Sequence[str], verbs: tuple[str, str] = ("", "")) -> list[str]:
    """Return a list with one phrase such as ``a, b, c and 2 more are gone``; the list is empty without names.

    ``verbs`` are the verb for one name and the verb for several names.
    """
    if not names:
        return []
    more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
    return [f"{', '.join(names[:_MAX_SHOWN])}{more} {verbs[len(names) > 1]}".rstrip()]
