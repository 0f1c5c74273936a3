"""Contents of an assembly file: kernels with their blocks, loops and resources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kprof.inputs.amdgcn.flow import Block, Flow, Loop, analyze
from kprof.inputs.amdgcn.instruction import Instruction


@dataclass(frozen=True)
class Registers:
    """Resources of a kernel as the compiler recorded them; ``None`` means unknown.

    Attributes:
        vgpr: architected VGPRs per lane. If only metadata is available and AGPRs are used, this is rounded up to a
            multiple of 4 on gfx90a and later.
        agpr: accumulation VGPRs per lane; ``None`` if the architecture has none and the compiler did not record a
            count.
        sgpr: SGPRs including the extras (VCC, flat scratch and XNACK), as in ``.sgpr_count``.
        next_free_vgpr: VGPR count from which the kernel descriptor allocates; includes AGPRs on gfx90a and later, and
            padding requested by ``waves_per_eu``.
        next_free_sgpr: SGPRs without the extras, including padding requested by ``waves_per_eu``.
        padded_sgpr: SGPRs including the extras and padding, as in ``; NumSGPRsForWavesPerEU``.
        accum_offset: position of the first AGPR in the unified register file (gfx90a and later).
        vgpr_spills: number of spilled VGPRs.
        sgpr_spills: number of spilled SGPRs.
        scratch_bytes: private segment per lane, in bytes.
        lds_bytes_static: LDS allocated at compile time, in bytes. Triton allocates its LDS at launch, so this is 0 for
            its kernels.
        wavefront_size: 32 or 64.
        max_workgroup_size: maximum flat workgroup size, in lanes.
        total_vgpr: sum of VGPRs and AGPRs, as in ``; TotalNumVgprs`` or, on gfx90a and later, ``.vgpr_count``.
        wgp_mode: whether the kernel runs in workgroup processor mode (gfx10 to gfx12), else ``None``.
        occupancy: occupancy from LLVM's comment ``; Occupancy:``. LLVM ignores LDS that is allocated at launch.
        code_bytes: size of the code in bytes, from LLVM's comment ``; codeLenInByte``.
        dynamic_stack: whether the stack size is unknown at compile time.
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
    """One kernel (or device function) of an assembly file. Kernels are compared by identity.

    Attributes:
        name: symbol name.
        arch: architecture such as ``gfx942``; empty if the file does not name one.
        instructions: instructions in program order.
        labels: index of the instruction that follows each label (``len(instructions)`` at the end).
        registers: registers, LDS and scratch of the kernel.
        directives: ``.amdhsa_*`` directives without that prefix; expressions that could not be evaluated stay as text.
        metadata: this kernel's entry of the YAML (or MessagePack) metadata.
        comments: LLVM's ``; Name: value`` comments, such as ``NumVgprs`` and ``Occupancy``.
        is_kernel: whether the function has a kernel descriptor or metadata; ``False`` for device functions.
        line: 1-based line of its label in the assembly.
        complete: whether the end of the function was found (``.size``, end label or final ``s_endpgm``); ``False`` for
            a truncated file.
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
        """Fraction of instructions with a known mnemonic, 0 to 1; 1 for an empty kernel."""
        total = len(self.instructions)
        return 1.0 - sum(not i.opcode.known for i in self.instructions) / total if total else 1.0


@dataclass
class Assembly:
    """Contents of one assembly file.

    Attributes:
        target: target string as written, empty when absent.
        arch: architecture such as ``gfx942``, from the target's last part; empty if unknown.
        features: target features such as ``{"sramecc": True, "xnack": False}``; unset features are absent.
        kernels: kernels in order of appearance.
        functions: device functions that are not kernels.
        unknown: number of occurrences of each mnemonic that no known assembler accepts.
        notes: sentences for the user about missing or unusual content.
        truncated: whether the file ends too early; the content before that is still usable.
        source: tool that wrote the text: ``triton``, ``clang``, ``objdump`` or ``unknown``.
        path: path that the text was read from.
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
        """Fraction of all instructions with a known mnemonic, 0 to 1."""
        total = sum(len(k.instructions) for k in (*self.kernels, *self.functions))
        return 1.0 - sum(self.unknown.values()) / total if total else 1.0

    def kernel(self, name: str | None = None) -> AssemblyKernel:
        """Return the kernel called ``name``, or the only kernel if no name is given.

        Raises:
            KprofError: if no kernel has that name, or if there are several and no name is given; the message lists the
                names.
        """
        from difflib import get_close_matches

        from kprof.errors import InputError

        names = [k.name for k in self.kernels]
        if name is None:
            if len(names) == 1:
                return self.kernels[0]
            what = f"contains {len(names)} kernels: {', '.join(names[:8])}" if names else "contains no kernel"
            raise InputError(what, path=self.path, hint="Name one of them." if names else None)
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        near = get_close_matches(name, names, 3) or names[:5]
        raise InputError(f"no kernel {name!r}; there are {', '.join(near) or 'none'}", path=self.path)
