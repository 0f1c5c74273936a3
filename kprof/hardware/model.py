"""Frozen records of kprof's facts about a GPU architecture. Each field's description contains its unit.

A figure that is not known is ``None`` or absent, never zero. Zero means that the hardware does not have the feature.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kprof.hardware.code import IssueRules, LlvmFacts, TritonFacts

Lanes = tuple[int, ...]

_MATRIX = ("v_mfma", "v_smfmac", "v_wmma", "v_swmmac")
"""Prefixes of the mnemonics of matrix instructions."""


@dataclass(frozen=True)
class FigureSource:
    """Source of a figure.

    Attributes:
        id: short name used in the TOML files.
        kind: ``read`` (in a document or in published source code), ``measured`` (on hardware or by compiling),
            ``derived`` (arithmetic on other figures), ``fitted`` (chosen so that a model agrees with measurements),
            ``weak`` (published, but not reliable enough for a verdict) or ``none`` (not found anywhere).
        text: the citation.
    """

    id: str
    kind: str
    text: str

    @property
    def is_firm(self) -> bool:
        """Whether this source is reliable enough for a verdict."""
        return self.kind not in {"fitted", "weak", "none"}


@dataclass(frozen=True)
class VgprFile:
    """Vector register file of one SIMD, as wavefronts of one size see it.

    Attributes:
        total: registers that the wavefronts of a SIMD share, per lane.
        granule: allocation granularity of the hardware, in registers per lane.
        encoding_granule: granularity of the register count in the kernel descriptor, in registers per lane.
    """

    total: int
    granule: int
    encoding_granule: int


@dataclass(frozen=True)
class OccupancyRules:
    """Rules and limits that decide how many wavefronts a SIMD holds.

    Attributes:
        max_waves_per_simd: maximum number of wavefronts of a SIMD (wave slots).
        simds_per_cu: SIMDs of a compute unit.
        simds_per_wgp: SIMDs of a workgroup processor (two CUs), ``None`` if the architecture has none.
        default_mode: ``wgp`` or ``cu``: mode in which Triton launches.
        vgprs: vector register file by wavefront size.
        unified_vgprs: True if VGPRs and AGPRs share one file (gfx90a and later CDNA).
        max_vgprs: architected VGPRs that a wavefront can address, per lane.
        max_agprs: accumulation VGPRs that a wavefront can address, per lane; 0 without AGPRs.
        accum_granule: in a unified file, AGPRs start at a multiple of this number of registers; 1 without a unified
            file.
        sgprs_total: scalar registers of a SIMD; ``None`` if they never limit occupancy (gfx10 and later).
        sgpr_granule: allocation granularity of scalar registers; 1 if they never limit occupancy.
        sgpr_trap_handler: scalar registers that the trap handler adds to each wavefront.
        max_sgprs: scalar registers that a program can address.
        max_workgroup_size: maximum number of work-items in a workgroup.
        max_workgroups_per_cu: maximum number of workgroups on a CU that have several wavefronts and therefore need a
            barrier. Workgroups of one wavefront are not limited by it.
        max_workgroups_per_wgp: the same for a workgroup processor, ``None`` if the architecture has none.
        scratch_waves_per_cu: maximum number of wavefronts per CU for which the runtime provides scratch memory;
            ``None``: not known.
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
        """Maximum number of VGPRs plus AGPRs of a wavefront, per lane (256 on gfx908: the larger file counts)."""
        return self.max_vgprs + (self.max_agprs if self.unified_vgprs else 0)

    @property
    def modes(self) -> tuple[str, ...]:
        """Launch modes: ``("wgp", "cu")`` on RDNA, ``("cu",)`` elsewhere."""
        return ("cu",) if self.simds_per_wgp is None else ("wgp", "cu")

    def simds(self, mode: str | None = None) -> int:
        """Return the number of SIMDs to which a workgroup's wavefronts are distributed in ``cu`` or ``wgp`` mode.

        Args:
            mode: ``cu``, ``wgp``, or ``None`` for the default mode.
        """
        if (mode or self.default_mode) == "wgp" and self.simds_per_wgp is not None:
            return self.simds_per_wgp
        return self.simds_per_cu

    def max_workgroups(self, mode: str | None = None) -> int:
        """Return the maximum number of workgroups with several wavefronts on a CU, or on a WGP in WGP mode."""
        if (mode or self.default_mode) == "wgp" and self.max_workgroups_per_wgp is not None:
            return self.max_workgroups_per_wgp
        return self.max_workgroups_per_cu

    def max_waves_per_workgroup(self, wavefront_size: int) -> int:
        """Return the number of wavefronts in the largest possible workgroup."""
        return self.max_workgroup_size // wavefront_size


@dataclass(frozen=True)
class LdsRules:
    """Properties of the local data share (LDS).

    Attributes:
        bytes_per_cu: LDS bytes of a compute unit.
        bytes_per_wgp: LDS bytes of a workgroup processor, ``None`` if the architecture has none.
        bytes_per_workgroup: maximum LDS bytes of one workgroup.
        granule: allocation granularity of the hardware in bytes.
        granule_llvm: allocation granularity in LLVM's occupancy computation, in bytes.
        banks: number of banks; each serves one access per cycle.
        bank_bytes: width of a bank in bytes.
        phases: groups of lanes that are served in the same cycle, by access (``read_b32``, ``read_b64``, ``read_b128``,
            ``write_b128``). Bank conflicts occur only inside a group. Accesses that are not known are absent.
        read64_cycles: cycles that 64 conflict-free reads of one wavefront take, by access width in bits.
        direct_load_bytes: maximum bytes per lane of a load from memory directly to LDS; 0 if there is no such load;
            ``None``: not known.
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
        """Return the number of LDS bytes that the workgroups on a CU share, or on a WGP in WGP mode."""
        return self.bytes_per_wgp if mode == "wgp" and self.bytes_per_wgp is not None else self.bytes_per_cu


@dataclass(frozen=True)
class MatrixInstruction:
    """One MFMA, SMFMAC, WMMA or SWMMAC instruction.

    Attributes:
        name: mnemonic without encoding suffix; ``@fp8``, ``@fp6``, ``@fp4`` after ``f8f6f4`` is the format of the wider
            operand.
        m, n, k: shape of one block.
        blocks: number of independent products in one instruction.
        cycles: cycles for which the instruction keeps a SIMD's matrix unit busy.
        type: operand type, such as ``fp16``.
        accumulator: type of C and D.
        vgprs_a, vgprs_b, vgprs_d: 32-bit registers of the operands per lane, ``None`` when not known.
        coexecution_cycles: cycles during which VALU instructions can run at the same time, ``None`` when not known.
        sparse: True if A is 4:2 structured sparse; ``k`` counts the zeros.
        simds_per_cu: SIMDs of a compute unit, to compute the rate.
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
        """Operations of one instruction: two per multiply-add, including zeros of sparse operands."""
        return 2 * self.m * self.n * self.k * self.blocks

    @property
    def passes(self) -> int | None:
        """Number of passes, LLVM's unit for MFMA: four cycles. ``None`` for WMMA, for which LLVM has no passes."""
        return self.cycles // 4 if "mfma" in self.name or "smfmac" in self.name else None

    @property
    def flops_per_cycle(self) -> float:
        """Operations per cycle and compute unit when instructions are issued back to back."""
        return self.flops * self.simds_per_cu / self.cycles


@dataclass(frozen=True)
class MemoryLevel:
    """One level of the memory hierarchy.

    Attributes:
        name: ``l1`` (vector cache; ``l0`` on RDNA), ``l2``, ``mall`` (Infinity Cache), ``hbm`` (GDDR on Radeon),
            ``scalar``, ``code``.
        size_bytes: capacity of one instance.
        scope: hardware unit that shares one instance: ``cu``, ``cu_pair``, ``shader_array``, ``xcd``, ``device``.
        line_bytes: size of a cache line.
        channels: channels of one instance.
        channel_bytes_per_cycle: bytes that a channel reads per cycle.
        bytes_per_cycle: bytes per cycle and compute unit.
        interleave_bytes: number of bytes after which the next channel is used.
        tag_period_bytes: addresses at this distance in bytes map to the same channel of the tag RAM.
        bandwidth_gbs: peak bandwidth of the device in 1e9 bytes per second.
        sustained_gbs: bandwidth reached by a benchmark, in 1e9 bytes per second.
        latency_cycles: latency of a dependent load that hits in this level, in cycles of ``latency_clock_mhz``.
        latency_ns: latency of a dependent load that hits in this level, in nanoseconds.
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
    """A GPU product, or the part of it that appears as one device.

    Attributes:
        name: product name, for example ``MI300X``.
        arch: architecture name.
        compute_units: active compute units.
        xcds: number of accelerator dies (XCDs); 1 if the GPU is a single die.
        clock_mhz: peak engine clock in MHz.
        peaks: published peak in 1e12 operations per second, dense, by type (``matrix_fp16``, ``valu_fp32``).
        memory: memory levels by name: those of the architecture, with this product's figures.
        launch_overhead_ns: time of an empty kernel in a stream, in nanoseconds.
        least_workgroups: minimum number of workgroups in a launch that AMD's guide recommends.
        pci_device: PCI device id, ``0x74a1``; ``None`` if not known.
        note: further remarks on the product.
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
        counter_formulas: file in ``kprof_analyzers/profiles/counters/formulas`` that defines the meaning of its
            hardware counters; empty: not known.
        wavefront_size: lanes of a wavefront in code that Triton compiles.
        wavefront_sizes: wavefront sizes that the hardware supports.
        occupancy: rules and limits that decide how many wavefronts a SIMD holds.
        lds: properties of the local data share.
        wait_counters: maximum value by wait counter.
        rates: per cycle and compute unit: operations (``valu_fp32``, ``matrix_fp16``, ...) and bytes
            (``lds_read_bytes``, ``l1_bytes``, ...). 0: the hardware has no such unit. Absent: not known.
        matrix_instructions: properties of the matrix instructions by mnemonic.
        memory: properties of the memory levels by name; only those that are the same for all products.
        latencies: ``(minimum, maximum)`` cycles by operation (``lds_permute``, ``dpp``).
        hazards: wait states that are required between a matrix instruction and a dependent one, in addition to its
            passes.
        model: parameters of the performance model that no data sheet contains; parameters that an architecture's file
            does not set come from ``model.toml``. Cycles: ``branch`` (taken), ``lds_latency``, ``lds_access`` (minimum,
            of one instruction). Shares: ``matrix_sustained`` of the matrix units' peak and, of that, ``matrix_large``
            for 32 x 32 and ``matrix_fp16`` for fp16; ``vector_memory_share`` of L2's sustained bandwidth and, of that,
            ``streaming``. ``loaded_latency``: latency under load divided by latency of idle memory. Nanoseconds:
            ``dispatch_ns`` (start and end of a launch), ``graph_launch_ns`` (of a launch in a replayed graph),
            ``events_ns`` (added by two events around a launch), ``launch_interval_ns`` (minimum between the starts of
            two launches), ``write_back_ns`` (of an XCD's L2 for one write-back), ``scratch_assignment_ns`` (the host
            assigns scratch memory to one launch), ``host_call_ns`` (the host for one call of torch),
            ``host_read_ns`` (the host for one value that it reads). Absent: not known.
        issue: issue rates of a SIMD, ``None``: not known.
        packed_conversions: by instruction that converts one value, the instruction that converts two values with the
            same rounding; ``None``: not known.
        types: whether the hardware supports a type (``fp8_fnuz``, ``fp8_ocp``), by type; absent: not known.
        triton: effects of Triton's options and switches.
        products: products by name.
        llvm: what LLVM and its tools define for the architecture.
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
        """Return only the name, ``<Architecture gfx942>``, because the fields would fill pages."""
        return f"<Architecture {self.name}>"

    @property
    def has_matrix_instructions(self) -> bool | None:
        """Whether the architecture has matrix instructions; ``None`` if not known."""
        return bool(self.matrix_instructions) if "matrix" in self.data else None

    def source_of(self, key: str) -> tuple[str, ...]:
        """Return the identifiers of a figure's sources; empty when it has none.

        A table names its sources in ``source``; ``sources`` lists keys of the table that have other sources. A table
        inside another table inherits its sources unless it contains ``source`` itself.

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
        """Return whether a verdict may be based on a figure: it has a source, and all its sources are reliable.

        Args:
            key: as for :meth:`source_of`.

        Raises:
            KeyError: there is no such figure.
        """
        sources = self.source_of(key)
        return bool(sources) and all(self.sources[s].is_firm for s in sources)

    def matrix_instruction(self, mnemonic: str, operands: str | None = None) -> MatrixInstruction | None:
        """Return the properties of a matrix instruction, ``None`` when they are not known.

        Args:
            mnemonic: mnemonic as in the assembly; encoding suffixes are ignored.
            operands: format of the wider operand for ``f8f6f4`` instructions: ``fp8``, ``fp6`` or ``fp4``; ``None`` for
                the slowest format.
        """
        # Check the prefix first, because this is called for every instruction, and few are matrix instructions.
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
