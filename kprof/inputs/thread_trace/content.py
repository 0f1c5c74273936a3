"""Bounded reading of a thread trace's files."""

from pathlib import Path
from typing import Annotated, TypeVar

import msgspec

from kprof.errors import InputError

T = TypeVar("T")

# The decoder keeps times in 64 bits and durations in 32. A clock of 2 GHz needs a year for 2**56.
Clock = Annotated[int, msgspec.Meta(ge=-(1 << 56), le=1 << 56)]
Count = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]

LONGEST = 1 << 44
"""Clocks that a trace may last: about two hours at 2 GHz."""


def content(place: Path, largest: int, shown: str = "") -> bytes:
    """The bytes of a plain file of at most ``largest`` bytes; ``shown`` is what a message calls it.

    Raises:
        KprofError: missing, no plain file, too large, or unreadable.
    """
    name = shown or str(place)
    try:
        if not place.is_file():
            raise InputError("cannot be read: no plain file of this name", path=name)
        if place.stat().st_size > largest:
            raise InputError(f"larger than any of its kind: more than {largest >> 20} MiB", path=name)
        with place.open("rb") as file:
            data = file.read(largest + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=name) from error
    if len(data) > largest:
        raise InputError(f"larger than any of its kind: more than {largest >> 20} MiB", path=name)
    return data


def decode(place: Path, kind: type[T], largest: int) -> T:
    """A JSON file as ``kind``.

    Raises:
        KprofError: what :func:`content` raises, cut off, or with a value of a wrong type or size.
    """
    data = content(place, largest)
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise InputError(f"not readable as a part of a thread trace: {error}", path=str(place)) from error
