"""Decode the packets of a CDNA GPU's raw thread trace into wavefronts, their issued instructions and times.

A trace is a sequence of little-endian packets of 16 to 64 bits whose kind is in the lowest four bits. In all kinds but
one, a set bit 4 advances the time by a tick of four cycles. The layout follows public readers (tinygrad's ``sqtt.py``;
the header follows rocprofiler's ``att.h``). In public raw traces of a gfx950, every byte is part of a packet, every
started wavefront ends, and the issued instructions match the kernel's code object in order. AMD's decoder finds the
same instructions at the same times, within one tick: docs/validation/raw_thread_traces.md.
"""

from dataclasses import dataclass, field

CYCLES = 4
"""Cycles per tick, the time unit of packets."""
HEADER_BYTES = 8
# The lowest 13 bits of a CDNA trace's header. In a Radeon's trace, the first packet uses these bits.
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
"""Kind of an instruction by its number in a packet; 32 and 64 are the bits of its encoding."""


@dataclass
class RawWavefront:
    """One wavefront.

    Attributes:
        cu, simd, slot: CU, SIMD and slot on which the wavefront ran, within the shader engine of the file.
        start, end: cycles at which the wavefront started and ended; ``end`` is ``None`` if the trace ends earlier.
        issued: cycle and kind (see :data:`NAMES`) of each issued instruction; recorded only on the traced CU.
    """

    cu: int
    simd: int
    slot: int
    start: int
    end: int | None = None
    issued: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class RawTrace:
    """Trace of one shader engine.

    Attributes:
        engine: number of the shader engine.
        wavefronts: wavefronts in the order of their starts.
        unknown: number of packets (instructions and ends) of wavefronts that began before the trace.
        left: number of bytes at the end that are not a complete packet.
    """

    engine: int
    wavefronts: tuple[RawWavefront, ...]
    unknown: int
    left: int


def is_cdna(data: bytes) -> bool:
    """Return whether the header is that of a CDNA GPU's trace."""
    return len(data) >= HEADER_BYTES and int.from_bytes(data[:2], "little") & _MARK_BITS == _MARK


def read_packets(data: bytes) -> RawTrace:
    """Decode the wavefronts of a file with a CDNA GPU's header."""
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
                # The packet clock stops while nothing is traced, so it is advanced to the time of the timestamp.
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
