"""Packets of a raw thread trace of a CDNA GPU: its wavefronts, what they issued, and when.

A trace is a row of little-endian packets of 16 to 64 bits whose kind is in the lowest four bits; bit 4 of all but one
moves the time by a tick of four cycles. The layout is as public readers have it (tinygrad's ``sqtt.py``; the header as
in rocprofiler's ``att.h``). In public raw traces of a gfx950 every byte is part of a packet, each wavefront that starts
ends, and what is issued is what the kernel's code object has, in its order. AMD's decoder finds the same instructions
at the same times, to a tick: docs/validation/raw_thread_traces.md.
"""

from dataclasses import dataclass, field

CYCLES = 4
"""Of a tick."""
HEADER_BYTES = 8
# The lowest 13 bits of the header in front of a CDNA trace; a Radeon's first packet has them in use.
_MARK, _MARK_BITS = 0x11, 0x1FFF
_SIZES = (2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6)
_MISC, _TIMESTAMP, _START, _END, _ISSUED = 0, 1, 3, 6, 10
JUMP, NEXT, MESSAGE = 12, 13, 15
NAMES = {
    0: "smem_read",
    1: "salu_32",
    2: "vmem_read",
    3: "vmem_write",
    4: "flat_write",
    5: "valu_32",
    6: "lds",
    7: "set_pc",
    JUMP: "branch_taken",
    NEXT: "branch_not_taken",
    14: "flat_read",
    MESSAGE: "message",
    16: "smem_write",
    17: "salu_64",
    18: "valu_64",
    28: "mfma",
}
"""What an instruction is told to be; 32 and 64 are the bits of its encoding."""


@dataclass
class RawWavefront:
    """One wavefront.

    Attributes:
        cu, simd, slot: where it ran, in the shader engine of its file.
        start, end: cycles; ``end`` is ``None`` where the trace ends before.
        issued: cycle and kind, see :data:`NAMES`, of what it issued; only of the CU that is traced.
    """

    cu: int
    simd: int
    slot: int
    start: int
    end: int | None = None
    issued: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class RawTrace:
    """One shader engine's trace.

    Attributes:
        engine: its number.
        wavefronts: in the order of their starts.
        unknown: instructions and ends of wavefronts that began before the trace.
        left: bytes at the end that are no whole packet.
    """

    engine: int
    wavefronts: tuple[RawWavefront, ...]
    unknown: int
    left: int


def is_cdna(data: bytes) -> bool:
    """Whether the header is that of a CDNA GPU."""
    return len(data) >= HEADER_BYTES and int.from_bytes(data[:2], "little") & _MARK_BITS == _MARK


def read_packets(data: bytes) -> RawTrace:
    """The wavefronts of a file with the header of a CDNA GPU."""
    header = int.from_bytes(data[:HEADER_BYTES], "little")
    traced, engine = header >> 20 & 31, header >> 32 & 63
    found: list[RawWavefront] = []
    running: dict[tuple[int, int, int], RawWavefront] = {}
    anchor: tuple[int, int] | None = None
    at, ticks, unknown = HEADER_BYTES, 0, 0
    while at < len(data):
        kind = data[at] & 15
        end = at + _SIZES[kind]
        if end > len(data):
            break
        packet = int.from_bytes(data[at:end], "little")
        at = end
        if kind == _MISC:
            ticks += packet >> 4 & 255
        elif kind == _TIMESTAMP:
            if not packet >> 4 & 0xFFF:
                # The clock of packets stands while nothing is traced.
                cycles = packet >> 16
                if anchor is not None:
                    ticks = max(ticks, anchor[1] + (cycles - anchor[0]) // CYCLES)
                anchor = cycles, ticks
        else:
            ticks += packet >> 4 & 1
            if kind in {_START, _END}:
                place = packet >> 6 & 15, packet >> 14 & 3, packet >> 10 & 15
                if kind == _START:
                    running[place] = RawWavefront(*place, ticks * CYCLES)
                    found.append(running[place])
                elif place in running:
                    running.pop(place).end = ticks * CYCLES
                else:
                    unknown += 1
            elif kind == _ISSUED:
                wavefront = running.get((traced, packet >> 9 & 3, packet >> 5 & 15))
                if wavefront is None:
                    unknown += 1
                else:
                    wavefront.issued.append((ticks * CYCLES, packet >> 11))
    return RawTrace(engine, tuple(found), unknown, len(data) - at)
