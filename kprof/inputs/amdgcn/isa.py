"""What a mnemonic can be: instruction classes, kinds, memory spaces and hardware generations."""

from dataclasses import dataclass
from enum import Enum


class InstructionClass(str, Enum):
    """Which part of a compute unit an instruction occupies.

    ``VMEM`` is every vector memory access through the texture path (global, buffer, flat, image, and loads straight
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
    """What an instruction does inside its class; ``PLAIN`` where nothing special is to be said."""

    PLAIN = "plain"
    # VALU and SALU
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
    # MATRIX
    DENSE = "dense"
    SPARSE = "sparse"
    SCALE = "scale"
    # memory
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
    # BRANCH
    JUMP = "jump"
    CONDITIONAL = "conditional"
    CALL = "call"
    INDIRECT = "indirect"
    END = "end"
    # OTHER
    NOP = "nop"
    SLEEP = "sleep"
    PRIORITY = "priority"
    SCHEDULE = "schedule"
    MESSAGE = "message"
    MODE = "mode"
    TRAP = "trap"
    TRACE = "trace"


class MemorySpace(str, Enum):
    """How a memory instruction addresses memory. ``SCALAR`` is the scalar data cache (SMEM)."""

    GLOBAL = "global"
    BUFFER = "buffer"
    FLAT = "flat"
    IMAGE = "image"
    SCRATCH = "scratch"
    LDS = "lds"
    GDS = "gds"
    SCALAR = "scalar"


class Generation(str, Enum):
    """Generations that differ in wait counters or encoding of waits."""

    GFX8 = "gfx8"
    GFX9 = "gfx9"
    GFX10 = "gfx10"
    GFX11 = "gfx11"
    GFX12 = "gfx12"
    GFX1250 = "gfx1250"


def generation_of(arch: str) -> Generation:
    """Generation of an architecture such as ``gfx90a``; an unknown or empty name counts as gfx9.

    gfx8 and older count as gfx8; gfx13 is taken to behave like gfx1250 until more is known.
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
    """Whether the address of scratch needs no SGPRs of the kernel's own (gfx94x, gfx95x)."""
    return arch.startswith(("gfx94", "gfx95", "gfx9-4"))


def has_unified_registers(arch: str) -> bool:
    """Whether AGPRs lie in the same file as VGPRs (gfx90a, gfx94x, gfx95x)."""
    return arch == "gfx90a" or has_architected_flat_scratch(arch)


@dataclass(frozen=True)
class Opcode:
    """What a mnemonic means on one generation. Shared by all instructions with that mnemonic.

    Attributes:
        mnemonic: as written, for example ``v_add_f32_e32``.
        name: without the encoding suffix, ``v_add_f32``.
        encoding: ``e32``, ``e64``, ``dpp``, ``sdwa``, ``e64_dpp`` or empty.
        cls: which unit it occupies.
        kind: what it does there.
        space: how it addresses memory, ``None`` when it does not.
        is_load: reads memory into registers or LDS.
        is_store: writes memory.
        is_atomic: reads and writes memory in one go (then it is neither a load nor a store).
        to_lds: by its mnemonic moves data between memory and LDS without registers
            (see :attr:`kprof.inputs.amdgcn.Instruction.to_lds`).
        bytes_per_lane: bytes moved for each lane; for a scalar load bytes moved in all. Both parts of
            a ``ds_read2`` are counted. ``None`` when unknown or not a memory access.
        parts: addresses per lane: 2 for ``ds_read2_b32`` and alike, else 1.
        counters: wait counters that it increments (``vmcnt``, ``lgkmcnt``, ``loadcnt``, ...) in its usual form.
            Modifiers can change them: see :attr:`kprof.inputs.amdgcn.Instruction.counters`.
        known: some known assembler accepts this mnemonic.
        likely: class that the shape of the name suggests; equal to ``cls`` for known mnemonics.
        generation: the generation it was looked up for.
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
