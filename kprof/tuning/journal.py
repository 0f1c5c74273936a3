"""The journal of a search, written line by line so that no result is lost when the search ends, even by ``kill -9``.

A line is a result as JSON that starts with a checksum. Altered or truncated lines are skipped, and so are lines from
another version of kprof, whose results have another form.
"""

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kprof.cache import location
from kprof.cache.keys import key
from kprof.errors import KprofError
from kprof.inputs.boundary import JSON_ERRORS
from kprof.tuning.work import TaskResult, distinct

NAME = "search.jsonl"
FOLDER = "searches"
"""Folder below the root of the cache."""

_LONGEST_LINE = 1 << 20
_SUM = 16
_START = len(b'{"sum":"",') + _SUM


def place(folder: str | None, kernel: str, arch: str, files: tuple[str, ...]) -> Path | None:
    """Return the journal's path: in the given folder, else in the user's cache, by kernel, files and architecture.

    Return ``None`` for a user without a home folder, whose searches cannot be kept.
    """
    if folder is not None:
        return Path(folder) / NAME
    root = location.root()
    if root is None:
        return None
    name = "".join(c if c.isalnum() or c in "-_" else "_" for c in kernel)[:80]
    return root / FOLDER / f"{name}-{arch}-{key(files)[:12]}.jsonl"


class TuningJournal:
    """A file of results, one per line.

    Args:
        path: the file, whose folder is created; ``None`` if the user has no folder for a journal.
        fresh: True to discard the existing results.
        in_cache: True if the file is in the user's cache, readable by this user alone. If it cannot be opened, no
            error is raised here: the first call of :meth:`add` raises it, and the search goes on without a journal.

    Raises:
        KprofError: if the file cannot be written and ``in_cache`` is False.
    """

    def __init__(self, path: Path | None, *, fresh: bool = False, in_cache: bool = False) -> None:
        self.path = path
        self._file: int | None = None
        self._problem = "cannot keep the search: this user has no home folder"
        if path is None:
            return
        try:
            if in_cache:
                location.make_folder(path.parent)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
            if fresh:
                path.unlink(missing_ok=True)
            self._file = self._open(path, in_cache=in_cache)
        except OSError as error:
            self._problem = f"cannot keep the search: {error.strerror}"
            if not in_cache:
                raise KprofError(self._problem, path=str(path)) from error

    def close(self) -> None:
        """Close the file; added results stay."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)

    def known(self) -> dict[str, TaskResult]:
        """Return the results of earlier runs by task key. Truncated or foreign lines are skipped."""
        return distinct(self._lines())

    def add(self, answer: TaskResult) -> None:
        """Append a result. It is in the file when this method returns.

        Raises:
            KprofError: if the disk is full, or there is no file.
        """
        if self._file is None:
            raise KprofError(self._problem)
        try:
            view = memoryview(_json_line(answer))
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            raise KprofError(f"cannot keep the search: {error.strerror}", path=str(self.path)) from error

    @staticmethod
    def _open(path: Path, *, in_cache: bool) -> int:
        """Open the file, and end a line that a killed run left unfinished, so the next line starts on its own."""
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600 if in_cache else 0o644)
        status = os.fstat(file)
        if in_cache and not location.trusted(status):
            os.close(file)
            raise PermissionError(errno.EPERM, "others may write to it")
        if stat.S_ISREG(status.st_mode) and status.st_size:
            os.lseek(file, -1, os.SEEK_END)
            if os.read(file, 1) != b"\n":
                os.write(file, b"\n")
        return file

    def _lines(self) -> Iterator[TaskResult]:
        if self._file is None or self.path is None:
            return
        with self.path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                answer = _answer(line)
                if answer is not None:
                    yield answer


def _json_line(answer: TaskResult) -> bytes:
    """Return one line of JSON, whose first member is a checksum of the other members."""
    members = msgspec.json.encode(answer)[1:]
    return b'{"sum":"' + _checksum(members) + b'",' + members + b"\n"


def _answer(line: bytes) -> TaskResult | None:
    members = line[_START:].removesuffix(b"\n")
    if line[:_START] != b'{"sum":"' + _checksum(members) + b'",':
        return None
    try:
        return msgspec.json.decode(b"{" + members, type=TaskResult)
    except JSON_ERRORS:
        return None


def _checksum(members: bytes) -> bytes:
    return hashlib.sha256(members).hexdigest()[:_SUM].encode()
