"""What an assembly file holds: kernels with their blocks, loops and resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kprof.inputs.amdgcn.flow import Block, Flow, Loop, analyze
from kprof.inputs.amdgcn.instruction import Instruction


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
        padded_sgpr: SGPRs with extras and padding, as in ``; NumSGPRsForWavesPerEU``.
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
    padded_sgpr: int | None = None
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


@dataclass(eq=False)
class AssemblyKernel:
    """One kernel (or device function) of an assembly file. Equal only to itself.

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
    kernels: tuple[AssemblyKernel, ...]
    functions: tuple[AssemblyKernel, ...] = ()
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

    def kernel(self, name: str | None = None) -> AssemblyKernel:
        """The kernel called ``name``, or the only one.

        Raises:
            KprofError: no such kernel, or several and no name given; the message lists the names.
        """
        from difflib import get_close_matches

        from kprof.errors import InputError

        names = [k.name for k in self.kernels]
        if name is None:
            if len(names) == 1:
                return self.kernels[0]
            what = f"holds {len(names)} kernels: {', '.join(names[:8])}" if names else "holds no kernel"
            raise InputError(what, path=self.path, hint="Name the kernel that is meant." if names else None)
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        near = get_close_matches(name, names, 3) or names[:5]
        raise InputError(f"no kernel {name!r}; there are {', '.join(near) or 'none'}", path=self.path)
