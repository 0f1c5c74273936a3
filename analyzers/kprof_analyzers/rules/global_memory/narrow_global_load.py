"""KP101 narrow-global-load."""

from collections import defaultdict
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass, Loop, MemorySpace
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.dataflow import global_loads
from kprof_analyzers.memory.narrowness import loads_needed, reason_for
from kprof_analyzers.rules.global_memory.gapped_access import GappedGlobalAccess
from kprof_analyzers.rules.questions import BUSY, UNITS, WAITING, Answer, Numbers, Question, busy_unit
from kprof_analyzers.rules.rule import Rule
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest, location_of

_SPACES = {MemorySpace.GLOBAL, MemorySpace.BUFFER, MemorySpace.FLAT}
_WIDEST = 16
_NARROW = 4
# One or two narrow loads in a loop are an index or a scale; a row of them is a tile that was taken apart.
_ENOUGH = 4


def _memory(numbers: Numbers) -> Answer:
    hbm, wait = numbers["hbm_percent_of_peak"], numbers["wait_share"]
    text = f"HBM at {hbm:.0f} % of its peak, wavefronts waited {wait:.0f} % of their time"
    if hbm >= BUSY:
        return False, f"{text}: the bandwidth is reached all the same"
    if unit := busy_unit(numbers):
        return False, f"{text}, but {unit}"
    return wait >= WAITING, text


class NarrowGlobalLoad(Rule):
    """A loop loads from global memory in small pieces.

    ## What it does
    Looks at the vector loads in each innermost loop. When one source line makes at least four loads of 4 bytes or less
    a lane, it is reported with the widths found. Where the TTGIR tells the tiles, some are left alone: those that are
    no more than one wavefront fetches at once (scales, indices), those of which a lane holds no more than 4 bytes, and
    those with no more loads than tiles of their size take. Tiles without a contiguous axis are left to KP103.

    ## Why it matters
    A wavefront moves 16 bytes a lane with one `global_load_dwordx4` or `buffer_load_dwordx4`; in pieces of 2 or 4
    bytes the same data takes 4 to 8 instructions, address registers and slots of the memory pipeline.

    ## Evidence
    `widths`: bytes per lane to number of loads. `bytes_per_lane`: what the line loads in all. `loop`. `why`: what the
    TTGIR tells of the cause: no contiguous axis, short rows, an address that is not known to be a multiple of 16 bytes
    (with the arguments to blame), a mask that changes inside 16 bytes, or both of these; null where it tells nothing.

    ## What to try
    Make contiguity visible: divisibility by 16 of strides and pointers (`tl.multiple_of`, `tl.max_contiguous`), the
    fastest dimension along the last axis of the block, a mask that is constant along it.
    """

    id: ClassVar[str] = "KP101"
    name: ClassVar[str] = "narrow-global-load"
    severity: ClassVar[Severity] = Severity.WARNING
    confirmed_by: ClassVar[Question | None] = Question(("hbm_percent_of_peak", "wait_share"), _memory, UNITS)

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index not in parents:
                yield from self._check_loop(facts, loop)

    def _check_loop(self, facts: KernelFacts, loop: Loop) -> Iterable[Finding]:
        by_line: dict[tuple[str, int], list[Instruction]] = defaultdict(list)
        for instruction in own_instructions(facts.program, loop):
            if _is_plain_load(instruction):
                frame = instruction.user_frame
                by_line[(frame.file, frame.line) if frame else ("", 0)].append(instruction)
        for loads in by_line.values():
            widths: dict[int, int] = defaultdict(int)
            for load in loads:
                widths[load.opcode.bytes_per_lane or 0] += 1
            narrow = sum(count for width, count in widths.items() if 0 < width <= _NARROW)
            if narrow < _ENOUGH:
                continue
            total = sum(width * count for width, count in widths.items())
            listed = ", ".join(f"{count} of {width} B" for width, count in sorted(widths.items()))
            place = busiest(loads)[0]
            tiles = _tiles(facts, place)
            needed = max((loads_needed(found) for found in tiles), default=1)
            if (tiles and len(loads) <= 2 * needed) or not needed:
                continue
            if any(_is_gapped(load) for found in tiles for load in found):
                continue
            why = next(filter(None, (reason_for(load) for found in tiles for load in found)), None)
            enough = max(needed, -(-total // _WIDEST))
            yield self.finding(
                f"{len(loads)} loads a lane in loop {loop.header} ({listed}); {enough} of 16 B would do"
                + (f": {why}" if why else ""),
                at=place,
                evidence={
                    "loop": loop.header,
                    "widths": dict(sorted(widths.items())),
                    "bytes_per_lane": total,
                    "why": why,
                },
            )


def _tiles(facts: KernelFacts, place: Instruction | None) -> list[list[Operation]]:
    """The loads of the same line in the TTGIR, loop by loop."""
    where = location_of(place)[0] if place is not None else None
    if facts.ttgir is None or where is None:
        return []
    by_loop: dict[int, list[Operation]] = defaultdict(list)
    for load in global_loads(facts.ttgir):
        line = location_of(load)[0]
        if load.loop is not None and line is not None and (line.file, line.line) == (where.file, where.line):
            by_loop[load.loop].append(load)
    return list(by_loop.values())


def _is_gapped(load: Operation) -> bool:
    """Whether the rule about gapped access reports the load, with the same cause."""
    return any(True for _ in GappedGlobalAccess().judge(load))


def _is_plain_load(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    return (
        opcode.cls is InstructionClass.VMEM
        and opcode.is_load
        and not opcode.is_atomic
        and not instruction.to_lds
        and opcode.space in _SPACES
    )
