"""Hardware parameters of the simulator in cycles and bytes per cycle, computed from the architecture's file."""

from collections.abc import Mapping
from dataclasses import dataclass

from kprof.hardware.code import IssueRules
from kprof.hardware.machine import Architecture, Product
from kprof.hardware.model import MemoryLevel

_NAMES = {"l1": "the vector cache", "l2": "L2", "mall": "the Infinity Cache", "hbm": "memory"}
# Default for an architecture without issue rules; its use is reported as an assumption.
_ISSUE = IssueRules(cycles=1, valu_lanes=32, matrix_unit=False)


@dataclass(frozen=True)
class Channels:
    """Cost of short runs: accesses of adjacent bytes that fill neither a cache line nor a channel's interleave.

    Attributes:
        line: line size of L2 in bytes.
        interleave: bytes after which L2 uses its next channel.
        short: additional relative work for each further run of the same size that the line or interleave could hold.
        most: relative work of the shortest runs, compared with a run that fills the line or interleave.
    """

    line: int
    interleave: int
    short: float
    most: float

    def effort(self, run: int | None, missing: float = 1.0) -> float:
        """Return the relative work of moving a run of bytes from L2; 1 for long runs, and if the run is unknown.

        L2 sends whole lines, of which a short run uses only a part. A short run that misses L2 also uses only a part of
        a channel's interleave.

        Args:
            run: number of adjacent bytes.
            missing: share of the loads that miss L2.
        """
        if run is None:
            return 1.0
        return (1 - missing) * self._work(run, self.line) + missing * self._work(run, self.interleave)

    def effort_beyond(self, run: int | None) -> float:
        """Return the relative work of moving a run of bytes behind L2, where whole lines are requested."""
        return self.effort(None if run is None else max(run, self.line))

    def _work(self, run: int, full: int) -> float:
        return min(self.most, 1 + self.short * max(0.0, full / run - 1))


@dataclass(frozen=True)
class Machine:
    """One unit of the GPU (a CU, or a WGP if workgroups run on WGPs) and its share of the memory system.

    Attributes:
        arch: the architecture.
        product: the GPU; ``None`` if unknown.
        clock_mhz: engine clock.
        units: number of CUs, or of WGPs in WGP mode; ``None`` if no product is known.
        xcds: number of dies; workgroups are assigned to them round-robin.
        simds: SIMDs of a unit.
        lanes: lanes of a wavefront.
        issue: cycles between two instructions of one wavefront.
        valu: cycles that an ordinary vector instruction occupies its SIMD.
        lds_bytes: bytes per cycle of the unit's LDS.
        lds_access: minimum number of LDS cycles of an instruction.
        lds_latency: cycles of an LDS access without any queue.
        l1_bytes: bytes per cycle between the unit and its vector cache.
        vector_bytes: bytes per cycle that a unit's loads get from L2 when all units load.
        level_bytes: a unit's share of the sustained bandwidth of the levels ``mall`` and ``hbm``, in bytes per cycle.
        latency: cycles of a load that hits in a level, by level.
        loaded: latency of a load while all CUs load, divided by the latency of a single load.
        dispatch_us: microseconds from the start of an empty launch to its end.
        branch: cycles of a taken branch.
        matrix_sustained: share of the matrix units' peak that they sustain when all are busy.
        matrix_large: factor on ``matrix_sustained`` for 32 x 32 instructions, which draw more power.
        matrix_fp16: factor on ``matrix_sustained`` for fp16 operands, relative to bf16.
        matrix_unit: whether matrix instructions have a unit separate from the vector unit; in this case two SIMDs share
            a port to LDS.
        streaming: share of ``vector_bytes`` that loads with a streaming hint reach.
        figures: the architecture's model parameters; the architecture's file names their sources.
        assumptions: one sentence for each unknown value.
    """

    arch: Architecture
    product: Product | None
    clock_mhz: float
    units: int | None
    xcds: int
    simds: int
    lanes: int
    issue: int
    valu: int
    lds_bytes: float
    lds_access: float
    lds_latency: float
    l1_bytes: float
    vector_bytes: float
    level_bytes: dict[str, float]
    latency: dict[str, float]
    loaded: float
    dispatch_us: float
    branch: int
    matrix_sustained: float
    matrix_large: float
    matrix_fp16: float
    matrix_unit: bool
    streaming: float
    figures: Mapping[str, float]
    assumptions: tuple[str, ...]

    def latency_of(self, *levels: str) -> float:
        """Return the cycles of a load that hits in a cache level: the first of ``levels`` that the GPU has.

        If it has none of them, an assumed latency is returned.
        """
        found = next((name for name in levels if name in self.latency), None)
        return self.latency[found] if found is not None else self.figures[f"{levels[-1]}_latency"]

    def cache_bytes(self, level: str) -> float:
        """Return the size of a cache in bytes, for ``l2`` that of one XCD; 0 if the cache does not exist."""
        levels = self.product.memory if self.product is not None else self.arch.memory
        return levels[level].size_bytes or 0.0 if level in levels else 0.0

    @property
    def last_level_bytes(self) -> float:
        """Size of the last cache before memory in bytes: the Infinity Cache, or all L2s together without one."""
        return self.cache_bytes("mall") or self.xcds * self.cache_bytes("l2")

    @property
    def channels(self) -> Channels:
        """Line size and channel interleave of L2, with the costs of short runs."""
        levels = self.product.memory if self.product is not None else self.arch.memory
        l2 = levels.get("l2")
        line = l2.line_bytes if l2 is not None else None
        interleave = l2.interleave_bytes if l2 is not None else None
        return Channels(
            line or int(self.figures["line_bytes"]),
            interleave or int(self.figures["interleave_bytes"]),
            self.figures["short_run"],
            self.figures["short_run_most"],
        )


def machine_of(arch: Architecture, product: Product | None, lanes: int, *, wgp: bool | None = None) -> Machine:
    """Return the hardware parameters for a kernel.

    Args:
        arch: the architecture.
        product: the GPU; ``None`` selects the architecture's first product.
        lanes: lanes of a wavefront.
        wgp: whether workgroups get a whole WGP; ``None`` selects the architecture's default.
    """
    assumptions: list[str] = []
    if product is None:
        product = next(iter(arch.products.values()), None)
        if product is not None:
            assumptions.append(f"no product was named: {product.name} is assumed")
    mode = arch.occupancy.default_mode if wgp is None else "wgp" if wgp else "cu"
    pair = 2 if mode == "wgp" and arch.occupancy.simds_per_wgp else 1
    clock: float | None = product.clock_mhz if product is not None else None
    figures = arch.model
    if clock is None:
        clock = figures["clock_mhz"]
        assumptions.append(f"the clock is not known: {clock:.0f} MHz is assumed")
    units = product.compute_units // pair if product is not None and product.compute_units is not None else None
    issue = arch.issue
    if issue is None:
        assumptions.append("how instructions are issued is not known: one per cycle is assumed")
        issue = _ISSUE
    levels = product.memory if product is not None else arch.memory
    shares = _shares(levels, units, clock, figures, assumptions)
    l2 = shares.pop("l2", figures["l2_unit_bytes"])
    return Machine(
        arch=arch,
        product=product,
        clock_mhz=clock,
        units=units,
        xcds=(product.xcds if product is not None else None) or 1,
        simds=arch.occupancy.simds(mode),
        lanes=lanes,
        issue=issue.cycles,
        valu=issue.valu_cycles(lanes),
        lds_bytes=arch.rates.get("lds_read_bytes", 128) * pair,
        lds_access=figures["lds_access"],
        lds_latency=figures["lds_latency"],
        l1_bytes=figures["l1_unit_bytes"] * pair,
        vector_bytes=figures["vector_memory_share"] * l2,
        level_bytes=shares,
        latency={name: _latency(name, levels, clock, figures, assumptions) for name in _NAMES if name in levels},
        loaded=figures["loaded_latency"],
        dispatch_us=_dispatch(arch, product),
        branch=int(figures["branch"]),
        matrix_sustained=figures["matrix_sustained"],
        matrix_large=figures.get("matrix_large", 1.0),
        matrix_fp16=figures.get("matrix_fp16", 1.0),
        matrix_unit=issue.matrix_unit,
        streaming=figures["streaming"],
        figures=figures,
        assumptions=tuple(assumptions),
    )


def _shares(
    levels: Mapping[str, MemoryLevel],
    units: int | None,
    clock: float,
    figures: Mapping[str, float],
    assumptions: list[str],
) -> dict[str, float]:
    """Return the bytes per cycle that each unit gets from each level if all units get an equal share."""
    found: dict[str, float] = {}
    if units is None:
        return found
    for name, level in levels.items():
        rate = level.sustained_gbs
        if rate is None and name in {"hbm", "mall"} and level.bandwidth_gbs is not None:
            rate = figures["hbm_sustained"] * level.bandwidth_gbs
            assumptions.append(
                f"{100 * figures['hbm_sustained']:.0f} % of the peak bandwidth of {_NAMES[name]} are reached"
            )
        if rate is not None and name in {"l2", "mall", "hbm"}:
            found[name] = rate * 1e3 / (units * clock)
    return found


def _latency(
    name: str,
    levels: Mapping[str, MemoryLevel],
    clock: float,
    figures: Mapping[str, float],
    assumptions: list[str],
) -> float:
    level = levels.get(name)
    if level is not None and level.latency_ns is not None:
        return float(level.latency_ns * clock / 1e3)
    if level is not None and level.latency_cycles is not None:
        return float(level.latency_cycles * clock / (level.latency_clock_mhz or clock))
    assumed = figures[f"{name}_latency"]
    assumptions.append(f"the latency of {_NAMES[name]} is not known: {assumed:.0f} cycles are assumed")
    return float(assumed)


def _dispatch(arch: Architecture, product: Product | None) -> float:
    """Return the microseconds of an empty launch: as measured by the GPU itself, otherwise as measured in a stream."""
    found = arch.model.get("dispatch_ns") or (product.launch_overhead_ns if product is not None else None)
    return (found or 0.0) / 1e3
