"""Where the most registers are live, and which lines the values come from that are live there."""

from collections import Counter

from msgspec import UNSET

from kprof.findings import Location
from kprof.inputs.amdgcn import Kernel
from kprof.report import Occupancy, RegisterPeak
from kprof_analyzers.registers.liveness import Liveness
from kprof_analyzers.source_lines import location_of

_FILES = ("vgpr", "agpr", "sgpr")
_LINES = 5


def peaks(program: Kernel, occupancy: Occupancy | None = None) -> dict[str, RegisterPeak]:
    """The peak of each register file that the kernel uses.

    Args:
        program: the kernel.
        occupancy: for what would have to go before one more wavefront fits.
    """
    live = Liveness(program)
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
            lines=_busiest_lines(program, live.pressure[file]),
            held=_held(program, live, file, peak.index),
            to_next_step=step.reduce_by if step is not UNSET and step.resource == file else None,
        )
    return found


def _busiest_lines(program: Kernel, counts: list[int]) -> dict[str, int]:
    """Source lines with most registers live at one of their instructions."""
    most: dict[str, int] = {}
    # Instructions of one source position share the object, so that each is resolved once.
    places: dict[int, str | None] = {}
    for instruction, count in zip(program.instructions, counts, strict=True):
        source = instruction.source
        if source is None:
            continue
        if id(source) not in places:
            place = location_of(instruction)[0]
            places[id(source)] = _line(place)
        line = places[id(source)]
        if line is not None and count > most.get(line, 0):
            most[line] = count
    return dict(sorted(most.items(), key=lambda item: -item[1])[:_LINES])


def _held(program: Kernel, live: Liveness, file: str, index: int) -> dict[str, int]:
    """Registers live at the peak by the line that wrote them last before it in the program's order."""
    left = live.needed(index, file)
    lines: Counter[str] = Counter()
    for position in range(index, -1, -1):
        written = left & live.writes[position]
        if written:
            left &= ~written
            lines[_line(location_of(program.instructions[position])[0]) or "?"] += written.bit_count()
        if not left:
            break
    if left:
        # Not written before in the program's order: arguments, or made later in a loop.
        lines["before"] += left.bit_count()
    return dict(lines.most_common(_LINES))


def _line(place: Location | None) -> str | None:
    return None if place is None else f"{place.file}:{place.line}"
