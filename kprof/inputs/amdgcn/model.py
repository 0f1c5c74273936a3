"""What an assembly file holds: instructions, blocks, loops, resources and source positions.

Everything expensive (operands, registers, source frames, the control-flow graph) is computed when first asked for, so
that reading a long file stays cheap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Any, Protocol


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


class Kind(str, Enum):
    """What an instruction does inside its class; ``PLAIN`` where nothing special is to be said."""

    PLAIN = "plain"
    # VALU
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
    # memory
    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    PREFETCH = "prefetch"
    CACHE = "cache"
    PERMUTE = "permute"
    TENSOR = "tensor"
    RAY = "ray"
    # BRANCH
    JUMP = "jump"
    CONDITIONAL = "conditional"
    CALL = "call"
    RETURN = "return"
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


@dataclass(frozen=True)
class Opcode:
    """What a mnemonic means on one generation. Shared by all instructions with that mnemonic.

    Attributes:
        mnemonic: as written, for example ``v_add_f32_e32``.
        name: without the encoding suffix, ``v_add_f32``.
        encoding: ``e32``, ``e64``, ``dpp``, ``sdwa``, ``e64_dpp``, ``vopd`` or empty.
        cls: which unit it occupies.
        kind: what it does there.
        space: how it addresses memory, ``None`` when it does not.
        is_load: reads memory into registers or LDS.
        is_store: writes memory.
        is_atomic: reads and writes memory in one go.
        to_lds: by its mnemonic moves data between memory and LDS without registers (see :attr:`Instruction.to_lds`).
        bytes_per_lane: bytes moved for each lane; for a scalar load bytes moved in all. Both parts of
            a ``ds_read2`` are counted. ``None`` when unknown or not a memory access.
        parts: addresses per lane: 2 for ``ds_read2_b32`` and alike, else 1.
        counters: wait counters that it increments (``vmcnt``, ``lgkmcnt``, ``loadcnt``, ...) in its usual form.
            Modifiers can change them: see :attr:`Instruction.counters`.
        known: some known assembler accepts this mnemonic.
        likely: class that the shape of the name suggests; equal to ``cls`` for known mnemonics.
    """

    mnemonic: str
    name: str
    encoding: str
    cls: InstructionClass
    kind: Kind = Kind.PLAIN
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


@dataclass(frozen=True)
class Frame:
    """One position in source code. ``line`` is 1-based; 0 means that the compiler knows no line.

    Attributes:
        file: path with its directory where the assembly gives it.
        line: 1-based line.
        column: 1-based column, 0 when unknown.
        in_library: whether the file belongs to Triton itself or to the HIP headers and not to the user.
    """

    file: str
    line: int
    column: int = 0
    in_library: bool = False


class SourceLine(Protocol):
    """A ``.loc`` directive that resolves itself when asked."""

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Innermost frame first, then the call sites that it was inlined at."""
        ...


@dataclass(frozen=True)
class Effects:
    """Registers touched by one instruction.

    Names are ``v0``, ``a0``, ``s0``, ``ttmp0``, ``vcc_lo``, ``vcc_hi``, ``exec_lo``, ``exec_hi``, ``m0``, ``scc``,
    ``flat_scratch_lo``, ``xnack_mask_lo`` ... A register that keeps part of its old value (16-bit loads
    into one half, ``v_writelane``) is both read and written. ``exec`` is not listed as read by vector instructions,
    because all of them read it.

    Attributes:
        reads: registers whose value is used.
        writes: registers whose value is changed.
    """

    reads: frozenset[str]
    writes: frozenset[str]


class Instruction:
    """One instruction of a kernel or function.

    Attributes:
        index: position in :attr:`Kernel.instructions`.
        line: 1-based line in the assembly.
        text: the instruction without comment, as written.
        opcode: shared facts of the mnemonic.
        source: the ``.loc`` in force, ``None`` without debug information.
    """

    __slots__ = ("_detail", "index", "line", "opcode", "source", "text")

    def __init__(self, index: int, line: int, text: str, opcode: Opcode, source: SourceLine | None) -> None:
        """Keep the facts; nothing is decoded yet."""
        self.index = index
        self.line = line
        self.text = text
        self.opcode = opcode
        self.source = source
        self._detail: Any = None

    def __repr__(self) -> str:
        """``<Instruction 12 line 80: s_endpgm>``."""
        return f"<Instruction {self.index} line {self.line}: {self.text}>"

    @property
    def mnemonic(self) -> str:
        """The mnemonic as written, with its encoding suffix."""
        return self.opcode.mnemonic

    def _decoded(self) -> Any:
        if self._detail is None:
            from kprof.inputs.amdgcn.decode import Detail

            self._detail = Detail(self.opcode, self.text)
        return self._detail

    @property
    def operands(self) -> tuple[str, ...]:
        """Operands in the order written, such as ``("v0", "v[2:3]", "off")``; modifiers are not among them."""
        operands: tuple[str, ...] = self._decoded().operands
        return operands

    @property
    def modifiers(self) -> Mapping[str, str]:
        """Modifiers by name: ``{"offset": "1024", "glc": ""}``."""
        modifiers: Mapping[str, str] = self._decoded().modifiers
        return modifiers

    @property
    def waits(self) -> Mapping[str, int]:
        """What a wait instruction waits for: counter name to the count that may remain outstanding.

        Counters that the instruction leaves alone are absent. Empty for other classes.
        """
        waits: Mapping[str, int] = self._decoded().waits
        return waits

    @property
    def counters(self) -> tuple[str, ...]:
        """Wait counters that this very instruction increments, modifiers considered."""
        counters: tuple[str, ...] = self._decoded().counters
        return counters

    @property
    def to_lds(self) -> bool:
        """Moves data between memory and LDS without passing registers (by mnemonic or by the ``lds`` modifier)."""
        return self.opcode.to_lds or (self.opcode.cls is InstructionClass.VMEM and "lds" in self.modifiers)

    @property
    def returns(self) -> bool:
        """An atomic that returns the old value."""
        returns: bool = self._decoded().returns
        return returns

    @property
    def effects(self) -> Effects:
        """Registers read and written, implicit ones included."""
        effects: Effects = self._decoded().effects
        return effects

    @property
    def target(self) -> str | None:
        """Label that a branch or call names, ``None`` for others."""
        return self.operands[-1] if self.opcode.cls is InstructionClass.BRANCH and self.operands else None

    @property
    def location(self) -> tuple[Frame, ...]:
        """Where the instruction comes from: innermost frame first, then the sites it was inlined at."""
        return self.source.frames if self.source is not None else ()

    @property
    def user_frame(self) -> Frame | None:
        """First frame outside Triton's own library (and HIP's headers), with a line; ``None`` when there is none."""
        return next((f for f in self.location if f.line and not f.in_library), None)

    @property
    def library_frames(self) -> tuple[Frame, ...]:
        """Frames inside the library that lie between the instruction and :attr:`user_frame`."""
        frames = []
        for frame in self.location:
            if frame.line and not frame.in_library:
                break
            if frame.line:
                frames.append(frame)
        return tuple(frames)


@dataclass(frozen=True)
class Block:
    """A basic block: ``instructions[start:end]`` of its kernel.

    Attributes:
        index: position in :attr:`Kernel.blocks`.
        label: first label at its start, ``None`` for a block entered only by falling through.
        start: first instruction.
        end: one past the last instruction.
        successors: indexes of blocks that may follow.
        predecessors: indexes of blocks that may precede.
    """

    index: int
    label: str | None
    start: int
    end: int
    successors: tuple[int, ...]
    predecessors: tuple[int, ...]


@dataclass(frozen=True)
class Loop:
    """A natural loop.

    Attributes:
        index: position in :attr:`Kernel.loops`.
        header: label of the header block (``block 7`` when it has none).
        header_block: index of the header block.
        blocks: indexes of all blocks, those of inner loops included, ascending.
        latches: blocks that branch back to the header.
        exits: blocks inside with a successor outside.
        depth: 1 for an outermost loop.
        parent: index of the enclosing loop, ``None`` for an outermost one.
        instructions: indexes of all instructions, those of inner loops included, ascending.
    """

    index: int
    header: str
    header_block: int
    blocks: tuple[int, ...]
    latches: tuple[int, ...]
    exits: tuple[int, ...]
    depth: int
    parent: int | None
    instructions: tuple[int, ...]


@dataclass(frozen=True)
class Registers:
    """Resources of a kernel as the compiler recorded them; ``None`` is unknown.

    Attributes:
        vgpr: architected VGPRs used by a lane. Where only metadata is at hand and AGPRs are in use, on gfx90a
            and later this is rounded up to a multiple of 4.
        agpr: accumulation VGPRs used by a lane; ``None`` where the architecture has none and the compiler said nothing.
        sgpr: SGPRs with VCC, flat-scratch and XNACK extras, as in ``.sgpr_count``.
        next_free_vgpr: what the kernel descriptor allocates from: includes AGPRs on gfx90a and later, and padding
            asked for by ``waves_per_eu``.
        next_free_sgpr: SGPRs without extras, padding included.
        accum_offset: first AGPR in the unified file (gfx90a and later).
        vgpr_spills: VGPRs spilled.
        sgpr_spills: SGPRs spilled.
        scratch_bytes: private segment for each lane.
        lds_bytes_static: LDS allocated at compile time. Triton allocates its LDS at launch, so this is 0 there.
        wavefront_size: 32 or 64.
        max_workgroup_size: largest flat workgroup size, in lanes.
        total_vgpr: unified total, as ``; TotalNumVgprs`` or ``.vgpr_count`` on gfx90a and later.
        wgp_mode: workgroup processor mode (gfx10 to gfx12), else ``None``.
        occupancy: LLVM's own ``; Occupancy:``. It leaves LDS known only at launch out of account.
        code_bytes: LLVM's ``; codeLenInByte``.
        dynamic_stack: whether the stack size is not known at compile time.
    """

    vgpr: int | None = None
    agpr: int | None = None
    sgpr: int | None = None
    next_free_vgpr: int | None = None
    next_free_sgpr: int | None = None
    accum_offset: int | None = None
    vgpr_spills: int | None = None
    sgpr_spills: int | None = None
    scratch_bytes: int | None = None
    lds_bytes_static: int | None = None
    wavefront_size: int | None = None
    max_workgroup_size: int | None = None
    total_vgpr: int | None = None
    wgp_mode: bool | None = None
    occupancy: int | None = None
    code_bytes: int | None = None
    dynamic_stack: bool | None = None


@dataclass(frozen=True)
class Flow:
    """Control flow of one kernel: blocks, immediate dominators, loops, and edges that make no natural loop.

    Attributes:
        blocks: basic blocks in program order.
        dominators: immediate dominator of each block; ``None`` for the entry and for unreachable blocks.
        loops: natural loops, outer before inner, in program order of their headers.
        irreducible: edges (from block, to block) that go back without their target dominating their source.
        indirect: blocks that end in a jump whose target could not be told.
    """

    blocks: tuple[Block, ...]
    dominators: tuple[int | None, ...]
    loops: tuple[Loop, ...]
    irreducible: tuple[tuple[int, int], ...]
    indirect: tuple[int, ...]


@dataclass
class Kernel:
    """One kernel (or device function) of an assembly file.

    Attributes:
        name: symbol name.
        arch: ``gfx942``; empty when the file does not say.
        instructions: in program order.
        labels: label to the index of the instruction that follows it (``len(instructions)`` at the end).
        registers: resources.
        directives: ``.amdhsa_*`` directives without that prefix; expressions that could not be
            evaluated stay as text.
        metadata: this kernel's entry of the YAML (or MessagePack) metadata.
        comments: LLVM's ``; Name: value`` comments, such as ``NumVgprs`` and ``Occupancy``.
        is_kernel: whether it has a kernel descriptor or metadata; ``False`` for device functions.
        line: 1-based line of its label in the assembly.
        complete: whether its end was seen (``.size``, end label or ``s_endpgm`` at the end); ``False`` for a cut file.
    """

    name: str
    arch: str
    instructions: Sequence[Instruction]
    labels: Mapping[str, int]
    registers: Registers = field(default_factory=Registers)
    directives: Mapping[str, int | str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    comments: Mapping[str, int | str] = field(default_factory=dict)
    is_kernel: bool = True
    line: int = 0
    complete: bool = True

    @cached_property
    def flow(self) -> Flow:
        """The control-flow graph with dominators and loops."""
        from kprof.inputs.amdgcn.flow import analyze

        return analyze(self.instructions, self.labels)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Basic blocks in program order."""
        return self.flow.blocks

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Natural loops, outer before inner."""
        return self.flow.loops

    @property
    def coverage(self) -> float:
        """Share of instructions with a known mnemonic, 0 to 1; 1 for an empty kernel."""
        total = len(self.instructions)
        return 1.0 - sum(not i.opcode.known for i in self.instructions) / total if total else 1.0

    def loop_of(self, index: int) -> Loop | None:
        """Innermost loop that contains the instruction at ``index``."""
        best = None
        for loop in self.loops:
            if (best is None or loop.depth > best.depth) and index in self._loop_members[loop.index]:
                best = loop
        return best

    @cached_property
    def _loop_members(self) -> tuple[frozenset[int], ...]:
        return tuple(frozenset(loop.instructions) for loop in self.loops)


@dataclass
class Assembly:
    """A whole assembly file.

    Attributes:
        target: target string as written, empty when absent.
        arch: ``gfx942``, from the target's last part; empty when unknown.
        features: target features, ``{"sramecc": True, "xnack": False}``; unset ones are absent.
        kernels: kernels in order of appearance.
        functions: device functions that are not kernels.
        unknown: mnemonics that no known assembler accepts, with how often each occurs.
        notes: what is missing or odd, in words for the user.
        truncated: the file ends too early; what was read is still usable.
        source: ``triton``, ``clang``, ``objdump`` or ``unknown``: who wrote the text.
        path: where it came from.
    """

    target: str
    arch: str
    features: Mapping[str, bool]
    kernels: tuple[Kernel, ...]
    functions: tuple[Kernel, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    truncated: bool = False
    source: str = "unknown"
    path: str | None = None

    @property
    def coverage(self) -> float:
        """Share of all instructions with a known mnemonic, 0 to 1."""
        total = sum(len(k.instructions) for k in (*self.kernels, *self.functions))
        return 1.0 - sum(self.unknown.values()) / total if total else 1.0

    def kernel(self, name: str | None = None) -> Kernel:
        """The kernel called ``name``, or the only one.

        Raises:
            KprofError: no such kernel, or several and no name given; the message lists the names.
        """
        from difflib import get_close_matches

        from kprof.errors import KprofError

        names = [k.name for k in self.kernels]
        if name is None:
            if len(names) == 1:
                return self.kernels[0]
            what = f"holds {len(names)} kernels: {', '.join(names[:8])}" if names else "holds no kernel"
            raise KprofError(what, path=self.path, hint="Name the kernel that is meant." if names else None)
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        near = get_close_matches(name, names, 3) or names[:5]
        raise KprofError(f"no kernel {name!r}; there are {', '.join(near) or 'none'}", path=self.path)
