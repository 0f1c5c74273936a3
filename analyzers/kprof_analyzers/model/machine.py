"""The hardware as the simulator sees it: clocks and bytes a clock, worked out from the architecture's file."""

from dataclasses import dataclass

from kprof.hardware.code import IssueRules
from kprof.hardware.machine import Architecture, Product
from kprof.hardware.model import MemoryLevel

# What is taken where neither the architecture nor the product says more; each use becomes an assumption.
_CLOCK_MHZ = 2000
_NAMES = {"l1": "the vector cache", "l2": "L2", "mall": "the Infinity Cache", "hbm": "memory"}
_LATENCY = {"l1": 120, "l2": 240, "mall": 500, "hbm": 750}
_LDS_LATENCY = 64
_BRANCH = 16
_ISSUE = IssueRules(cycles=1, valu_lanes=32, matrix_unit=False)
_HBM_SUSTAINED = 0.75
_L2_BYTES = 27.0


@dataclass(frozen=True)
class Machine:
    """One CU (a WGP where that is what a workgroup gets) with its share of the memory system.

    Attributes:
        arch: the architecture.
        product: the GPU; ``None`` when none is known.
        clock_mhz: engine clock.
        units: CUs, or WGPs in WGP mode; ``None`` when no product is known.
        xcds: dies that the workgroups are dealt out to in turn.
        simds: SIMDs of a unit.
        lanes: lanes of a wavefront.
        issue: clocks between two instructions of one wavefront.
        valu: clocks that an ordinary vector instruction keeps its SIMD.
        lds_bytes: bytes a clock of the unit's LDS.
        lds_access: clocks that the LDS needs for an instruction at least.
        lds_latency: clocks of an LDS access without any queue.
        l1_bytes: bytes a clock between the unit and its vector cache.
        vector_bytes: bytes a clock that a unit's loads reach from L2, when all units load.
        level_bytes: level beyond (``mall``, ``hbm``) to a unit's share of its sustained bandwidth, bytes a clock.
        latency: level to clocks of a load that hits there.
        loaded: latency of a load while all CUs load against that of a lone one.
        dispatch_us: microseconds from the start of an empty launch to its end.
        branch: clocks of a taken branch.
        matrix_sustained: share of the matrix units' peak that they sustain when all are busy.
        matrix_large: share of that for instructions of 32 x 32, which draw more power.
        matrix_unit: matrix instructions have a unit of their own beside the vector unit; pairs of SIMDs then share a
            port to LDS.
        streaming: share of ``vector_bytes`` that loads with a streaming hint reach.
        assumptions: what was not known, one sentence each.
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
    matrix_unit: bool
    streaming: float
    assumptions: tuple[str, ...]


def machine_of(arch: Architecture, product: Product | None, lanes: int, *, wgp: bool | None = None) -> Machine:
    """The machine that a kernel runs on.

    Args:
        arch: the architecture.
        product: the GPU; the architecture's first product when ``None``.
        lanes: lanes of a wavefront.
        wgp: whether workgroups get a whole WGP; the architecture's default when ``None``.
    """
    assumptions: list[str] = []
    if product is None:
        product = next(iter(arch.products.values()), None)
        if product is not None:
            assumptions.append(f"no product was named: {product.name} is assumed")
    mode = arch.occupancy.default_mode if wgp is None else "wgp" if wgp else "cu"
    pair = 2 if mode == "wgp" and arch.occupancy.simds_per_wgp else 1
    clock = product.clock_mhz if product is not None else None
    if clock is None:
        assumptions.append(f"the clock is not known: {_CLOCK_MHZ} MHz is assumed")
        clock = _CLOCK_MHZ
    units = product.compute_units // pair if product is not None and product.compute_units is not None else None
    issue = arch.issue
    if issue is None:
        assumptions.append("how instructions are issued is not known: one a clock is assumed")
        issue = _ISSUE
    figures = arch.model
    levels = product.memory if product is not None else arch.memory
    shares = _shares(levels, units, clock, assumptions)
    l2 = shares.pop("l2", _L2_BYTES)
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
        lds_access=figures.get("lds_access", 1.0),
        lds_latency=figures.get("lds_latency", _LDS_LATENCY),
        l1_bytes=min(64, arch.rates.get("l1_bytes", 64)) * pair,
        vector_bytes=figures.get("vector_memory_share", 0.75) * l2,
        level_bytes=shares,
        latency={name: _latency(name, levels, clock, assumptions) for name in _LATENCY if name in levels},
        loaded=figures.get("loaded_latency", 1.0),
        dispatch_us=_dispatch(arch, product),
        branch=int(figures.get("branch", _BRANCH)),
        matrix_sustained=figures.get("matrix_sustained", 1.0),
        matrix_large=figures.get("matrix_large", 1.0),
        matrix_unit=issue.matrix_unit,
        streaming=figures.get("streaming", 1.0),
        assumptions=tuple(assumptions),
    )


def _shares(
    levels: "dict[str, MemoryLevel] | object", units: int | None, clock: float, assumptions: list[str]
) -> dict[str, float]:
    """Level to bytes a clock and unit, when all units take an equal part."""
    assert hasattr(levels, "items")
    found: dict[str, float] = {}
    if units is None:
        return found
    for name, level in levels.items():
        rate = level.sustained_gbs
        if rate is None and name in {"hbm", "mall"} and level.bandwidth_gbs is not None:
            rate = _HBM_SUSTAINED * level.bandwidth_gbs
            assumptions.append(f"{100 * _HBM_SUSTAINED:.0f} % of the peak bandwidth of {_NAMES[name]} are reached")
        if rate is not None and name in {"l2", "mall", "hbm"}:
            found[name] = rate * 1e3 / (units * clock)
    return found


def _latency(name: str, levels: "dict[str, MemoryLevel] | object", clock: float, assumptions: list[str]) -> float:
    assert hasattr(levels, "get")
    level = levels.get(name)
    if level is not None and level.latency_ns is not None:
        return float(level.latency_ns * clock / 1e3)
    if level is not None and level.latency_cycles is not None:
        return float(level.latency_cycles * clock / (level.latency_clock_mhz or clock))
    assumptions.append(f"the latency of {_NAMES[name]} is not known: {_LATENCY[name]} clocks are assumed")
    return float(_LATENCY[name])


def _dispatch(arch: Architecture, product: Product | None) -> float:
    """Microseconds of an empty launch: on the GPU itself where that is known, else in a stream."""
    found = arch.model.get("dispatch_ns") or (product.launch_overhead_ns if product is not None else None)
    return (found or 0.0) / 1e3
