"""Define the input of an occupancy computation: the resources and the launch of a kernel."""

from dataclasses import dataclass, field
from typing import Any

from kprof.errors import KprofError
from kprof.hardware.machine import Architecture

# Maximum additional SGPRs: VCC, XNACK mask and flat scratch (LLVM, getNumExtraSGPRs).
_MOST_EXTRA_SGPRS = 6


def align(value: int, granule: int) -> int:
    """Return ``value`` rounded up to a multiple of ``granule``."""
    return -(-value // granule) * granule


@dataclass(frozen=True)
class OccupancyInput:
    """Resources that a kernel needs, and its launch.

    Attributes:
        arch: the architecture.
        vgpr: VGPRs that the code uses, per lane. In a unified register file, a count above ``max_vgprs`` may be given
            without ``agpr``; it then is the total of both, as in ``.vgpr_count``.
        agpr: accumulation VGPRs that the code uses, per lane.
        sgpr: scalar registers that the code uses, including VCC and similar registers (``.sgpr_count``).
        lds_bytes: LDS of a workgroup in bytes, including LDS that the launch requests.
        num_warps: wavefronts of a workgroup.
        wavefront_size: lanes of a wavefront; ``None`` selects the architecture's default.
        mode: ``wgp`` or ``cu``; ``None`` selects the architecture's default.
        padded_vgpr: vector registers that the kernel descriptor requests, including AGPRs, if ``waves_per_eu`` pads
            them to more than the code uses.
        padded_sgpr: scalar registers that the kernel descriptor requests, if padded.

    Raises:
        KprofError: if a count is negative or more than a program can address, or the architecture does not support the
            wavefront size or mode. More LDS or wavefronts than a workgroup may have is not an error; the occupancy is
            0.
    """

    arch: Architecture
    vgpr: int
    agpr: int = 0
    sgpr: int = 0
    lds_bytes: int = 0
    num_warps: int = 4
    wavefront_size: int | None = None
    mode: str | None = None
    padded_vgpr: int | None = None
    padded_sgpr: int | None = None
    size: int = field(init=False)
    block: str = field(init=False)

    def __post_init__(self) -> None:
        """Validate all values, and set ``size`` and ``block`` to the effective wavefront size and mode."""
        object.__setattr__(
            self, "size", self.arch.wavefront_size if self.wavefront_size is None else self.wavefront_size
        )
        object.__setattr__(self, "block", self.arch.occupancy.default_mode if self.mode is None else self.mode)
        self._check_launch()
        self._check_registers()

    def _check_launch(self) -> None:
        name = self.arch.name
        if self.size not in self.arch.wavefront_sizes:
            sizes = " or ".join(str(s) for s in self.arch.wavefront_sizes)
            raise KprofError(f"{name} has no wavefronts of {self.size} lanes, only of {sizes}")
        if self.block not in self.arch.occupancy.modes:
            hint = "It has no workgroup processors." if self.block == "wgp" else None
            raise KprofError(
                f"{name} has no {self.block!r} mode, only {' or '.join(self.arch.occupancy.modes)}", hint=hint
            )
        if self.num_warps < 1:
            raise KprofError(f"a workgroup has at least one wavefront, not {self.num_warps}")
        if self.lds_bytes < 0:
            raise KprofError(f"LDS cannot be {self.lds_bytes} bytes")

    def _check_registers(self) -> None:
        rules, name = self.arch.occupancy, self.arch.name
        pooled = rules.unified_vgprs and not self.agpr
        _check("VGPRs", self.vgpr, rules.max_vgprs_total if pooled else rules.max_vgprs, name)
        if self.agpr and not rules.max_agprs:
            raise KprofError(f"{name} has no AGPRs")
        _check("AGPRs", self.agpr, rules.max_agprs, name)
        _check("SGPRs", self.sgpr, rules.max_sgprs + _MOST_EXTRA_SGPRS, name)
        _check("allocated VGPRs", self.padded_vgpr or 0, rules.max_vgprs_total, name)
        # The kernel descriptor's count is rounded up to a granule of 16, so it may exceed the addressable registers.
        _check("allocated SGPRs", self.padded_sgpr or 0, align(rules.max_sgprs + _MOST_EXTRA_SGPRS, 16), name)

    @property
    def vgpr_total(self) -> int:
        """Vector registers that the code uses: VGPRs plus AGPRs in a unified file; else the larger of both counts."""
        return pooled_vgprs(self.arch, self.vgpr, self.agpr)

    @property
    def vgpr_allocated(self) -> int:
        """Vector registers that a wavefront occupies, including padding and rounding to the granule."""
        granule = self.arch.occupancy.vgprs[self.size].granule
        return max(granule, align(max(self.vgpr_total, self.padded_vgpr or 0), granule))


def pooled_vgprs(arch: Architecture, vgpr: int, agpr: int) -> int:
    """Return the registers of one register file that VGPRs and AGPRs occupy.

    In a unified file AGPRs start at a multiple of ``accum_granule``. With separate files of equal size the larger count
    is the limit (LLVM, getTotalNumVGPRs).
    """
    rules = arch.occupancy
    if rules.unified_vgprs and agpr:
        return align(vgpr, rules.accum_granule) + agpr
    return max(vgpr, agpr)


def from_registers(
    registers: Any, arch: Architecture, *, lds_bytes: int, num_warps: int, mode: str | None = None
) -> OccupancyInput:
    """Return the resources of a compiled kernel.

    Args:
        registers: an object with the fields of :class:`kprof.inputs.amdgcn.Registers`.
        arch: the architecture that the kernel was compiled for.
        lds_bytes: LDS of a workgroup in bytes.
        num_warps: wavefronts of a workgroup.
        mode: ``wgp`` or ``cu``; ``None`` selects the mode that the kernel was compiled for, or the default.

    Raises:
        KprofError: if the number of vector registers is unknown, or for the reasons of :class:`OccupancyInput`.
    """
    size = registers.wavefront_size or arch.wavefront_size
    used, accumulators = registers.vgpr, registers.agpr or 0
    if used is None:
        used = registers.total_vgpr if registers.total_vgpr is not None else registers.next_free_vgpr
        accumulators = 0
    if used is None:
        raise KprofError("the number of VGPRs is not in the input", hint="It is in .amdhsa_next_free_vgpr.")
    if mode is None and registers.wgp_mode is not None and len(arch.occupancy.modes) > 1:
        mode = "wgp" if registers.wgp_mode else "cu"
    return OccupancyInput(
        arch=arch,
        vgpr=used,
        agpr=accumulators,
        sgpr=_scalars(registers, arch),
        lds_bytes=lds_bytes,
        num_warps=num_warps,
        wavefront_size=size,
        mode=mode,
        padded_vgpr=registers.next_free_vgpr,
        padded_sgpr=_padded_sgprs(registers, arch),
    )


def _scalars(registers: Any, arch: Architecture) -> int:
    """Return the number of SGPRs in the metadata, limited to the addressable ones.

    Hand-written kernels round the number up to the granule: 112, although at most 108 are addressable.
    """
    used: int = registers.sgpr or 0
    most, granule = arch.occupancy.max_sgprs + _MOST_EXTRA_SGPRS, arch.occupancy.sgpr_granule
    return most if granule and most < used <= -(-most // granule) * granule else used


def _padded_sgprs(registers: Any, arch: Architecture) -> int | None:
    """Return the number of scalar registers in the kernel descriptor if ``waves_per_eu`` padded them, else ``None``.

    If the compiler did not write the number, it is computed from ``.amdhsa_next_free_sgpr``. Unlike ``.sgpr_count``,
    this excludes extra registers. gfx942 and later CDNA always have six extra registers. gfx908 and gfx90a have four
    with XNACK and zero to six without, so on these a difference of less than four does not prove padding.
    """
    if registers.padded_sgpr is not None:
        known: int = registers.padded_sgpr
        return known
    if registers.next_free_sgpr is None:
        return None
    extra = arch.llvm.sgpr_extra
    doubt = 0 if extra == _MOST_EXTRA_SGPRS else extra
    padded: int = registers.next_free_sgpr + extra
    return padded if padded > (registers.sgpr or 0) + doubt else None


def _check(what: str, count: int, most: int, arch: str) -> None:
    if count < 0:
        raise KprofError(f"there cannot be {count} {what}")
    if count > most:
        raise KprofError(f"{count} {what}: a wavefront on {arch} can have {most}")
