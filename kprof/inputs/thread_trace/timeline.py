"""Data model of the files about single wavefronts, their states and occupancy. All times are in shader cycles."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Issues:
    """Cost of one instruction in one wavefront, or summed over all wavefronts that were read.

    Attributes:
        line: number by which wavefront files refer to the instruction: ``TracedInstruction.line``.
        issues: number of times that the instruction was issued.
        latency: total cycles from when the instruction could have been issued until it completed, including ``stall``.
        stall: total cycles in which the instruction could not be issued.
        idle: total cycles before the instruction in which no instruction of the wavefront was in progress.
    """

    line: int
    issues: int
    latency: int
    stall: int
    idle: int


@dataclass(frozen=True)
class StalledInstruction(Issues):
    """An instruction's cost summed over the wavefronts, with details from the instruction listing.

    Attributes:
        text: disassembled text; ``None`` if the listing does not contain the instruction.
        source: ``file:line``; ``None`` if unknown.
        share: fraction of the stall cycles of all instructions, 0 to 1.
    """

    text: str | None
    source: str | None
    share: float


@dataclass(frozen=True)
class Wavefront:
    """Content of one wavefront's file.

    Attributes:
        file: name of the file.
        shader_engine: number from ``SE<number>`` in the file; ``None`` if it is missing.
        cu: compute unit in its shader array (the workgroup processor on RDNA).
        simd: SIMD of that unit.
        slot: wavefront slot of the SIMD.
        number: index among the wavefronts that used the slot, from 0.
        begin: cycle at which the wavefront started.
        end: cycle at which the wavefront ended.
        cycles: cycles from ``begin`` to ``end``.
        issued: number of issued instructions.
        latency: total latency of the instructions in cycles.
        stall: cycles of the latency in which an instruction could not be issued.
        idle: total idle cycles, as in :class:`Issues`.
        states: cycles in each state. Their sum may exceed ``cycles`` by a few cycles.
        costs: costs of each instruction, in the order of the instruction listing.
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
    """Content of one ``wstates*.json``: number of traced wavefronts in a state over time.

    Attributes:
        name: name of the state: empty, idle, exec, wait or stall.
        cycles: cycles in the state, summed over the wavefronts.
        most: maximum number of wavefronts in the state at the same time.
        share: fraction of the cycles of all states, 0 to 1; ``None`` if the file of a state could not be read.
    """

    name: str
    cycles: int
    most: int
    share: float | None = None


@dataclass(frozen=True)
class ResidentWavefronts:
    """Resident wavefronts of a shader engine, or of one of its compute units.

    Attributes:
        shader_engine: number of the shader engine.
        cu: compute unit (the workgroup processor on RDNA); ``None`` for the whole shader engine.
        begun: number of wavefronts that began in the trace.
        begin: cycle of the shader engine's first event.
        end: cycle of the shader engine's last event.
        most: maximum number of wavefronts at the same time.
        mean: mean number of wavefronts from ``begin`` to ``end``; ``None`` if both are equal.
        over_time: mean number of wavefronts in equal parts of that time, in order.
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
    """Data from files other than the instruction listing.

    Attributes:
        wavefronts: wavefronts in the order of their file names.
        states: states in numerical order: empty, idle, exec, wait, stall.
        occupancy: occupancy of each shader engine, followed by its compute units.
    """

    wavefronts: tuple[Wavefront, ...] = ()
    states: tuple[WavefrontState, ...] = ()
    occupancy: tuple[ResidentWavefronts, ...] = ()

    def totals(self) -> list[Issues]:
        """Return the issue counts and cycles of each instruction, summed over the wavefronts, most stalled first."""
        sums: dict[int, list[int]] = {}
        for wave in self.wavefronts:
            for one in wave.costs:
                entry = sums.setdefault(one.line, [0, 0, 0, 0])
                for place, value in enumerate((one.issues, one.latency, one.stall, one.idle)):
                    entry[place] += value
        found = [Issues(line, *entry) for line, entry in sums.items()]
        return sorted(found, key=lambda one: (-one.stall, -one.latency, one.line))
