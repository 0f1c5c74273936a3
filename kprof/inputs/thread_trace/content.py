"""Read files of a thread trace within size limits."""

from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from kprof.inputs import boundary

T = TypeVar("T")

# The decoder stores times in 64 bits and durations in 32. A 2 GHz clock reaches 2**56 after a year.
Clock = Annotated[int, msgspec.Meta(ge=-(1 << 56), le=1 << 56)]
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]

LONGEST = 1 << 44
"""Maximum duration of a trace in cycles: about two hours at 2 GHz."""


def content(place: Path, largest: int, shown: str = "") -> bytes:
    """Return the bytes of a plain file of at most ``largest`` bytes; ``shown`` is its name in messages.

    Raises:
        KprofError: if the file is missing, not a plain file, too large, or unreadable.
    """
    return boundary.read_bytes(place, most=largest, shown=shown or None)


def decode(place: Path, kind: type[T], largest: int) -> T:
    """Decode a JSON file as ``kind``.

    Raises:
        KprofError: under the conditions of :func:`content`, or if the file is cut off or has a value of a wrong type or
            size.
    """
    return boundary.json_of(content(place, largest), kind, str(place), "not readable as a part of a thread trace")
