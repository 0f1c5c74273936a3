"""Reading the source files that a compiler names.

Assembly and cache entries come from strangers, and what they name as a source file would be shown on a page that is
passed on. So files are read only where the user said that the sources are, and only those that look like source code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from kprof.errors import InputError
from kprof.inputs import boundary

_SUFFIXES = frozenset({".py", ".hip", ".cpp", ".cc", ".cxx", ".cu", ".cl", ".c", ".h", ".hpp", ".cuh", ".inc"})
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class SourceText:
    """Which source files may be read.

    Attributes:
        folders: sources are read below these.
        trusted: any path is read: the kernel was compiled here, from the user's own files.
    """

    folders: Sequence[Path] = ()
    trusted: bool = False
    _read: dict[str, "list[str] | str"] = field(default_factory=dict, repr=False, compare=False)

    def lines(self, path: str) -> list[str] | str:
        """The lines of a file, or in words why they are not shown."""
        if path not in self._read:
            self._read[path] = self._lines(path)
        return self._read[path]

    def _lines(self, path: str) -> list[str] | str:
        if PurePosixPath(path.replace("\\", "/")).suffix not in _SUFFIXES:
            return "this is no source file by its name"
        found = self._find(path)
        if found is None:
            return "not found below the folders of --source"
        try:
            # Form feeds and the like are no line ends to a compiler.
            text = boundary.read_bytes(found, most=_MAX_BYTES).decode("utf-8", errors="replace")
        except InputError as error:
            return error.message
        return text.replace("\r\n", "\n").split("\n")

    def _find(self, path: str) -> Path | None:
        """The file itself, or one below a folder whose path ends alike: the compile may have been elsewhere."""
        try:
            here = Path(path)
            if self.trusted and here.is_file():
                return here
            # The root of all files is no folder of sources.
            roots = [root for root in (folder.resolve() for folder in self.folders) if root != root.parent]
            parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in {"/", ".", ".."}]
            for root in roots:
                direct = [here] if here.is_absolute() else []
                tails = (root.joinpath(*parts[start:]) for start in range(len(parts)))
                for candidate in (*direct, *tails):
                    if candidate.is_file() and candidate.resolve().is_relative_to(root):
                        return candidate
        except (OSError, ValueError, RuntimeError):
            # Names may hold zero bytes, be endless, or lead round in circles.
            return None
        return None
