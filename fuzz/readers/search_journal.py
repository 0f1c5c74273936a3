"""What a search kept. The oracle: every answer is one that was written."""

from functools import cache
from pathlib import Path

import msgspec

from fuzz.target import Target, check, put, seeds
from kprof.tuning.journal import Journal


def _answers(path: Path) -> set[bytes]:
    journal = Journal(path)
    try:
        return {msgspec.json.encode(answer) for answer in journal.known().values()}
    finally:
        journal.close()


@cache
def _written(folder: Path) -> set[bytes]:
    return {one for path in seeds("search_journal") for one in _answers(put(folder, "sound.jsonl", path.read_bytes()))}


def read(data: bytes, folder: Path) -> None:
    """The answers of a damaged journal."""
    known = _written(folder)
    check(same=_answers(put(folder, "search.jsonl", data)) <= known, what="an answer that nobody wrote")


TARGET = Target(read, words=('{"sum":"',))
