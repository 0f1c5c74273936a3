"""Track the files that a program reads, because a file may contain tile sizes. Imports only the standard library."""

import functools
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kprof.captures.installed import name_in_package, package_of
from kprof.captures.staleness import listing
from kprof.recording.files_sought import SoughtFiles, places_before

MOST_BYTES = 1 << 20
"""Maximum size of a file that may affect launches; larger files are data for kernels."""

_LIMIT = 10_000
_CODE = (".py", ".pyc", ".so", "__pycache__")
_INSTALLER = (".dist-info", ".egg-info", ".data")
_OURS = Path(__file__).resolve().parents[1]
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_COMPILED = f"{os.sep}__pycache__{os.sep}"
"""Part of a compiled module's path. Programs open thousands of them, which would use up :data:`_LIMIT`."""

_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64", "/opt", "/run", "/var/lib")


@dataclass
class Reads:
    """Files that this process opens.

    Attributes:
        began: start in nanoseconds since the epoch; a file written later is the program's own result.
        read: absolute paths in order.
        written: files opened for writing, whose earlier contents are unknown.
        sought: paths that were looked up but did not exist, and folders that were listed.
    """

    began: int = field(default_factory=time.time_ns)
    read: dict[str, None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    sought: SoughtFiles = field(default_factory=SoughtFiles)
    _watching: bool = False

    def watch(self) -> None:
        """Track every file that is opened from now on."""
        self._watching = True
        self.sought.watch()
        sys.addaudithook(self.opened)

    def end(self) -> None:
        """Stop tracking. The audit hook itself cannot be removed."""
        self._watching = False
        self.sought.end()

    def opened(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Audit hook that records opened files. It must not raise: the exception would surface in the program."""
        if not self._watching:
            return
        try:
            self.sought.listed(event, arguments)
            if event != "open":
                return
            path, _, flags = arguments
            if isinstance(path, int) or len(self.read) + len(self.written) >= _LIMIT:
                return
            # Links are not resolved, because the program may reach another file through them the next time.
            name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
            writes = flags & _WRITES
            if _COMPILED in name:
                return
        except (OSError, TypeError, ValueError):
            return
        if writes:
            self.written.add(name)
        else:
            self.read[name] = None

    @property
    def full(self) -> bool:
        """Whether the limit on the number of tracked files was reached, so that some files may be missing."""
        return len(self.read) + len(self.written) >= _LIMIT or self.sought.full

    def files(self, root: Path, without: Sequence[str] = ()) -> Iterator[Path]:
        """Yield small files of the program that existed before it started and were only read.

        Python's folders, hidden folders and caches are left out. Hidden files such as ``.env`` are included, because
        programs read settings from them.

        Args:
            root: the work tree.
            without: folders whose files are not the program's.
        """
        for name in list(self.read):
            if name in self.written or not _is_programs(name, root, without):
                continue
            try:
                found = os.stat(name)  # noqa: PTH116 - accepts any name
            except OSError:
                continue
            if found.st_mtime_ns < self.began and found.st_size <= MOST_BYTES:
                yield Path(name)

    def packaged(self) -> tuple[list[str], list[str]]:
        """Return small data files of installed packages that were only read, and those looked up that do not exist.

        Code, and files that installers write for a distribution, are left out.
        """
        there, gone = [], []
        for name in dict.fromkeys((*self.read, *self.sought.missing)):
            inside = name_in_package(name)
            if inside is None or inside.endswith(_CODE) or name in self.written:
                continue
            if "/" not in inside or package_of(inside).endswith(_INSTALLER):
                continue
            try:
                found = os.stat(name)  # noqa: PTH116 - accepts any name
            except OSError:
                gone.append(inside)
                continue
            if found.st_mtime_ns < self.began and found.st_size <= MOST_BYTES:
                there.append(name)
        return there, gone

    def absent(self, root: Path, without: Sequence[str] = ()) -> Iterator[Path]:
        """Yield paths of the program, including modules, that were looked up and still do not exist.

        Temporary files are left out, unless the work tree itself is in the temporary folder. Arguments as for
        :meth:`files`.
        """
        kept = functools.partial(_may_be_programs, root=root, without=without)

        @functools.cache
        def ours(folder: str) -> bool:
            """Return whether a folder is in the work tree; new files are expected only there."""
            return _inside(os.path.abspath(folder), str(root)) and kept(os.path.join(folder, "x"))  # noqa: PTH100, PTH118

        modules = places_before(list(self.sought.modules), ours)
        for name in dict.fromkeys((*self.sought.missing, *self.read, *self.sought.folders, *modules)):
            if name not in self.written and "<" not in name and kept(name) and not os.path.lexists(name):
                yield Path(name)

    def results(self, root: Path, without: Sequence[str] = ()) -> Iterator[Path]:
        """Yield the files below the root that the program wrote. Arguments as for :meth:`files`."""
        for name in self.written:
            if _inside(name, str(root)) and _is_programs(name, root, without):
                yield Path(name)

    def folders(self, root: Path, without: Sequence[str] = ()) -> Iterator[tuple[Path, str]]:
        """Yield each listed folder with unchanged contents, and their digest. Arguments as for :meth:`files`."""
        for name, had in list(self.sought.folders.items()):
            if had is not None and _may_be_programs(f"{name}{os.sep}x", root, without) and listing(Path(name)) == had:
                yield Path(name), had


def _may_be_programs(name: str, root: Path, without: Sequence[str]) -> bool:
    """Return whether a path that does not exist could belong to the program."""
    temporary = os.path.join(tempfile.gettempdir(), "")  # noqa: PTH118
    inside = _inside(os.path.abspath(name), str(root))  # noqa: PTH100 - links must not be resolved
    return (inside or not name.startswith(temporary)) and _is_programs(name, root, without)


def _is_programs(name: str, root: Path, without: Sequence[str]) -> bool:
    """Return whether a file is the program's: not of Python or the system, and not in a hidden folder or cache."""
    start = str(root)
    inside = _inside(name, start)
    if name.startswith(_foreign_prefixes(start, tuple(without), inside, (sys.prefix, sys.base_prefix))):
        return False
    if not _PACKAGES.isdisjoint(name.split("/")):
        return False
    folders = (name[len(start) :] if inside else os.path.relpath(name, start)).split("/")[:-1]
    return not any(part[:1] == "." and part != ".." for part in folders)


def _inside(name: str, start: str) -> bool:
    """Return whether a path is equal to or below another, compared as text because there are thousands of paths."""
    return name == start or name.startswith(os.path.join(start, ""))  # noqa: PTH118


_PACKAGES = frozenset({"__pycache__", "site-packages", "dist-packages"})


@functools.lru_cache(maxsize=16)
def _foreign_prefixes(root: str, without: tuple[str, ...], inside: bool, pythons: tuple[str, str]) -> tuple[str, ...]:
    """Return the path prefixes of files that do not belong to the program.

    Args:
        root: the work tree.
        without: folders whose files are not the program's.
        inside: True for prefixes of files inside the root, False for files outside of it.
        pythons: ``sys.prefix`` and ``sys.base_prefix``.
    """
    places = [Path(place) for place in (*pythons, *_SYSTEM, str(_OURS))]
    if inside:
        # A work tree below /usr/src or /var/lib belongs to the program, even if it is a virtual environment.
        places = [place for place in places if place != Path(root) and place.is_relative_to(root)]
    return tuple(f"{place}{os.sep}" for place in (*map(Path, filter(None, without)), *places))
