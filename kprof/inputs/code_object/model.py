"""What a code object file holds: ELF objects for GPUs, their kernels and descriptors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.inputs.amdgcn import Registers


@dataclass(frozen=True)
class Descriptor:
    """The 64-byte kernel descriptor that the command processor reads at a launch.

    Register counts are what the descriptor allocates: already rounded up to the encoding granule.

    Attributes:
        lds_bytes: LDS fixed at compile time (Triton's is 0: its LDS is given at launch).
        scratch_bytes: private segment for each lane.
        kernarg_bytes: size of the kernel arguments.
        entry_offset: from the descriptor's address to the first instruction.
        vgpr: VGPRs of a lane; on gfx90a and later AGPRs are included.
        sgpr: SGPRs of a wavefront; ``None`` from gfx10 on, where every wavefront has all of them.
        accum_offset: first AGPR in the unified file (gfx90a and later), else ``None``.
        wavefront_size: 32 or 64.
        wgp_mode: workgroup processor mode on gfx10 to gfx12, else ``None``.
        tg_split: whether waves of one workgroup may run on different CUs (gfx90a and later), else ``None``.
        dynamic_stack: whether the stack size is only known at run time.
        user_sgprs: SGPRs filled before the first instruction.
        kernarg_preload: SGPRs preloaded with kernel arguments.
        raw: the 64 bytes.
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


@dataclass(frozen=True)
class KernelObject:
    """One kernel of a code object.

    Attributes:
        name: kernel name as in the metadata, or the symbol without ``.kd``.
        arch: ``gfx942``.
        descriptor: ``None`` when the symbol is missing or lies outside the file.
        metadata: its entry of the metadata note.
        registers: resources, from metadata and descriptor.
        code_bytes: size of its code, ``None`` when the symbol does not say.
        address: address of its first instruction, ``None`` when unknown.
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
        arch: ``gfx942``; from the ELF header's flags.
        features: ``{"sramecc": True, "xnack": False}``; "any" is left out.
        target: target string of the metadata, else made from the flags.
        version: code object version: 2 to 6.
        kernels: kernels in the order of the metadata.
        metadata: the whole metadata note.
        bundle_id: entry name inside an offload bundle, else ``None``.
        notes: what is missing or odd.
        data: the ELF bytes.
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
        path: where it came from.
        container: ``elf``, ``bundle``, ``compressed bundle`` or ``fat binary``.
        objects: GPU objects in file order.
        notes: what is missing or odd.
    """

    path: str | None
    container: str
    objects: tuple[CodeObject, ...]
    notes: tuple[str, ...] = ()

    @property
    def kernels(self) -> tuple[KernelObject, ...]:
        """Kernels of all objects."""
        return tuple(kernel for item in self.objects for kernel in item.kernels)
