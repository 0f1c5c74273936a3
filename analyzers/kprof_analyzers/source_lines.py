"""From an instruction to the line that a finding belongs on."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kprof.findings import Location

if TYPE_CHECKING:
    from kprof.inputs.amdgcn import Frame, Instruction


def location_of(instruction: "Instruction") -> tuple[Location | None, list[Location]]:
    """The user's own line, and the library lines and callers around it.

    A helper of Triton's library that was inlined (``tl.cdiv``, ``tl.sum``) is never the place of a finding: it is
    named among the related ones. ``None`` when the compiler recorded no line.
    """
    user = instruction.user_frame
    if user is None:
        return None, []
    callers = _callers(instruction, user)
    return _location(user), [_location(f) for f in (*instruction.library_frames, *callers)]


def busiest(instructions: "Iterable[Instruction]") -> "tuple[Instruction | None, dict[str, int]]":
    """Of several instructions one on the line that has most of them, and the count for each ``file:line``."""
    counts: Counter[str] = Counter()
    first: dict[str, Instruction] = {}
    for instruction in instructions:
        frame = instruction.user_frame
        if frame is None:
            continue
        place = str(_location(frame))
        counts[place] += 1
        first.setdefault(place, instruction)
    if not counts:
        return None, {}
    return first[counts.most_common(1)[0][0]], dict(counts.most_common())


def _callers(instruction: "Instruction", user: "Frame") -> "tuple[Frame, ...]":
    frames = instruction.location
    after = frames[frames.index(user) + 1 :]
    return tuple(f for f in after if f.line and not f.in_library)


def _location(frame: "Frame") -> Location:
    return Location(file=frame.file, line=frame.line, column=frame.column or None)
