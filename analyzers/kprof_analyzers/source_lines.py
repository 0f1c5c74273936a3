"""Find the user's source line for an instruction or operation, to which a finding then belongs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from kprof.findings import Location


class Frame(Protocol):
    """A position in source code; positions from the assembly reader and from the MLIR reader have this interface."""

    @property
    def file(self) -> str:
        """Path as the compiler recorded it."""
        ...

    @property
    def line(self) -> int:
        """1-based line, 0 if unknown."""
        ...

    @property
    def column(self) -> int:
        """1-based column, 0 if unknown."""
        ...

    @property
    def in_library(self) -> bool:
        """Whether the file is Triton's own."""
        ...


class Located(Protocol):
    """An item with a source location: innermost frame first, then the calls through which it was inlined."""

    @property
    def location(self) -> Sequence[Frame]:
        """The item's source frames, innermost first."""
        ...


T = TypeVar("T", bound=Located)


def location_of(item: Located) -> tuple[Location | None, list[Location]]:
    """Return the user's own line of an item, and its other locations: inlined library code and callers.

    An inlined helper of Triton's library (``tl.cdiv``, ``tl.sum``) is never the location of a finding, but is returned
    as one of the other locations. The user's line is ``None`` if the compiler recorded none.
    """
    frames = [frame for frame in item.location if frame.line]
    user = next((index for index, frame in enumerate(frames) if not frame.in_library), None)
    if user is None:
        return None, []
    callers = [frame for frame in frames[user + 1 :] if not frame.in_library]
    return _location(frames[user]), [_location(frame) for frame in (*frames[:user], *callers)]


def line_of(item: Located) -> tuple[str, int] | None:
    """Return the file and line that :func:`location_of` returns, but faster, for many items."""
    for frame in item.location:
        if frame.line and not frame.in_library:
            return frame.file, frame.line
    return None


def disagreement(instructions: Iterable[Located], operations: Iterable[Located]) -> str | None:
    """Return the reason why source lines of the assembly do not occur in the TTGIR.

    ``None`` if some lines occur in both, or if the assembly or the TTGIR names no file.
    """
    known = {place[0] for operation in operations if (place := line_of(operation)) is not None}
    first = None
    for instruction in instructions if known else ():
        place = line_of(instruction)
        if place is not None and place[0] in known:
            return None
        first = first or place
    if first is None:
        return None
    return (
        f"its assembly names the source file {first[0]} and its TTGIR {min(known)}: findings that need both are missing"
    )


def on_line_of(items: Iterable[T], place: Located) -> list[T]:
    """Return the items on the same line of the same file as ``place``; empty if the place has no line."""
    line = location_of(place)[0]
    if line is None:
        return []
    return [
        i for i in items if (own := location_of(i)[0]) is not None and (own.file, own.line) == (line.file, line.line)
    ]


def busiest(items: Iterable[T]) -> tuple[T | None, dict[str, int]]:
    """Return an item on the most frequent source line, and the number of items on each line (``file:line``)."""
    counts: Counter[str] = Counter()
    first: dict[str, T] = {}
    for item in items:
        place = location_of(item)[0]
        if place is not None:
            counts[str(place)] += 1
            first.setdefault(str(place), item)
    if not counts:
        return None, {}
    return first[counts.most_common(1)[0][0]], dict(counts.most_common())


def other_lines(items: Iterable[Located], place: Located | None) -> list[Location]:
    """Return the users' lines of several items in order, without the line of ``place``."""
    main = location_of(place)[0] if place is not None else None
    lines = {(line.file, line.line): line for item in items if (line := location_of(item)[0]) is not None}
    return [line for key, line in sorted(lines.items()) if main is None or key != (main.file, main.line)]


def _location(frame: Frame) -> Location:
    return Location(file=frame.file, line=frame.line, column=frame.column or None)
