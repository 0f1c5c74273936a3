"""Track the missing paths that a program looks up, and the folders that it lists. Imports only the standard library.

Both may affect launches: a server looks up tile sizes by file name, and finds the file once somebody has tuned them.
"""

import functools
import importlib.machinery
import os
import pathlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from kprof.captures.staleness import listing
from kprof.simulation.patches import Patches

LIMIT = 10_000
"""Maximum number of names of each kind: missing paths, listed folders, missing modules."""

_LISTED = ("os.listdir", "os.scandir")
# Modules whose own listings of folders are ignored. They list folders for imports, for lookups by name, or to delete
# files.
_LISTERS = (
    "importlib", "_frozen_importlib_external", "importlib_metadata", "importlib_resources", "pkgutil", "pkg_resources",
    "setuptools", "site", "shutil", "tempfile", "kprof",
)  # fmt: skip
# Modules for which no shadowing file is reported. Standard library modules are imported by the hundreds, and a file
# that shadows one is soon noticed.
_OTHERS = sys.stdlib_module_names | {
    "sitecustomize",
    "usercustomize",
    "kprof",
    "kprof_analyzers",
    "kprof_servers",
    "__main__",
    "org",
}
_SETS = ("supports_fd", "supports_dir_fd", "supports_follow_symlinks", "supports_effective_ids")


class SoughtFiles:
    """Names that this process looked up and that did not exist.

    Attributes:
        missing: absolute paths that did not exist, in order.
        folders: digest of each folder's contents when it was first listed.
        modules: full names of modules that were not found.
    """

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}
        self.folders: dict[str, str | None] = {}
        self.modules: dict[str, None] = {}
        self._patches = Patches()
        self._finder = _LastFinder(self.modules)

    @property
    def full(self) -> bool:
        """Whether the limit was reached for a kind of names, so that some may be missing."""
        return any(len(found) >= LIMIT for found in (self.missing, self.folders, self.modules))

    def watch(self) -> None:
        """Track every lookup from now on. Lookups of the import system do not use :mod:`os` and are not tracked."""
        for name in ("stat", "access"):
            asked = getattr(os, name)
            noted = self._watch_lookup(asked)
            self._patches.set(os, name, noted)
            for group in _SETS:
                known = getattr(os, group)
                if asked in known:
                    self._patches.set(os, group, known | {noted})
        accessor = getattr(pathlib, "_NormalAccessor", None)
        if accessor is not None:  # Python 3.10
            self._patches.set(accessor, "stat", staticmethod(os.stat))
        sys.meta_path.append(self._finder)

    def end(self) -> None:
        """Remove all patches."""
        self._patches.undo()
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)

    def listed(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Handle an audit event: record a folder's contents when it is first listed."""
        if event not in _LISTED or len(self.folders) >= LIMIT or _lists_by_itself():
            return
        path = arguments[0]
        if isinstance(path, int):
            return
        name = os.path.abspath(os.fsdecode("." if path is None else path))  # noqa: PTH100 - links must not be resolved
        if name not in self.folders:
            self.folders[name] = None
            self.folders[name] = listing(Path(name))

    def _watch_lookup(self, asked: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(asked)
        def noting(path: Any, *arguments: Any, **options: Any) -> Any:
            try:
                answer = asked(path, *arguments, **options)
            except (FileNotFoundError, NotADirectoryError):
                self._note_missing(path, options)
                raise
            if answer is False:
                self._note_missing(path, options)
            return answer

        return noting

    def _note_missing(self, path: Any, options: dict[str, Any]) -> None:
        if isinstance(path, int) or options.get("dir_fd") is not None or len(self.missing) >= LIMIT:
            return
        self.missing[os.path.abspath(os.fsdecode(path))] = None  # noqa: PTH100 - links must not be resolved


class _LastFinder:
    """The last import finder, which Python calls only for a module that no other finder has found."""

    def __init__(self, names: dict[str, None]) -> None:
        self._names = names

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> None:
        """Record the module's name and return None, so the import fails as usual."""
        if len(self._names) < LIMIT:
            self._names[name] = None


def _lists_by_itself() -> bool:
    """Return whether a module of :data:`_LISTERS` lists the folder for its own purpose, and not the program."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the audit hook's caller
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame is None or str(frame.f_globals.get("__name__", "")).partition(".")[0] in _LISTERS


_HERE = str(Path(__file__).parent)


def places_before(modules: Sequence[str], ours: Callable[[str], bool]) -> Iterator[str]:
    """Yield paths of files that do not exist, but would be imported in place of a loaded or a missing module.

    Args:
        modules: full names of modules that were not found.
        ours: returns whether a folder of ``sys.path`` belongs to the program.
    """
    wanted = dict.fromkeys(modules)
    loaded = list(sys.modules.items())
    wanted.update((name, None) for name, module in loaded if "." not in name and getattr(module, "__spec__", None))
    stems = functools.cache(_stems)
    for name in wanted:
        package, _, last = name.rpartition(".")
        folders = list(getattr(sys.modules.get(package), "__path__", ())) if package else sys.path
        if not last.isidentifier() or name.partition(".")[0] in _OTHERS:
            continue
        for folder in folders:
            if last in stems(folder or os.curdir) and _has(folder, last):
                break
            if ours(folder):
                yield str(Path(folder or ".", f"{last}.py").absolute())
                yield str(Path(folder or ".", last, "__init__.py").absolute())


def _has(folder: str, module: str) -> bool:
    place = os.path.join(folder, module)  # noqa: PTH118 - accepts any name
    return os.path.isdir(place) or any(map(os.path.isfile, (place + end for end in importlib.machinery.all_suffixes())))  # noqa: PTH112


def _stems(folder: str) -> frozenset[str]:
    """Return the names in a folder, up to their first dot."""
    try:
        return frozenset(name.partition(".")[0] for name in os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()
