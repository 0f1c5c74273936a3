"""Bounded reading of a thread trace's files."""

from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from kprof.inputs import boundary

T = TypeVar("T")

# The decoder keeps times in 64 bits and durations in 32. A clock of 2 GHz needs a year for 2**56.
Clock = Annotated[int, msgspec.Meta(ge=-(1 << 56), le=1 << 56)]
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]

LONGEST = 1 << 44
"""Cycles that a trace may last: about two hours at 2 GHz."""


def content(place: Path, largest: int, shown: str = "") -> bytes:
    """The bytes of a plain file of at most ``largest`` bytes; ``shown`` is what a message calls it.

    Raises:
        KprofError: missing, no plain file, too large, or unreadable.
    """
    return boundary.read_bytes(place, most=largest, shown=shown or None)


def decode(place: Path, kind: type[T], largest: int) -> T:
    """A JSON file as ``kind``.

    Raises:
        KprofError: what :func:`content` raises, cut off, or with a value of a wrong type or size.
    """
    return boundary.json_of(content(place, largest), kind, str(place), "not readable as a part of a thread trace")
