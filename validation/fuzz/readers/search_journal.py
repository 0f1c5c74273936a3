"""What a search kept. The oracle: every answer is that of a line whose checksum fits.

A fuzzer that is told what is compared finds checksums, and so new lines that fit: they are no damage.
"""

import hashlib
import re
from pathlib import Path

import msgspec

from kprof.inputs.boundary import JSON_ERRORS
from kprof.tuning.journal import TuningJournal
from kprof.tuning.work import TaskResult
from validation.fuzz.target import Target, check, put

_LINE = re.compile(rb'\{"sum":"([0-9a-f]{16})",(.*)', re.DOTALL)


def _answers(path: Path) -> set[bytes]:
    journal = TuningJournal(path)
    try:
        return {msgspec.json.encode(answer) for answer in journal.known().values()}
    finally:
        journal.close()


def _sound(data: bytes) -> set[bytes]:
    found = set()
    for line in data.split(b"\n"):
        match = _LINE.match(line)
        if match is not None and hashlib.sha256(match[2]).hexdigest().startswith(match[1].decode()):
            try:
                found.add(msgspec.json.encode(msgspec.json.decode(b"{" + match[2], type=TaskResult)))
            except JSON_ERRORS:
                continue
    return found


def read(data: bytes, folder: Path) -> None:
    """The answers of a damaged journal."""
    found = _answers(put(folder, "search.jsonl", data))
    check(same=found <= _sound(data), what="an answer that no line vouches for")


TARGET = Target(read, words=('{"sum":"',))
