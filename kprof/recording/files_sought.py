"""What a program looks for and does not find, and the folders that it lists. Standard library only.

Either decides what is launched: tiles that a server looks up by name, and finds once somebody has tuned them.
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
"""Names of each kind."""

_LISTED = ("os.listdir", "os.scandir")
# They look through every folder of the path, at what they find by name, or at what they take away.
_LISTERS = (
    "importlib", "_frozen_importlib_external", "importlib_metadata", "importlib_resources", "pkgutil", "pkg_resources",
    "setuptools", "site", "shutil", "tempfile", "kprof",
)  # fmt: skip
# The standard library's are asked for by hundreds, and a file that takes the place of one is soon noticed.
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
    """Names that this process has asked for and that were not there.

    Attributes:
        missing: absolute paths that were not there, in their order.
        folders: folders to what stood in them when they were first listed, as a digest.
        modules: full names of modules that nothing had.
    """

    def __init__(self) -> None:
        self.missing: dict[str, None] = {}
        self.folders: dict[str, str | None] = {}
        self.modules: dict[str, None] = {}
        self._patches = Patches()
        self._finder = _LastFinder(self.modules)

    @property
    def full(self) -> bool:
        """There were more than are kept."""
        return any(len(found) >= LIMIT for found in (self.missing, self.folders, self.modules))

    def watch(self) -> None:
        """See every question from now on. The import system asks past :mod:`os` and is not seen."""
        for name in ("stat", "access"):
            asked = getattr(os, name)
            noted = self._noted(asked)
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
        """Put everything back."""
        self._patches.undo()
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)

    def listed(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit event: what a folder has when it is listed first."""
        if event not in _LISTED or len(self.folders) >= LIMIT or _lists_by_itself():
            return
        path = arguments[0]
        if isinstance(path, int):
            return
        name = os.path.abspath(os.fsdecode("." if path is None else path))  # noqa: PTH100 - links stay links
        if name not in self.folders:
            self.folders[name] = None
            self.folders[name] = listing(Path(name))

    def _noted(self, asked: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(asked)
        def noting(path: Any, *arguments: Any, **options: Any) -> Any:
            try:
                answer = asked(path, *arguments, **options)
            except (FileNotFoundError, NotADirectoryError):
                self._miss(path, options)
                raise
            if answer is False:
                self._miss(path, options)
            return answer

        return noting

    def _miss(self, path: Any, options: dict[str, Any]) -> None:
        if isinstance(path, int) or options.get("dir_fd") is not None or len(self.missing) >= LIMIT:
            return
        self.missing[os.path.abspath(os.fsdecode(path))] = None  # noqa: PTH100 - links stay links


class _LastFinder:
    """Asked when nothing else has a module."""

    def __init__(self, names: dict[str, None]) -> None:
        self._names = names

    def find_spec(self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None) -> None:
        """Note the name; find nothing."""
        if len(self._names) < LIMIT:
            self._names[name] = None


def _lists_by_itself() -> bool:
    """Whether the import system or the like is what lists, and not the program."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the audit hook's caller
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame is None or str(frame.f_globals.get("__name__", "")).partition(".")[0] in _LISTERS


_HERE = str(Path(__file__).parent)


def places_before(modules: Sequence[str], ours: Callable[[str], bool]) -> Iterator[str]:
    """Files that would have been imported in the place of what was, or of nothing, had they been there.

    Args:
        modules: full names that nothing had.
        ours: whether a folder of the path is one of the program's.
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
    place = os.path.join(folder, module)  # noqa: PTH118 - no error of any name
    return os.path.isdir(place) or any(map(os.path.isfile, (place + end for end in importlib.machinery.all_suffixes())))  # noqa: PTH112


def _stems(folder: str) -> frozenset[str]:
    """What the names in a folder begin with, up to their first point."""
    try:
        return frozenset(name.partition(".")[0] for name in os.listdir(folder))  # noqa: PTH208
    except OSError:
        return frozenset()
