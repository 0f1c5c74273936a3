"""What the files of single wavefronts, of their states and of the occupancy tell. All times are in shader cycles."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Issues:
    """One instruction in one wavefront, or in all wavefronts that were read.

    Attributes:
        line: the number that wavefront files refer to the instruction by: ``Instruction.line``.
        issues: times it was issued.
        latency: cycles from when it could have issued until it was done, summed; ``stall`` is a part of it.
        stall: cycles of that in which it could not issue, summed.
        idle: cycles before it in which no instruction of the wavefront was under way, summed.
    """

    line: int
    issues: int
    latency: int
    stall: int
    idle: int


@dataclass(frozen=True)
class StalledInstruction(Issues):
    """An instruction's sum over the wavefronts, with what the listing says of it.

    Attributes:
        text: as disassembled, or ``None`` when the listing does not have it.
        source: ``file:line``, or ``None``.
        share: of the stall cycles of all instructions, 0 to 1.
    """

    text: str | None
    source: str | None
    share: float


@dataclass(frozen=True)
class Wavefront:
    """One wavefront's own file.

    Attributes:
        file: its name.
        shader_engine: from ``SE<number>`` in the file; ``None`` when it does not tell.
        cu: compute unit in its shader array (on RDNA the workgroup processor).
        simd: SIMD of that unit.
        slot: wavefront slot of the SIMD.
        number: of the wavefronts that used the slot, from 0.
        begin: cycle of its start.
        end: cycle of its end.
        cycles: from ``begin`` to ``end``.
        issued: instructions.
        latency: cycles in instructions, summed.
        stall: cycles of that in which an instruction could not issue.
        idle: cycles before instructions, as in :class:`Issues`.
        states: cycles in each state. They may add up to a few cycles more than from ``begin`` to ``end``.
        costs: by instruction, in the listing's order.
    """

    file: str
    shader_engine: int | None
    cu: int
    simd: int
    slot: int
    number: int
    begin: int
    end: int
    cycles: int
    issued: int
    latency: int
    stall: int
    idle: int
    states: dict[str, int]
    costs: tuple[Issues, ...]


@dataclass(frozen=True)
class WavefrontState:
    """One ``wstates*.json``: how many traced wavefronts were in a state at a time.

    Attributes:
        name: empty, idle, exec, wait or stall.
        cycles: summed over the wavefronts.
        most: wavefronts in the state at the same time, at most.
        share: of the cycles of all states, 0 to 1; ``None`` where a state's file could not be read.
    """

    name: str
    cycles: int
    most: int
    share: float | None = None


@dataclass(frozen=True)
class ResidentWavefronts:
    """Resident wavefronts of a shader engine, or of one of its compute units.

    Attributes:
        shader_engine: its number.
        cu: compute unit (on RDNA the workgroup processor); ``None`` for the whole shader engine.
        begun: wavefronts that began in the trace.
        begin: cycle of the shader engine's first event.
        end: cycle of its last.
        most: wavefronts at the same time.
        mean: wavefronts, over the cycles from ``begin`` to ``end``; ``None`` when these are the same.
        over_time: mean wavefronts in equal parts of that time, in order.
    """

    shader_engine: int
    cu: int | None
    begun: int
    begin: int
    end: int
    most: int
    mean: float | None
    over_time: tuple[float, ...]


@dataclass(frozen=True)
class Timeline:
    """What was read besides the listing.

    Attributes:
        wavefronts: by file name.
        states: by number: empty, idle, exec, wait, stall.
        occupancy: each shader engine, then its compute units.
    """

    wavefronts: tuple[Wavefront, ...] = ()
    states: tuple[WavefrontState, ...] = ()
    occupancy: tuple[ResidentWavefronts, ...] = ()

    def totals(self) -> list[Issues]:
        """Return the issue counts and cycles of each instruction, summed over the wavefronts; most stalled first."""
        sums: dict[int, list[int]] = {}
        for wave in self.wavefronts:
            for one in wave.costs:
                entry = sums.setdefault(one.line, [0, 0, 0, 0])
                for place, value in enumerate((one.issues, one.latency, one.stall, one.idle)):
                    entry[place] += value
        found = [Issues(line, *entry) for line, entry in sums.items()]
        return sorted(found, key=lambda one: (-one.stall, -one.latency, one.line))
