"""What kprof knows about a GPU architecture: frozen records, units in each field's description.

A figure that is not known is ``None`` or absent, never zero. Zero means that the hardware lacks the thing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kprof.hardware.code import IssueRules, LlvmFacts, TritonFacts

Lanes = tuple[int, ...]

_MATRIX = ("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")
"""Beginnings of the mnemonics of matrix instructions."""


@dataclass(frozen=True)
class FigureSource:
    """Where a figure comes from.

    Attributes:
        id: short name used in the TOML files.
        kind: ``read`` (in a document or in published source code), ``measured`` (on hardware or by compiling),
            ``derived`` (arithmetic on other figures), ``fitted`` (chosen so that a model agrees with measurements),
            ``weak`` (published, but not firm enough to rest a verdict
            on) or ``none`` (not found anywhere).
        text: the citation.
    """

    id: str
    kind: str
    text: str

    @property
    def is_firm(self) -> bool:
        """Whether a verdict may rest on it."""
        return self.kind not in {"fitted", "weak", "none"}


@dataclass(frozen=True)
class VgprFile:
    """The vector registers of one SIMD, seen by wavefronts of one size.

    Attributes:
        total: registers that the wavefronts of a SIMD share, per lane.
        granule: registers in which the hardware allocates, per lane.
        encoding_granule: registers in which the kernel descriptor counts, per lane.
    """

    total: int
    granule: int
    encoding_granule: int


@dataclass(frozen=True)
class OccupancyRules:
    """What decides how many wavefronts a SIMD holds.

    Attributes:
        max_waves_per_simd: wave slots of a SIMD.
        simds_per_cu: SIMDs of a compute unit.
        simds_per_wgp: SIMDs of a workgroup processor (two CUs), ``None`` where there is none.
        default_mode: ``wgp`` or ``cu``: how Triton launches.
        vgprs: wavefront size to the register file.
        unified_vgprs: VGPRs and AGPRs share one file (gfx90a and later CDNA).
        max_vgprs: architected VGPRs that a wavefront can address, per lane.
        max_agprs: accumulation VGPRs that a wavefront can address, per lane; 0 where there are none.
        accum_granule: AGPRs start at a multiple of this many registers in a unified file; 1 elsewhere.
        sgprs_total: scalar registers of a SIMD; ``None`` where they never limit (gfx10 and later).
        sgpr_granule: scalar registers in which the hardware allocates; 1 where they never limit.
        sgpr_trap_handler: scalar registers that the trap handler adds to each wavefront.
        max_sgprs: scalar registers that a program can address.
        max_workgroup_size: work-items of the largest workgroup.
        max_workgroups_per_cu: workgroups of several wavefronts that a CU holds: one barrier each. A
            workgroup of one wavefront needs no barrier.
        max_workgroups_per_wgp: the same for a workgroup processor, ``None`` where there is none.
        scratch_waves_per_cu: wavefronts of a CU that the runtime provides scratch memory for; ``None``: not known.
    """

    max_waves_per_simd: int
    simds_per_cu: int
    simds_per_wgp: int | None
    default_mode: str
    vgprs: Mapping[int, VgprFile]
    unified_vgprs: bool
    max_vgprs: int
    max_agprs: int
    accum_granule: int
    sgprs_total: int | None
    sgpr_granule: int
    sgpr_trap_handler: int
    max_sgprs: int
    max_workgroup_size: int
    max_workgroups_per_cu: int
    max_workgroups_per_wgp: int | None
    scratch_waves_per_cu: int | None

    @property
    def max_vgprs_total(self) -> int:
        """VGPRs and AGPRs together that a wavefront can have, per lane (256 on gfx908: the larger file counts)."""
        return self.max_vgprs + (self.max_agprs if self.unified_vgprs else 0)

    @property
    def modes(self) -> tuple[str, ...]:
        """``("wgp", "cu")`` on RDNA, ``("cu",)`` elsewhere."""
        return ("cu",) if self.simds_per_wgp is None else ("wgp", "cu")

    def simds(self, mode: str | None = None) -> int:
        """Return the number of SIMDs that a workgroup's wavefronts are spread over in ``cu`` or ``wgp`` mode.

        Args:
            mode: ``cu``, ``wgp``, or ``None`` for the default mode.
        """
        if (mode or self.default_mode) == "wgp" and self.simds_per_wgp is not None:
            return self.simds_per_wgp
        return self.simds_per_cu

    def max_workgroups(self, mode: str | None = None) -> int:
        """Workgroups of several wavefronts that a CU, or a WGP in WGP mode, holds."""
        if (mode or self.default_mode) == "wgp" and self.max_workgroups_per_wgp is not None:
            return self.max_workgroups_per_wgp
        return self.max_workgroups_per_cu

    def max_waves_per_workgroup(self, wavefront_size: int) -> int:
        """Wavefronts of the largest workgroup."""
        return self.max_workgroup_size // wavefront_size


@dataclass(frozen=True)
class LdsRules:
    """The local data share.

    Attributes:
        bytes_per_cu: bytes of a compute unit.
        bytes_per_wgp: bytes of a workgroup processor, ``None`` where there is none.
        bytes_per_workgroup: bytes that one workgroup may ask for.
        granule: bytes in which the hardware allocates.
        granule_llvm: bytes in which LLVM's occupancy counts.
        banks: banks, each of which serves one access in a cycle.
        bank_bytes: width of a bank in bytes.
        phases: access (``read_b32``, ``read_b64``, ``read_b128``, ``write_b128``) to the groups of lanes served
            together. Lanes conflict only inside their group. Absent accesses are not known.
        read64_cycles: access width in bits to the cycles in which one wavefront does 64 reads without conflict.
        direct_load_bytes: widest load of a lane that goes to LDS without registers; 0: there is none. ``None``: not
            known.
    """

    bytes_per_cu: int
    bytes_per_wgp: int | None
    bytes_per_workgroup: int
    granule: int
    granule_llvm: int
    banks: int
    bank_bytes: int
    phases: Mapping[str, tuple[Lanes, ...]]
    read64_cycles: Mapping[int, float]
    direct_load_bytes: int | None = None

    def bytes_available(self, mode: str) -> int:
        """Bytes that the workgroups of a CU, or of a WGP in WGP mode, share."""
        return self.bytes_per_wgp if mode == "wgp" and self.bytes_per_wgp is not None else self.bytes_per_cu


@dataclass(frozen=True)
class MatrixInstruction:
    """One MFMA, SMFMAC, WMMA or SWMMAC.

    Attributes:
        name: mnemonic without encoding suffix; ``@fp8``, ``@fp6``, ``@fp4`` after ``f8f6f4`` gives the
            format of the wider operand.
        m, n, k: shape of one block.
        blocks: independent products in one instruction.
        cycles: cycles for which a SIMD's matrix unit is busy.
        type: operand type, such as ``fp16``.
        accumulator: type of C and D.
        vgprs_a, vgprs_b, vgprs_d: 32-bit registers of the operands per lane, ``None`` when not known.
        coexecution_cycles: cycles during which VALU instructions can run beside it, ``None`` when not known.
        sparse: A is 4:2 structured sparse; ``k`` counts the zeros.
        simds_per_cu: SIMDs of a compute unit, for the rate.
    """

    name: str
    m: int
    n: int
    k: int
    blocks: int
    cycles: int
    type: str
    accumulator: str
    vgprs_a: int | None
    vgprs_b: int | None
    vgprs_d: int | None
    coexecution_cycles: int | None
    sparse: bool
    simds_per_cu: int

    @property
    def flops(self) -> int:
        """Operations of one instruction: two for each multiply-add, zeros of sparse operands included."""
        return 2 * self.m * self.n * self.k * self.blocks

    @property
    def passes(self) -> int | None:
        """LLVM's unit for MFMA: four cycles. ``None`` for WMMA, which is not counted so."""
        return self.cycles // 4 if "mfma" in self.name or "smfmac" in self.name else None

    @property
    def flops_per_cycle(self) -> float:
        """Operations per cycle and compute unit when issued back to back."""
        return self.flops * self.simds_per_cu / self.cycles


@dataclass(frozen=True)
class MemoryLevel:
    """One level between registers and memory.

    Attributes:
        name: ``l1`` (vector cache; ``l0`` on RDNA), ``l2``, ``mall`` (Infinity Cache), ``hbm`` (GDDR on Radeon),
            ``scalar``, ``code``.
        size_bytes: capacity of one instance.
        scope: what shares an instance: ``cu``, ``cu_pair``, ``shader_array``, ``xcd``, ``device``.
        line_bytes: cache line.
        channels: channels of one instance.
        channel_bytes_per_cycle: bytes that a channel reads in a cycle.
        bytes_per_cycle: bytes per cycle and compute unit.
        interleave_bytes: bytes after which the next channel is used.
        tag_period_bytes: rows that many bytes apart meet in one channel of the tag RAM.
        bandwidth_gbs: peak of the device in 1e9 bytes per second.
        sustained_gbs: reached by a benchmark, in 1e9 bytes per second.
        latency_cycles: of a dependent load that hits here, at ``latency_clock_mhz``.
        latency_ns: of a dependent load that hits here.
        latency_clock_mhz: clock at which ``latency_cycles`` was measured.
    """

    name: str
    size_bytes: int | None = None
    scope: str | None = None
    line_bytes: int | None = None
    channels: int | None = None
    channel_bytes_per_cycle: int | None = None
    bytes_per_cycle: int | None = None
    interleave_bytes: int | None = None
    tag_period_bytes: int | None = None
    bandwidth_gbs: float | None = None
    sustained_gbs: float | None = None
    latency_cycles: float | None = None
    latency_ns: float | None = None
    latency_clock_mhz: int | None = None


@dataclass(frozen=True)
class Product:
    """A GPU that one can buy or rent, or the part of it that is one device.

    Attributes:
        name: such as ``MI300X``.
        arch: architecture name.
        compute_units: active compute units.
        xcds: accelerator dies; 1 where the GPU is one piece.
        clock_mhz: peak engine clock in MHz.
        peaks: type (``matrix_fp16``, ``valu_fp32``) to the published peak in 1e12 operations per second, dense.
        memory: the architecture's levels with this product's figures.
        launch_overhead_ns: time of an empty kernel in a stream, in nanoseconds.
        least_workgroups: workgroups of a launch that AMD's guide asks for.
        pci_device: PCI device id, ``0x74a1``; ``None`` where it is not known.
        note: what else there is to say.
    """

    name: str
    arch: str
    compute_units: int | None
    xcds: int | None
    clock_mhz: int | None
    peaks: Mapping[str, float]
    memory: Mapping[str, MemoryLevel]
    launch_overhead_ns: float | None = None
    least_workgroups: int | None = None
    pci_device: str | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Architecture:
    """One GPU architecture with its products.

    Attributes:
        name: LLVM's name, ``gfx942``.
        family: AMD's name, ``CDNA3``.
        generation: instruction-set generation: ``gfx9``, ``gfx10``, ``gfx11``, ``gfx12`` or ``gfx1250``.
        counter_formulas: file in ``kprof_analyzers/profiles/counters/formulas`` that says what its hardware counters
            mean; empty: not known.
        wavefront_size: lanes of a wavefront as Triton compiles for it.
        wavefront_sizes: sizes that the hardware can run.
        occupancy: what decides how many wavefronts a SIMD holds.
        lds: the local data share.
        wait_counters: wait counter to its largest value.
        rates: per cycle and compute unit: operations (``valu_fp32``, ``matrix_fp16``, ...) and bytes
            (``lds_read_bytes``, ``l1_bytes``, ...). 0: the hardware has no such unit. Absent: not known.
        matrix_instructions: mnemonic to its facts.
        memory: level name to its facts, as far as they are the same for all products.
        latencies: operation (``lds_permute``, ``dpp``) to ``(least, most)`` cycles.
        hazards: wait states that must lie between a matrix instruction and one that depends on it, beyond its passes.
        model: what the performance model takes beyond data sheets, from ``model.toml`` what an architecture does not
            say itself. Cycles: ``branch`` (taken), ``lds_latency``,
            ``lds_access`` (least, of one instruction). Shares: ``matrix_sustained`` of the matrix units' peak and, of
            that, ``matrix_large`` for 32 x 32 and ``matrix_fp16`` for fp16; ``vector_memory_share`` of L2's sustained
            bandwidth and, of that, ``streaming``. ``loaded_latency``: latency under load against an idle memory's.
            Nanoseconds: ``dispatch_ns`` (start and end of a launch), ``graph_launch_ns`` (of one in a replayed graph),
            ``events_ns`` (what two events around a launch add), ``write_back_ns`` (of an XCD's L2 for one write-back).
            Absent: not known.
        issue: how instructions are issued, ``None``: not known.
        packed_conversions: conversion of one value to the one of two with the same rounding; ``None``: not known.
        types: whether the hardware has a type (``fp8_fnuz``, ``fp8_ocp``); absent: not known.
        triton: what Triton's options and switches do.
        products: name to product.
        llvm: the compiler's view.
        sources: all citations by id.
        data: the whole TOML file, for :meth:`source_of`.
    """

    name: str
    family: str
    generation: str
    counter_formulas: str
    wavefront_size: int
    wavefront_sizes: tuple[int, ...]
    occupancy: OccupancyRules
    lds: LdsRules
    wait_counters: Mapping[str, int]
    rates: Mapping[str, float]
    matrix_instructions: Mapping[str, MatrixInstruction]
    memory: Mapping[str, MemoryLevel]
    latencies: Mapping[str, tuple[float, float]]
    hazards: Mapping[str, int]
    model: Mapping[str, float]
    issue: IssueRules | None
    packed_conversions: Mapping[str, str] | None
    types: Mapping[str, bool]
    triton: TritonFacts
    products: Mapping[str, Product]
    llvm: LlvmFacts
    sources: Mapping[str, FigureSource]
    data: Mapping[str, Any]

    def __repr__(self) -> str:
        """``<Architecture gfx942>``: the fields are pages long."""
        return f"<Architecture {self.name}>"

    @property
    def has_matrix_instructions(self) -> bool | None:
        """``None`` where that is not known."""
        return bool(self.matrix_instructions) if "matrix" in self.data else None

    def source_of(self, key: str) -> tuple[str, ...]:
        """Ids of the sources of a figure; empty when it has none.

        A table names its sources in ``source``; single keys that differ are in its ``sources``. Tables inside a
        table follow it unless they have a ``source`` of their own.

        Args:
            key: path in the TOML file, such as ``occupancy.max_waves_per_simd``, ``products.MI300X.clock_mhz``,
                ``matrix.instructions.v_mfma_f64_16x16x4_f64`` or, for a whole column, ``matrix.coexecution_cycles``.

        Raises:
            KeyError: there is no such figure.
        """
        found: tuple[str, ...] = ()
        node: Any = self.data
        for part in key.split("."):
            if part in node.get("columns", ()):
                return tuple(node.get("sources", {}).get(part, node.get("source", found)))
            if part not in node:
                raise KeyError(key)
            found = tuple(node.get("sources", {}).get(part, node.get("source", found)))
            node = node[part]
        return tuple(node.get("source", found)) if isinstance(node, dict) else found

    def is_sourced(self, key: str) -> bool:
        """Whether a verdict may rest on a figure: it has a source, and none of its sources is weak.

        Args:
            key: as for :meth:`source_of`.

        Raises:
            KeyError: there is no such figure.
        """
        sources = self.source_of(key)
        return bool(sources) and all(self.sources[s].is_firm for s in sources)

    def matrix_instruction(self, mnemonic: str, operands: str | None = None) -> MatrixInstruction | None:
        """Facts of a matrix instruction, ``None`` when they are not known.

        Args:
            mnemonic: as in the assembly; encoding suffixes are ignored.
            operands: format of the wider operand for ``f8f6f4`` instructions: ``fp8``, ``fp6`` or ``fp4``; the
                slowest one when ``None``.
        """
        # Asked of every instruction of a program, most of which are none.
        if not mnemonic.startswith(_MATRIX):
            return None
        name = mnemonic
        for suffix in ("_e64", "_vop3p", "_vcd"):
            name = name.removesuffix(suffix)
        if (found := self.matrix_instructions.get(name)) is not None:
            return found
        wanted = (operands,) if operands else ("fp8", "fp6", "fp4")
        return next(
            (self.matrix_instructions[k] for o in wanted if (k := f"{name}@{o}") in self.matrix_instructions), None
        )
