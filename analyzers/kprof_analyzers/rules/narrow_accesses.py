"""Find source lines that access global memory in small pieces although their tiles would allow wide accesses."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kprof.analysis import KernelFacts, ModelChange
from kprof.inputs.amdgcn import Instruction, InstructionClass, MemorySpace
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import strides
from kprof_analyzers.memory.dataflow import GLOBAL_LOADS, GLOBAL_STORES
from kprof_analyzers.memory.narrowness import NarrowCause, causes_of, loads_needed
from kprof_analyzers.model.executions import Region, significant_regions
from kprof_analyzers.source_lines import busiest, location_of

WIDEST = 16
"""Bytes per lane of the widest access."""
_SPACES = {MemorySpace.GLOBAL, MemorySpace.BUFFER, MemorySpace.FLAT}
_NARROW = 4
# Minimum number of narrow accesses on a line. Fewer accesses are an index or a scale, not a tile split into pieces.
_ENOUGH = 4


@dataclass(frozen=True)
class Narrow:
    """The narrow accesses of one line, or of several lines with the same cause.

    Attributes:
        region: the code region that contains the accesses.
        instructions: all accesses on the lines, including wide ones.
        enough: number of 16-byte accesses per lane that would suffice.
        tiles: TTGIR loads and stores on the lines.
        causes: causes of the narrow accesses, derived from the TTGIR.
    """

    region: Region
    instructions: tuple[Instruction, ...]
    enough: int
    tiles: tuple[Operation, ...]
    causes: tuple[NarrowCause, ...]

    @property
    def why(self) -> str | None:
        """The causes as text; ``None`` if they are unknown."""
        return ", and ".join(dict.fromkeys(cause.words for cause in self.causes)) or None

    def fix_for(self, arguments: Mapping[str, int | float]) -> str:
        """Return how to make the accesses of a launch wide, or "" if no fix is known."""
        return "; ".join(dict.fromkeys(cause.fix_for(arguments) for cause in self.causes if cause.fix))

    @property
    def divisible(self) -> list[str]:
        """Arguments that must become multiples of 16; empty if the fix requires anything else."""
        names = [(*cause.lacking, *sorted(cause.bounds)) for cause in self.causes]
        return list(dict.fromkeys(name for each in names for name in each)) if all(names) else []

    @property
    def evidence(self) -> dict[str, object]:
        """Evidence of the findings about narrow loads and stores."""
        found: dict[str, object] = {
            "loop": self.region.header,
            "widths": self.widths,
            "bytes_per_lane": self.bytes_per_lane,
            "why": self.why,
        }
        return {**found, "divisible": self.divisible} if self.divisible else found

    @property
    def widths(self) -> dict[int, int]:
        """Map from bytes per lane to the number of accesses of that width."""
        return dict(sorted(Counter(i.opcode.bytes_per_lane or 0 for i in self.instructions).items()))

    @property
    def bytes_per_lane(self) -> int:
        """Total number of bytes per lane that the accesses move."""
        return sum(width * count for width, count in self.widths.items())

    @property
    def place(self) -> Instruction | None:
        """An access on the line that contains most of the accesses."""
        return busiest(self.instructions)[0]

    @property
    def widened(self) -> ModelChange:
        """The model change that moves the same bytes with as few 16-byte accesses as possible."""
        return as_wide(self.instructions)

    @property
    def words(self) -> str:
        """Description of the accesses and their cause, for a message.

        Example: ``96 loads and 32 stores a lane in loop .LBB0_1 (128 of 2 B); 16 of 16 B would do``, then the cause.
        """
        stores = sum(i.opcode.is_store for i in self.instructions)
        loads = len(self.instructions) - stores
        kinds = " and ".join(f"{n} {kind}" for n, kind in ((loads, "loads"), (stores, "stores")) if n)
        listed = ", ".join(f"{count} of {width} B" for width, count in self.widths.items())
        why = f": {self.why}" if self.why else ""
        return f"{kinds} a lane {self.region.words} ({listed}); {self.enough} of {WIDEST} B would do{why}"


def as_wide(accesses: Sequence[Instruction]) -> ModelChange:
    """Return the model change in which each line's loads, and its stores, move up to 16 bytes per lane at a time."""
    lines: dict[tuple[bool, str], list[Instruction]] = defaultdict(list)
    for access in accesses:
        lines[access.opcode.is_store, str(location_of(access)[0])].append(access)
    wide: dict[int, int] = {}
    gone: list[int] = []
    for found in lines.values():
        left = sum(i.opcode.bytes_per_lane or 0 for i in found)
        for access in found:
            if left > 0:
                wide[access.index] = min(left, WIDEST)
                left -= WIDEST
            else:
                gone.append(access.index)
    return ModelChange(gone=tuple(gone), wide=wide)


def loads_on(facts: KernelFacts, operations: Iterable[Operation]) -> list[Instruction]:
    """Return the assembly loads on the source lines of the given TTGIR loads."""
    places = {(place.file, place.line) for op in operations if (place := location_of(op)[0]) is not None}
    return [
        i
        for i in facts.program.instructions
        if _is_simple_access(i)
        and i.opcode.is_load
        and (at := location_of(i)[0]) is not None
        and (at.file, at.line) in places
    ]


def narrow_accesses(facts: KernelFacts) -> Iterator[Narrow]:
    """Find lines with at least four accesses of at most 4 bytes per lane, and merge lines with the same cause.

    Tiles are skipped if they are small, if a lane holds at most 4 bytes of them, if they are gathered, or if they have
    no more accesses than their size requires.
    """
    for region in significant_regions(facts, InstructionClass.VMEM):
        by_line: dict[tuple[bool, str, int], list[Instruction]] = defaultdict(list)
        for instruction in region.instructions:
            if _is_simple_access(instruction):
                frame, is_store = instruction.user_frame, instruction.opcode.is_store
                by_line[(is_store, frame.file, frame.line) if frame else (is_store, "", 0)].append(instruction)
        yield from _by_cause([one for found in by_line.values() if (one := _judged(facts, region, found)) is not None])


def _judged(facts: KernelFacts, region: Region, accesses: Sequence[Instruction]) -> Narrow | None:
    if sum(0 < (i.opcode.bytes_per_lane or 0) <= _NARROW for i in accesses) < _ENOUGH:
        return None
    tiles = _tiles(facts, region, busiest(accesses)[0], GLOBAL_STORES if accesses[0].opcode.is_store else GLOBAL_LOADS)
    needed = max((loads_needed(found) for found in tiles), default=1)
    if (tiles and len(accesses) <= 2 * needed) or not needed:
        return None
    operations = tuple(operation for found in tiles for operation in found)
    if operations and all(map(_is_gathered, operations)):
        return None
    causes = next(filter(None, map(causes_of, operations)), ())
    total = sum(i.opcode.bytes_per_lane or 0 for i in accesses)
    return Narrow(region, tuple(accesses), max(needed, -(-total // WIDEST)), operations, causes)


def _by_cause(lines: Sequence[Narrow]) -> list[Narrow]:
    """Merge lines of one region that share a cause, because one change fixes all of them."""
    found: list[Narrow] = []
    for line in lines:
        alike = next((n for n, other in enumerate(found) if set(line.causes) & set(other.causes)), None)
        if alike is None:
            found.append(line)
            continue
        other = found[alike]
        found[alike] = Narrow(
            region=line.region,
            instructions=(*other.instructions, *line.instructions),
            enough=other.enough + line.enough,
            tiles=(*other.tiles, *line.tiles),
            causes=tuple(dict.fromkeys((*other.causes, *line.causes))),
        )
    return found


def _is_gathered(access: Operation) -> bool:
    """Return whether no axis has a constant step, because addresses come from memory or a division.

    No fix makes such accesses wide.
    """
    steps = strides(access)
    return bool(steps) and all(step is None for step in (steps or {}).values())


def _tiles(
    facts: KernelFacts, region: Region, place: Instruction | None, names: Sequence[str]
) -> list[list[Operation]]:
    """Return the TTGIR accesses on the source line of an instruction, grouped by loop.

    For code outside of loops, only accesses outside of loops are returned if there are any. If the compiler unrolled a
    loop or moved the access out of it, only the TTGIR has the access in a loop.
    """
    where = location_of(place)[0] if place is not None else None
    if facts.ttgir is None or where is None:
        return []
    by_loop: dict[int | None, list[Operation]] = defaultdict(list)
    for access in facts.ttgir.named(*names):
        line = location_of(access)[0]
        if line is not None and (line.file, line.line) == (where.file, where.line):
            by_loop[access.loop].append(access)
    outside = by_loop.pop(None, None)
    return [outside] if region.loop is None and outside is not None else list(by_loop.values())


def _is_simple_access(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    return (
        opcode.cls is InstructionClass.VMEM
        and (opcode.is_load or opcode.is_store)
        and not opcode.is_atomic
        and not instruction.to_lds
        and opcode.space in _SPACES
    )
