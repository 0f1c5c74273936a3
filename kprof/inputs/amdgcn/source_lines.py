"""``.file`` and ``.loc`` directives, with the inline chain that LLVM writes behind them as a comment.

``.loc 2 43 13  ; standard.py:43:13 @[ k.py:13:22 ]`` says that the instruction comes from ``standard.py`` line 43,
inlined at ``k.py`` line 13. The comment names files without their directory; the ``.file`` table supplies it.
"""

import re
from functools import cached_property, lru_cache

from kprof.inputs.amdgcn.instruction import AssemblyFrame
from kprof.inputs.source_path import from_assembly, joined

_FILE = re.compile(r'\.file\s+(?:(\d+)\s+)?"((?:[^"\\]|\\.)*)"(?:\s+"((?:[^"\\]|\\.)*)")?')
_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)(?:\s+(\d+))?")
_POSITION = re.compile(r"^(.*):(\d+):(\d+)$")
_MAX_FRAMES = 256
_LIBRARY = re.compile(
    r"/(?:site-packages|dist-packages)/triton/|(?:^|/)triton/(?:language|experimental|tools|runtime|compiler|backends)/"
    r"|/lib/clang/[^/]+/include/|/include/hip/|/__clang_hip|(?:^|/)amd_(?:device_functions|hip_[\w]+|warp_functions)\.h$"
)


@lru_cache(maxsize=1024)
def is_library(path: str) -> bool:
    """Whether a source file is part of Triton itself or of the HIP headers."""
    return _LIBRARY.search(path.replace("\\", "/")) is not None


class FileTable:
    """The ``.file`` directives of one assembly file: number to path and name to paths."""

    def __init__(self) -> None:
        """Begin with an empty table."""
        self._by_number: dict[int, str] = {}
        self._by_name: dict[str, list[str]] = {}
        self._root = ""

    def add(self, directive: str) -> None:
        """Read one ``.file`` directive; one without a number only names the module and is left out."""
        match = _FILE.match(directive)
        if match is None or match[1] is None or len(match[1]) > 9:
            return
        first = from_assembly(match[2])
        second = from_assembly(match[3]) if match[3] is not None else None
        name = first if second is None else second
        directory = "" if second is None else first
        path = joined(directory, name)
        if match[1] == "0":
            self._root = directory
        elif directory != self._root:
            path = joined(self._root, path)
        self._by_number[int(match[1])] = path
        for key in {name, name.rpartition("/")[2]}:
            paths = self._by_name.setdefault(key, [])
            if path not in paths:
                paths.append(path)

    def path(self, number: int) -> str | None:
        """Path of a file number, ``None`` if there is no such file."""
        return self._by_number.get(number)

    def resolve(self, name: str) -> str:
        """Path of a file named in a comment; of several with that name the first one outside the library."""
        paths = self._by_name.get(name)
        if not paths:
            return name
        return next((path for path in paths if not is_library(path)), paths[0])


class LocDirective:
    """One ``.loc`` directive; frames are worked out when asked for."""

    def __init__(self, directive: str, files: FileTable) -> None:
        """Keep the text and the table, which may still grow."""
        self._directive = directive
        self._files = files

    @cached_property
    def frames(self) -> tuple[AssemblyFrame, ...]:
        """Innermost frame first; from the directive alone when LLVM wrote no comment."""
        directive, _, comment = self._directive.partition(";")
        match = _LOC.match(directive.strip())
        if match is None or any(len(group or "") > 9 for group in match.groups()):
            return ()
        innermost = self._files.path(int(match[1]))
        frames = []
        for position, part in enumerate(comment.split("@[")[:_MAX_FRAMES]):
            found = _POSITION.match(part.strip().rstrip("] "))
            if found is None or len(found[2]) > 9 or len(found[3]) > 9:
                continue
            name = found[1]
            path = self._files.resolve(name)
            if position == 0 and innermost is not None and innermost.endswith(name):
                path = innermost
            frames.append(AssemblyFrame(path, int(found[2]), int(found[3]), is_library(path)))
        if not frames:
            path = innermost or f"file {match[1]}"
            frames.append(AssemblyFrame(path, int(match[2]), int(match[3] or 0), is_library(path)))
        return tuple(frames)
