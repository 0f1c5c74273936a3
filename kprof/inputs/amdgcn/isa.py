"""Enumerations that describe a mnemonic: instruction classes, kinds, memory spaces and hardware generations."""

from dataclasses import dataclass
from enum import Enum


class InstructionClass(str, Enum):
    """Hardware unit of a compute unit that an instruction occupies.

    ``VMEM`` covers all vector memory accesses through the texture path (global, buffer, flat, image, and loads directly
    into LDS) except scratch. ``OTHER`` is bookkeeping: nops, priorities, scheduling hints, messages. ``UNKNOWN`` is a
    mnemonic that no known assembler accepts; see :attr:`Opcode.likely`.
    """

    VALU = "valu"
    MATRIX = "matrix"
    SALU = "salu"
    SMEM = "smem"
    VMEM = "vmem"
    SCRATCH = "scratch"
    LDS = "lds"
    GDS = "gds"
    WAIT = "wait"
    BARRIER = "barrier"
    BRANCH = "branch"
    EXPORT = "export"
    OTHER = "other"
    UNKNOWN = "unknown"


class InstructionKind(str, Enum):
    """Operation of an instruction within its class; ``PLAIN`` for ordinary operations."""

    PLAIN = "plain"
    # Kinds of VALU and SALU instructions.
    TRANSCENDENTAL = "transcendental"
    CONVERSION = "conversion"
    PACKED = "packed"
    DUAL = "dual"
    DOT = "dot"
    MOVE = "move"
    COMPARE = "compare"
    ACC_COPY = "acc_copy"
    LANE = "lane"
    INTERPOLATION = "interpolation"
    # Kinds of MATRIX instructions.
    DENSE = "dense"
    SPARSE = "sparse"
    SCALE = "scale"
    # Kinds of memory instructions.
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    PREFETCH = "prefetch"
    CACHE = "cache"
    PERMUTE = "permute"
    TENSOR = "tensor"
    RAY = "ray"
    SAMPLE = "sample"
    CLOCK = "clock"
    # Kinds of BRANCH instructions.
    JUMP = "jump"
    CONDITIONAL = "conditional"
    CALL = "call"
    INDIRECT = "indirect"
    END = "end"
    # Kinds of OTHER instructions.
    NOP = "nop"
    SLEEP = "sleep"
    PRIORITY = "priority"
    SCHEDULE = "schedule"
    MESSAGE = "message"
    MODE = "mode"
    TRAP = "trap"
    TRACE = "trace"


class MemorySpace(str, Enum):
    """Address space of a memory instruction. ``SCALAR`` is the scalar data cache (SMEM)."""

    GLOBAL = "global"
    BUFFER = "buffer"
    FLAT = "flat"
    IMAGE = "image"
    SCRATCH = "scratch"
    LDS = "lds"
    GDS = "gds"
    SCALAR = "scalar"


class Generation(str, Enum):
    """Hardware generations that differ in wait counters or in the encoding of waits."""

    GFX8 = "gfx8"
    GFX9 = "gfx9"
    GFX10 = "gfx10"
    GFX11 = "gfx11"
    GFX12 = "gfx12"
    GFX1250 = "gfx1250"


def generation_of(arch: str) -> Generation:
    """Return the generation of an architecture such as ``gfx90a``; an unknown or empty name counts as gfx9.

    gfx8 and older count as gfx8. gfx13 counts as gfx1250 until more is known about it.
    """
    digits = arch.removeprefix("gfx").replace("-generic", "").replace("-", "")
    stem = digits[:-2]
    if stem in {"6", "7", "8"}:
        return Generation.GFX8
    if stem == "10":
        return Generation.GFX10
    if stem == "11":
        return Generation.GFX11
    if stem == "12":
        return Generation.GFX1250 if digits.startswith("125") else Generation.GFX12
    if stem.isdecimal() and (len(stem) > 2 or int(stem) > 12):
        return Generation.GFX1250
    return {"10": Generation.GFX10, "11": Generation.GFX11, "12": Generation.GFX12}.get(digits[:2], Generation.GFX9)


def has_architected_flat_scratch(arch: str) -> bool:
    """Return whether the scratch address needs no SGPRs of the kernel (gfx94x, gfx95x)."""
    return arch.startswith(("gfx94", "gfx95", "gfx9-4"))


def has_unified_registers(arch: str) -> bool:
    """Return whether AGPRs and VGPRs share one register file (gfx90a, gfx94x, gfx95x)."""
    return arch == "gfx90a" or has_architected_flat_scratch(arch)


@dataclass(frozen=True)
class Opcode:
    """Meaning of a mnemonic on one generation, shared by all instructions with that mnemonic.

    Attributes:
        mnemonic: mnemonic as written, for example ``v_add_f32_e32``.
        name: mnemonic without the encoding suffix, for example ``v_add_f32``.
        encoding: ``e32``, ``e64``, ``dpp``, ``sdwa``, ``e64_dpp`` or empty.
        cls: hardware unit that the instruction occupies.
        kind: operation that it performs on that unit.
        space: address space of a memory access, ``None`` for other instructions.
        is_load: whether it reads memory into registers or LDS.
        is_store: whether it writes memory.
        is_atomic: whether it reads and writes memory in one operation; an atomic is neither a load nor a store.
        to_lds: whether the mnemonic alone says that data moves between memory and LDS without passing through registers
            (see :attr:`kprof.inputs.amdgcn.Instruction.to_lds`).
        bytes_per_lane: bytes moved per lane, or in total for a scalar load. Both parts of a ``ds_read2`` are counted.
            ``None`` if unknown or not a memory access.
        parts: addresses per lane: 2 for instructions such as ``ds_read2_b32``, else 1.
        counters: wait counters that it increments (``vmcnt``, ``lgkmcnt``, ``loadcnt``, ...) in its usual form.
            Modifiers can change them: see :attr:`kprof.inputs.amdgcn.Instruction.counters`.
        known: whether a known assembler accepts this mnemonic.
        likely: class suggested by the form of the name; equal to ``cls`` for known mnemonics.
        generation: generation for which the mnemonic was looked up.
    """

    mnemonic: str
    name: str
    encoding: str
    cls: InstructionClass
    kind: InstructionKind = InstructionKind.PLAIN
    space: MemorySpace | None = None
    is_load: bool = False
    is_store: bool = False
    is_atomic: bool = False
    to_lds: bool = False
    bytes_per_lane: int | None = None
    parts: int = 1
    counters: tuple[str, ...] = ()
    known: bool = True
    likely: InstructionClass = InstructionClass.UNKNOWN
    generation: Generation = Generation.GFX9
