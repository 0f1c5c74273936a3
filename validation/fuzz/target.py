"""What is fuzzed: one reader a target, with the oracles that hold for whatever it is given."""

import os
import random
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARTEFACTS = ROOT / "tests" / "artifacts"
CORPUS = ROOT / "validation" / "fuzz" / "corpus"
_MEMORY_FOLDER = Path("/dev/shm")
LARGEST = 80_000
"""Bytes of an artefact that is damaged; larger ones take longer and say no more."""


class DiffersError(AssertionError):
    """Two ways to the same answer gave two answers."""


@dataclass(frozen=True)
class Target:
    """One reader.

    Attributes:
        read: reads the bytes, with a folder for the files that it needs; it may raise
            :class:`kprof.errors.KprofError`, and nothing else.
        files: artefacts of the tests that are seeds beside the reader's folder in the corpus; glob patterns.
        words: tokens of the format, for the fuzzer's dictionary.
        damage: changes an input so that it stays what the reader takes, where random damage rarely does.
        runs: inputs of a fixed run: some two seconds of them.
    """

    read: Callable[[bytes, Path], object]
    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    damage: Callable[[random.Random, bytes], bytes] | None = None
    runs: int = 500

    def artefacts(self) -> list[Path]:
        """The artefacts that are no larger than :data:`LARGEST`."""
        found = {path for pattern in self.files for path in ARTEFACTS.glob(pattern) if path.is_file()}
        return sorted(path for path in found if 0 < path.stat().st_size <= LARGEST)


def seeds(name: str) -> list[Path]:
    """A reader's files in the corpus: small, and each with something that the others have not."""
    return sorted(path for path in (CORPUS / name).rglob("*") if path.is_file())


def put(folder: Path, name: str, data: bytes) -> Path:
    """A file for a reader that takes a path."""
    path = folder / name
    path.write_bytes(data)
    return path


def sometimes(data: bytes, every: int) -> bool:
    """Whether this is one of the inputs, one in so many, with which something slow is done, too."""
    return zlib.crc32(data) % every == 0


def check(*, same: bool, what: str) -> None:
    """Raise :class:`DiffersError` where an oracle does not hold."""
    if not same:
        raise DiffersError(what)


def scratch_folder() -> "tempfile.TemporaryDirectory[str]":
    """A folder in memory where there is one: millions of files are written to it."""
    return tempfile.TemporaryDirectory(dir=_MEMORY_FOLDER if os.access(_MEMORY_FOLDER, os.W_OK) else None)
