"""Which files a program reads, since tiles may stand in one. Standard library only."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 20
"""Of a file that decides what is launched; what is larger is data that a kernel works on."""

_LIMIT = 10_000
_OURS = Path(__file__).resolve().parents[1]
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64", "/opt", "/run", "/var/lib")


@dataclass
class Reads:
    """Files that this process opens.

    Attributes:
        began: nanoseconds since the epoch; a file that was written later is the program's own result.
        read: absolute paths, in their order.
        written: opened for writing; what they held before is not known.
    """

    began: int = field(default_factory=time.time_ns)
    read: dict[str, None] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    _watching: bool = False

    def watch(self) -> None:
        """Note every file that is opened from now on."""
        self._watching = True
        sys.addaudithook(self.opened)

    def end(self) -> None:
        """Note no more; the audit hook itself cannot be taken away."""
        self._watching = False

    def opened(self, event: str, arguments: tuple[Any, ...]) -> None:
        """The audit hook: what it raised would be raised in the program."""
        if event != "open" or not self._watching:
            return
        try:
            path, _, flags = arguments
            if isinstance(path, int) or len(self.read) + len(self.written) >= _LIMIT:
                return
            # Links stay links: the program may look at another file through them the next time.
            name = os.path.abspath(os.fsdecode(path))  # noqa: PTH100
            writes = flags & _WRITES
        except (OSError, TypeError, ValueError):
            return
        if writes:
            self.written.add(name)
        else:
            self.read[name] = None

    def files(self, root: Path, without: Sequence[str] = ()) -> Iterator[Path]:
        """What was only read, was there before and is small; folders of Python, hidden ones and caches left out.

        A hidden file counts, as ``.env`` does: programs take their settings from such.

        Args:
            root: the work tree.
            without: folders whose files are not the program's.
        """
        others = tuple(
            f"{place.rstrip(os.sep)}{os.sep}"
            for place in (*without, sys.prefix, sys.base_prefix, *_SYSTEM, str(_OURS))
            if place
        )
        for name in list(self.read):
            path = Path(name)
            folders = Path(os.path.relpath(name, root)).parts[:-1]
            hidden = any(part[:1] == "." and part != ".." for part in folders)
            if name in self.written or hidden or "__pycache__" in path.parts or name.startswith(others):
                continue
            try:
                found = path.stat()
            except OSError:
                continue
            if found.st_mtime_ns < self.began and found.st_size <= MOST_BYTES:
                yield path
