"""Hash the contents of many files fast.

The SHA-256 of a file is cached with the file's inode, size, mtime and ctime. The mtime alone is not trusted: a checkout
or an archive may replace a file and set its old mtime, but no program can set the ctime back. A file that changed in
the last seconds may change again within the clock's resolution, so its content is read every time until it is older.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kprof.cache.entries import CacheSection
from kprof.cache.keys import key

_SECTION = CacheSection("contents")
_SETTLED = 2_000_000_000
# Windows has no time of last status change.
_REMEMBERS = os.name == "posix"
_CHUNK = 1 << 20


def of_folders(places: Iterable[Path], suffixes: frozenset[str] | None = None, *, remember: bool = True) -> str:
    """Return the SHA-256 of names and contents of all files below some places.

    Byte code is ignored. The paths of the places themselves do not enter the hash.

    Args:
        places: folders and files.
        suffixes: suffixes of the files to include; all files by default.
        remember: whether to reuse cached hashes of unchanged files. Without it, damage on the disk is detected as well.
    """
    roots = [path.absolute() for path in places]
    name = key([str(root) for root in roots], sorted(suffixes or ()))
    remember = remember and _REMEMBERS
    before = _SECTION.read_json(name) if remember else None
    known = before if isinstance(before, dict) else {}
    now: dict[str, list[Any]] = {}
    found: list[Any] = []
    for number, root in enumerate(roots):
        for path, status in sorted(_files(str(root), set()), key=lambda file: file[0]):
            if suffixes is not None and os.path.splitext(path)[1] not in suffixes:  # noqa: PTH122 - hundreds of them
                continue
            relative = path[len(str(root)) :] if path != str(root) else root.name
            found.append([number, relative, _content(path, status, known, now)])
    if not found:
        # Without files, the package may be imported from an archive, which is not hashed. The random part keeps other
        # processes from finding entries of this one.
        found.append(os.urandom(32).hex())
    if remember and now != known:
        _SECTION.write_json(name, now)
    return key(found)


def _content(path: str, status: os.stat_result, known: dict[str, Any], now: dict[str, list[Any]]) -> str:
    stamp = [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    match known.get(path):
        case [*before, str(content)] if before == stamp:
            now[path] = [*before, content]
            return content
    settled = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) > _SETTLED
    content = _sha256(path)
    if settled:
        now[path] = [*stamp, content]
    return content


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - hundreds of them
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        return f"unreadable: {error.errno}"
    return digest.hexdigest()


def _files(place: str, seen: set[tuple[int, int]]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield files at or below a place, without byte code and hidden files; each folder once, even with link cycles."""
    try:
        with os.scandir(place) as entries:
            here = os.stat(place)  # noqa: PTH116 - dozens of them
            if (here.st_dev, here.st_ino) in seen:
                return
            seen.add((here.st_dev, here.st_ino))
            for entry in entries:
                if entry.name.startswith(".") or entry.name == "__pycache__" or entry.name.endswith(".pyc"):
                    continue
                if entry.is_dir():
                    yield from _files(entry.path, seen)
                elif entry.is_file():
                    yield entry.path, entry.stat()
    except NotADirectoryError:
        yield place, os.stat(place)  # noqa: PTH116 - as above
    except OSError:
        return
