"""Contents of a code object file: ELF objects for GPUs, their kernels and descriptors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.inputs.amdgcn import Registers

_USER_SGPRS = (
    "private_segment_buffer",
    "dispatch_ptr",
    "queue_ptr",
    "kernarg_segment_ptr",
    "dispatch_id",
    "flat_scratch_init",
    "private_segment_size",
)
"""Values in the first SGPRs, in their order there and in the descriptor's bits."""


@dataclass(frozen=True)
class Descriptor:
    """The 64-byte kernel descriptor that the command processor reads at a launch.

    Register counts are the allocated counts, already rounded up to the encoding granule.

    Attributes:
        lds_bytes: LDS fixed at compile time, in bytes (0 for Triton, which sets its LDS size at launch).
        scratch_bytes: private segment per lane, in bytes.
        kernarg_bytes: size of the kernel arguments, in bytes.
        entry_offset: bytes from the descriptor's address to the first instruction.
        vgpr: VGPRs per lane; includes AGPRs on gfx90a and later.
        sgpr: SGPRs per wavefront; ``None`` on gfx10 and later, where every wavefront has all SGPRs.
        accum_offset: first AGPR in the unified file (gfx90a and later), else ``None``.
        wavefront_size: 32 or 64.
        wgp_mode: whether workgroup processor mode is set (gfx10 to gfx12), else ``None``.
        tg_split: whether wavefronts of one workgroup may run on different CUs (gfx90a and later), else ``None``.
        dynamic_stack: whether the stack size is known only at run time.
        user_sgprs: number of SGPRs initialised before the first instruction.
        kernarg_preload: number of SGPRs preloaded with kernel arguments.
        raw: the descriptor's 64 bytes.
    """

    lds_bytes: int
    scratch_bytes: int
    kernarg_bytes: int
    entry_offset: int
    vgpr: int
    sgpr: int | None
    accum_offset: int | None
    wavefront_size: int
    wgp_mode: bool | None
    tg_split: bool | None
    dynamic_stack: bool
    user_sgprs: int
    kernarg_preload: int
    raw: bytes = field(repr=False)

    @property
    def directives(self) -> dict[str, int | str]:
        """Settings of the registers that a launch initialises, by ``.amdhsa_`` directive name without that prefix.

        Source of the bits: LLVM, User Guide for AMDGPU Backend, "Code Object V3 Kernel Descriptor".
        """
        resources = int.from_bytes(self.raw[52:56], "little")
        properties = int.from_bytes(self.raw[56:58], "little")
        found: dict[str, int | str] = {
            "user_sgpr_count": self.user_sgprs,
            "user_sgpr_kernarg_preload_length": self.kernarg_preload,
            "user_sgpr_kernarg_preload_offset": int.from_bytes(self.raw[58:60], "little") >> 7,
        }
        found |= {f"user_sgpr_{name}": properties >> bit & 1 for bit, name in enumerate(_USER_SGPRS)}
        return found | {f"system_sgpr_workgroup_id_{axis}": resources >> 7 + n & 1 for n, axis in enumerate("xyz")}


@dataclass(frozen=True)
class KernelObject:
    """One kernel of a code object.

    Attributes:
        name: kernel name from the metadata, or the symbol without ``.kd``.
        arch: architecture such as ``gfx942``.
        descriptor: kernel descriptor; ``None`` if its symbol is missing or lies outside the file.
        metadata: the kernel's entry of the metadata note.
        registers: resources from metadata and descriptor.
        code_bytes: size of the code in bytes, ``None`` if the symbol has no size.
        address: address of the first instruction, ``None`` if unknown.
    """

    name: str
    arch: str
    descriptor: Descriptor | None
    metadata: Mapping[str, Any]
    registers: Registers
    code_bytes: int | None = None
    address: int | None = None


@dataclass(frozen=True)
class CodeObject:
    """One ELF object for one architecture.

    Attributes:
        arch: architecture such as ``gfx942``, from the ELF header's flags.
        features: target features such as ``{"sramecc": True, "xnack": False}``; features set to "any" are absent.
        target: target string from the metadata, or one derived from the flags.
        version: code object version, 2 to 6.
        kernels: kernels in the order of the metadata.
        metadata: content of the metadata note.
        bundle_id: identifier of the entry in an offload bundle, else ``None``.
        notes: sentences about missing or unusual content.
        data: bytes of the ELF object.
    """

    arch: str
    features: Mapping[str, bool]
    target: str
    version: int
    kernels: tuple[KernelObject, ...]
    metadata: Mapping[str, Any]
    bundle_id: str | None
    notes: tuple[str, ...]
    data: bytes = field(repr=False)


@dataclass(frozen=True)
class CodeObjectFile:
    """A ``.hsaco``, ``.co``, object file, offload bundle, or host program with embedded GPU code.

    Attributes:
        path: path that it was read from.
        container: ``elf``, ``bundle``, ``compressed bundle`` or ``fat binary``.
        objects: GPU objects in file order.
        notes: sentences about missing or unusual content.
    """

    path: str | None
    container: str
    objects: tuple[CodeObject, ...]
    notes: tuple[str, ...] = ()

    @property
    def kernels(self) -> tuple[KernelObject, ...]:
        """Kernels of all objects, in file order."""
        return tuple(kernel for item in self.objects for kernel in item.kernels)
