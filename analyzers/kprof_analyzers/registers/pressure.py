"""Find the instructions with the highest register pressure, and the source lines of the values live there."""

from collections import Counter

from msgspec import UNSET

from kprof.document import Occupancy, RegisterPeak
from kprof.findings import Location
from kprof.inputs.amdgcn import AssemblyKernel
from kprof_analyzers.registers.liveness import Liveness
from kprof_analyzers.source_lines import location_of

_FILES = ("vgpr", "agpr", "sgpr")
_LINES = 5


def peaks(program: AssemblyKernel, occupancy: Occupancy | None = None) -> dict[str, RegisterPeak]:
    """Return the peak of each register file that the kernel uses.

    Args:
        program: the kernel.
        occupancy: the kernel's occupancy. Its next step states how many registers must be saved for a higher one.
    """
    live = Liveness(program)
    lines = _lines(program)
    found = {}
    for file in _FILES:
        peak = live.peak(file)
        if peak is None:
            continue
        at = program.instructions[peak.index]
        step = occupancy.next_step if occupancy is not None else UNSET
        found[file] = RegisterPeak(
            live=peak.count,
            location=location_of(at)[0],
            instruction=at.text,
            lines=_busiest(lines, live.pressure[file]),
            held=_live_by_line(lines, live, file, peak.index),
            to_next_step=step.reduce_by if step is not UNSET and step.resource == file else None,
        )
    return found


def _lines(program: AssemblyKernel) -> list[str | None]:
    """Return the user's source line of each instruction; each distinct source position is resolved once."""
    places: dict[int, str | None] = {id(None): None}
    lines = []
    for instruction in program.instructions:
        key = id(instruction.source)
        if key not in places:
            places[key] = _line_text(location_of(instruction)[0])
        lines.append(places[key])
    return lines


def _busiest(lines: list[str | None], counts: list[int]) -> dict[str, int]:
    """Return the source lines with the highest register pressure: the maximum over the instructions of each line."""
    most: dict[str, int] = {}
    for line, count in zip(lines, counts, strict=True):
        if line is not None and count > most.get(line, 0):
            most[line] = count
    return dict(sorted(most.items(), key=lambda item: -item[1])[:_LINES])


def _live_by_line(places: list[str | None], live: Liveness, file: str, index: int) -> dict[str, int]:
    """Return the number of registers live at the peak, by source line of the last write before the peak."""
    left = live.needed(index, file)
    lines: Counter[str] = Counter()
    for position in range(index, -1, -1):
        written = left & live.writes[position]
        if written:
            left &= ~written
            lines[places[position] or "?"] += written.bit_count()
        if not left:
            break
    if left:
        # Registers without an earlier write in program order hold arguments, or values that a loop's body writes later.
        lines["before"] += left.bit_count()
    return dict(lines.most_common(_LINES))


def _line_text(place: Location | None) -> str | None:
    return None if place is None else f"{place.file}:{place.line}"
