"""What a search found, kept line by line so that nothing is lost whenever it ends, ``kill -9`` included."""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from kprof.cache import files as store
from kprof.errors import KprofError
from kprof.tuning.work import Answer, distinct

NAME = "search.jsonl"
_LONGEST_LINE = 1 << 20


def place(folder: str | None, kernel: str, arch: str, files: tuple[str, ...]) -> Path:
    """Where a search is kept: in the folder given, else in the user's cache, by kernel, files and architecture."""
    if folder is not None:
        return Path(folder) / NAME
    digest = hashlib.sha256("\0".join(files).encode()).hexdigest()[:12]
    name = "".join(c if c.isalnum() or c in "-_" else "_" for c in kernel)[:80]
    return store.root() / "searches-1" / f"{name}-{arch}-{digest}.jsonl"


class Journal:
    """A file of answers, one a line.

    Args:
        path: the file; its folder is made.
        fresh: start anew and forget what is there.

    Raises:
        KprofError: it cannot be written.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if fresh:
                path.unlink(missing_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            self._mend()
        except OSError as error:
            raise KprofError(f"cannot keep the search: {error.strerror}", path=str(path)) from error

    def close(self) -> None:
        """Close the file; what was added stays."""
        with contextlib.suppress(OSError):
            os.close(self._file)

    def known(self) -> dict[str, Answer]:
        """Answers of earlier runs by the task's key. Lines that are cut off or foreign are passed over."""
        return distinct(self._lines())

    def add(self, answer: Answer) -> None:
        """Keep an answer. It is in the file when this returns.

        Raises:
            KprofError: the disk is full.
        """
        line = msgspec.json.encode(answer) + b"\n"
        try:
            view = memoryview(line)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            raise KprofError(f"cannot keep the search: {error.strerror}", path=str(self.path)) from error

    def _mend(self) -> None:
        """End a line that a killed run left unfinished, so that the next one is not glued to it."""
        size = os.fstat(self._file).st_size
        if size:
            with self.path.open("rb") as file:
                file.seek(size - 1)
                if file.read(1) != b"\n":
                    os.write(self._file, b"\n")

    def _lines(self) -> Iterator[Answer]:
        decoder = msgspec.json.Decoder(Answer)
        with self.path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                    yield decoder.decode(line)
