"""The document of an analysis, which reporters and ``kprof check`` read: schema ``kprof.report/1``.

A field that does not apply is left out (``UNSET``). A field that could not be determined is ``None``. Neither means
zero.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from kprof.advised import KnownAdvice
from kprof.condition import WARM
from kprof.findings import Cause, Coverage, Finding, Location, Suppressed
from kprof.measured import Measured
from kprof.output.quantities import duration
from kprof.roofline import Roofline

SCHEMA: Literal["kprof.report/1"] = "kprof.report/1"


class Specialization(msgspec.Struct, frozen=True):
    """Signature, constants and options of one compile.

    Attributes:
        signature: Triton type (``*fp16``, ``i32``, ``constexpr``) by argument name.
        constexprs: compile-time value by argument name.
        attributes: hints that the launch provides (``divisibility``, ``pointer_range``), by argument name.
        options: backend options (``num_warps``, ``waves_per_eu``, ...).
        environment: environment switches that were set and that change the generated code.
    """

    signature: dict[str, str] = {}
    constexprs: dict[str, Any] = {}
    attributes: dict[str, dict[str, int]] = {}
    options: dict[str, Any] = {}
    environment: dict[str, str] = {}


class Resources(msgspec.Struct, frozen=True):
    """Registers and memory that the kernel uses per wavefront, lane or workgroup.

    Attributes:
        vgpr: VGPRs that the code uses, without AGPRs.
        agpr: accumulation VGPRs that the code uses.
        sgpr: SGPRs as counted by the metadata, including VCC and other special registers.
        vgpr_allocated: registers allocated to a wavefront: VGPRs and AGPRs, padded to the allocation granule.
        vgpr_spills: spilled VGPRs per lane.
        sgpr_spills: spilled SGPRs.
        scratch_bytes: private memory per lane, in bytes.
        lds_bytes: LDS per workgroup in bytes, dynamic part included.
        lds_limit_bytes: maximum LDS of one workgroup on this architecture.
        num_warps: wavefronts per workgroup.
        wavefront_size: lanes per wavefront.
    """

    vgpr: int | None | UnsetType = UNSET
    agpr: int | None | UnsetType = UNSET
    sgpr: int | None | UnsetType = UNSET
    vgpr_allocated: int | None | UnsetType = UNSET
    vgpr_spills: int | None | UnsetType = UNSET
    sgpr_spills: int | None | UnsetType = UNSET
    scratch_bytes: int | None | UnsetType = UNSET
    lds_bytes: int | None | UnsetType = UNSET
    lds_limit_bytes: int | UnsetType = UNSET
    num_warps: int | None | UnsetType = UNSET
    wavefront_size: int | None | UnsetType = UNSET


Limiter = Literal["vgpr", "sgpr", "lds", "wave_slots", "workgroup_slots", "launch_bounds"]


class NextStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """Resource reduction that is needed for the next higher occupancy.

    Attributes:
        resource: ``vgpr``, ``agpr``, ``sgpr``, ``lds`` or ``num_warps``; ``vgpr_padding`` and ``sgpr_padding`` are
            registers that ``waves_per_eu`` padded.
        reduce_by: required reduction, in registers, bytes or wavefronts per workgroup.
        waves_per_simd: occupancy after the reduction.
        also: further resources that must shrink at the same time, with the amounts.
    """

    resource: str
    reduce_by: int
    waves_per_simd: float
    also: dict[str, int] = {}


class Occupancy(msgspec.Struct, frozen=True):
    """Number of wavefronts of the kernel that one SIMD holds at a time.

    Attributes:
        waves_per_simd: achievable wavefronts per SIMD (may be fractional: workgroups of one wavefront on four SIMDs).
        max_waves_per_simd: maximum number of wavefronts of a SIMD, the upper bound of occupancy.
        workgroups_per_cu: workgroups resident in a CU (in a WGP on RDNA in WGP mode).
        limiter: the resource that limits occupancy. ``launch_bounds``: registers that ``waves_per_eu`` padded or, if no
            wavefront fits, a workgroup that is too large.
        limits: wavefronts per SIMD that each resource alone would allow, by resource.
        next_step: cheapest reduction of resources that raises occupancy; absent at the maximum.
        method: rules of the computation: ``hardware``, ``llvm`` or ``guide``.
    """

    waves_per_simd: float
    max_waves_per_simd: int
    workgroups_per_cu: int
    limiter: Limiter
    limits: dict[str, float]
    next_step: NextStep | UnsetType = UNSET
    method: str = "hardware"


class WaitDistance(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wait of a loop in its steady state, with the memory instruction that it waits for.

    Attributes:
        wait: the wait as written, for example ``vmcnt(0)``.
        waits_for: mnemonic of the last issued memory instruction that must have finished; absent if none was in flight.
        instructions: instructions issued between the memory instruction and the wait.
        cycles: issue cycles between the memory instruction and the wait, which hide latency; ``None`` if the
            architecture's issue rates are not known.
        matrix: number of matrix instructions between the memory instruction and the wait.
        line: source line of the memory instruction.
    """

    wait: str
    waits_for: str | None = None
    instructions: int = 0
    cycles: int | None = 0
    matrix: int = 0
    line: int | None = None


class LoopFacts(msgspec.Struct, frozen=True):
    """One natural loop of the program, counted per iteration and wavefront.

    Attributes:
        header: label of the loop's first block.
        depth: nesting depth; 1 is outermost.
        lines: ``[first, last]`` source line inside the loop, by file name.
        instructions: static instruction counts by mnemonic (without encoding suffix), inner loops included.
        classes: static instruction counts by instruction class.
        kinds: static instruction counts by kind inside the class, without plain instructions: ``conversion``,
            ``acc_copy`` (between VGPRs and AGPRs), ``transcendental``, ``packed``, ``load``, ``atomic``, ...
        widths: static access counts by memory path and by bytes per lane at one address: ``{"global_load": {"16":
            8}}``; a ``ds_read2_b64`` counts as two accesses of 8 bytes.
        waits: number of waits by their text, for example ``vmcnt(0)``.
        bytes_per_wave: bytes that one wavefront moves per iteration, by memory path (``global_load``,
            ``global_to_lds``, ``lds_store``, ...).
        spill_accesses: scratch instructions in the loop.
        innermost: True if the loop contains no other loop.
        matrix: number of matrix instructions by shape, such as ``32x32x8``.
        flops: floating-point operations of the loop's matrix instructions, for one wavefront.
        wait_distances: every wait outside inner loops, in program order.
        hot: True if the report calls this loop the hot loop.
    """

    header: str
    depth: int
    lines: dict[str, tuple[int, int]] = {}
    instructions: dict[str, int] = {}
    classes: dict[str, int] = {}
    kinds: dict[str, int] = {}
    widths: dict[str, dict[str, int]] = {}
    waits: dict[str, int] = {}
    bytes_per_wave: dict[str, int] = {}
    spill_accesses: int = 0
    innermost: bool = True
    matrix: dict[str, int] = {}
    flops: int = 0
    wait_distances: list[WaitDistance] = []
    hot: bool = False


class RegisterPeak(msgspec.Struct, frozen=True, omit_defaults=True):
    """Point of the program with the most live registers of one register file.

    Attributes:
        live: number of live registers at that point. The compiler allocates at least this many.
        location: source line of the instruction.
        instruction: the instruction as written in the assembly.
        lines: maximum number of live registers at the instructions of a source line, by ``file:line``, largest first.
        held: number of registers that hold values at the peak, by the line that wrote the values (``before``: an
            argument, or written later in a loop), largest first. Only these registers can be saved.
        to_next_step: number of registers to save for one more wavefront per SIMD.
    """

    live: int
    location: Location | None = None
    instruction: str = ""
    lines: dict[str, int] = {}
    held: dict[str, int] = {}
    to_next_step: int | None = None


class PassChange(msgspec.Struct, frozen=True, rename={"pass_": "pass"}):
    """Changes made by one compiler pass.

    Attributes:
        order: position among all passes, from 0.
        pass_: name of the pass on MLIR's command line.
        stage: compiler stage: ``ttir``, ``ttgir``, ``llir``.
        changed: values before and after the pass, by metric: LDS in bytes, numbers of operations, vector widths in
            bytes.
    """

    order: int
    pass_: str
    stage: str | None
    changed: dict[str, tuple[int | None, int | None]]


Bound = Literal[
    "matrix", "vector", "lds", "memory latency", "memory bandwidth", "barrier", "issue", "scratch", "launch"
]  # fmt: skip


class LoopPrediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """The performance model's prediction for one loop.

    Attributes:
        header: label of the loop's first block, as in :class:`LoopFacts`.
        lines: ``[first, last]`` source line by file name.
        trips: iterations per entry of a wavefront into the loop; a mean if workgroups differ.
        trips_known: True if the number of iterations follows from the launch; otherwise it is assumed.
        trips_from: how the number of iterations was found, in words.
        entries: number of times that a wavefront enters the loop: iterations of the enclosing loops.
        cycles_per_iteration: cycles from the start of one iteration of a wavefront to the start of the next, without
            inner loops.
        causes: cycles per iteration by cause (as in :data:`Bound`); the sum is ``cycles_per_iteration``.
        by_line: cycles per iteration that a wavefront spends on a source line, by ``file:line``; the sum is
            ``cycles_per_iteration``.
        matrix_share: share of an iteration in which the SIMD's matrix unit is busy.
        steady: whether the iterations' duration was constant by the end of the simulation.
        missing: the unknown that the number of iterations depends on, which ``--value`` sets: an argument, or ``values
            of`` a tensor.
        elements_per_iteration: number of elements of the axis of unknown extent that one iteration processes, if known.
    """

    header: str
    trips: float
    trips_known: bool
    trips_from: str
    cycles_per_iteration: float
    lines: dict[str, tuple[int, int]] = {}
    entries: float = 1.0
    causes: dict[str, float] = {}
    by_line: dict[str, float] = {}
    matrix_share: float = 0.0
    steady: bool = True
    missing: list[str] = []
    elements_per_iteration: float | None = None

    @property
    def cycles_per_element(self) -> float | None:
        """Cycles per element of the axis of unknown extent."""
        return self.cycles_per_iteration / self.elements_per_iteration if self.elements_per_iteration else None


class OccupancyWorth(msgspec.Struct, frozen=True):
    """Predicted time of the launch if each CU held one more workgroup.

    Attributes:
        workgroups_per_cu: number of workgroups per CU, one more than in the launch.
        time_us: predicted launch time in microseconds with that number of workgroups, all else equal; ``None`` if the
            grid has too few workgroups.
    """

    workgroups_per_cu: int
    time_us: float | None


class Prediction(msgspec.Struct, frozen=True):
    """The performance model's result for one kernel and launch. All values are modelled, none are measured.

    Attributes:
        time_us: time of one launch in microseconds; ``None`` if the grid, the number of CUs or of iterations is not
            known.
        low_us, high_us: range that is likely to contain the time, where 95 % of published times do.
        cycles: cycles of the CU that works longest, without launch overhead; ``None`` if a loop's iterations are not
            known.
        bound: the cause with the largest share.
        shares: share of the time by cause, 0 to 1; the sum is 1. If the iterations of a loop are not known, the shares
            are those of the assumed iterations.
        loops: every loop, outer loops before inner ones.
        speed_of_light_us: minimum time for the same work: matrix operations at their peak rate, or bytes that must come
            from memory at its peak bandwidth.
        speed_of_light_percent: ``speed_of_light_us`` as a percentage of ``time_us``.
        traffic: bytes requested in the whole launch, by level (``l2``, ``mall``, ``hbm``). ``scratch``: bytes of
            spilled registers and private arrays; ``written_back``: lines of other kernels that had to leave the
            last-level cache first; ``passing``: the part of ``hbm`` that is not kept in that cache because of cache
            modifiers.
        workgroups: workgroups of the launch.
        workgroups_per_cu: workgroups that run on a CU at the same time.
        waves_per_simd: wavefronts that run on a SIMD at the same time.
        rounds: number of workgroups that the busiest slot (one of ``workgroups_per_cu`` on a CU) runs one after the
            other.
        clock_mhz: clock that the time was computed with.
        condition: timing condition of the time: ``warm``, ``flushed``, ``flushed-dirty`` or ``graph``.
        events_us: part of the time that two events around the launch add, in microseconds; ``None`` without a time.
        occupancy_worth: effect of one more workgroup on each CU, if it was computed.
        roofline: operations and bytes by memory level, with the GPU's peaks, if known.
        assumptions, notes: sentences on what was not known and had to be assumed, and other remarks.
    """

    time_us: float | None
    low_us: float | None
    high_us: float | None
    cycles: float | None
    bound: Bound
    shares: dict[str, float]
    loops: list[LoopPrediction] = []
    speed_of_light_us: float | None = None
    speed_of_light_percent: float | None = None
    traffic: dict[str, float] = {}
    workgroups: int | None = None
    workgroups_per_cu: float = 1.0
    waves_per_simd: float = 1.0
    rounds: float = 1.0
    clock_mhz: float | None = None
    condition: str = WARM.name
    events_us: float | None = None
    occupancy_worth: OccupancyWorth | UnsetType = UNSET
    roofline: Roofline | UnsetType = UNSET
    assumptions: list[str] = []
    notes: list[str] = []


class AutotunedChoice(msgspec.Struct, frozen=True):
    """Configuration that kprof analyses in place of an autotuner's choice: the fastest one by the performance model.

    Attributes:
        config: the configuration as the autotuner writes it.
        listed: number of configurations that the autotuner chooses from.
        timed: number of configurations with a predicted time.
        spread: predicted time of the slowest configuration divided by that of the chosen one.
        tied: number of configurations whose predicted times the model's error cannot distinguish from the chosen one's;
            the chosen one is included.
        low_us: lower end of the predicted time range of the tied configurations, in microseconds.
        left_out: number of configurations without a predicted time, by reason.
    """

    config: str
    listed: int
    timed: int
    spread: float
    tied: int
    low_us: float | None = None
    left_out: dict[str, int] = {}

    @property
    def words(self) -> str:
        """The choice in words, such as ``best of 7 configurations by the model; 1.9x between best and worst``."""
        words = ["the only configuration with a predicted time"]
        if self.timed > 1:
            words = [f"best of {self.timed} configurations by the model", f"{self.spread:.2g}x between best and worst"]
            words += [f"{self.tied} within the model's error"] if self.tied > 1 else []
        if self.left_out:
            others = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
            words.append(f"of {self.listed} listed: {others}")
        return "; ".join(words)


class CureTrials(msgspec.Struct, frozen=True):
    """Numbers of changes that were tried as fixes for a kernel's costly findings.

    Attributes:
        compiled: number of changes that were compiled, whether or not they helped.
        remaining: number of changes that were not compiled because the time budget ended.
    """

    compiled: int
    remaining: int = 0


class OtherRelease(msgspec.Struct, frozen=True):
    """Result of compiling the same kernel and launch with another release of Triton.

    Attributes:
        triton: the other release's version.
        time_us, low_us, high_us: predicted time and its likely range in microseconds; ``None`` if not known.
        vgpr_spills: spilled VGPRs per lane; ``None`` if not known.
        error: reason why the kernel does not compile with that release; absent if it compiles.
    """

    triton: str
    time_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    vgpr_spills: int | None = None
    error: str | UnsetType = UNSET


class KernelReport(msgspec.Struct, frozen=True):
    """Everything known about one compiled kernel on one architecture.

    Attributes:
        name: the kernel's function name.
        arch: architecture, for example ``gfx942``.
        product: the GPU, if one was named or the architecture has a usual product.
        source: source location at which the kernel is defined.
        triton: version of the Triton that compiled it.
        compiler: identification of the compiler, if it was not Triton.
        specialization: signature, constants and options of the compile.
        launch: ``{"grid": [x, y, z]}`` and other known properties of the launch.
        job: name of the call that makes this launch, see :class:`JobSummary`; absent if the call makes only one launch.
        resources, occupancy, loops, instructions: facts read from the compiled code.
        pressure: point with the most live registers, by register file (``vgpr``, ``agpr``, ``sgpr``).
        model: the performance model's result, absent when the kernel could not be modelled or cannot be launched.
        findings: sorted by severity, then rule, then line.
        causes: the findings grouped by cause, the cause with the largest gain first.
        cure_trials: number of fixes that were compiled; absent if no fix was requested or needed.
        suppressed: findings silenced by ``# kprof: ignore[...]`` comments.
        rules: rules that were checked, and the reasons why others were not; absent if no rule was checked.
        notes: sentences that explain why fields are null.
        compile_seconds: wall time of the compile in seconds; absent if nothing was compiled.
        cached: True if the compile was served from kprof's cache.
        passes: with ``--passes``, each pass: its order, name, stage, and changed metrics with ``[before, after]``.
        coverage: share of the instructions that kprof's assembly reader knows, 0 to 1; ``None`` if there were no
            instructions.
        file: for a directory of compiled kernels, the path of the kernel's file in that directory.
        unseen: a sentence on the part of the code that could not be analysed, and why; absent if all of it was
            analysed.
        unrecorded: a sentence on calls of a recorded program that did not run, so that launches may be missing.
        measured: results of measurements of this kernel; absent when no measurements were passed.
        autotuned: how this configuration was chosen among those of an autotuner; absent without an autotuner.
        advised: the best change that a search has found for this kernel and launch; absent when no search ran.
        other_releases: results of compiling with the neighbouring Triton releases kept on this machine; absent if none
            was used.
    """

    name: str
    arch: str
    product: str | UnsetType = UNSET
    source: Location | UnsetType = UNSET
    triton: str | UnsetType = UNSET
    compiler: str | UnsetType = UNSET
    specialization: Specialization | UnsetType = UNSET
    launch: dict[str, Any] | UnsetType = UNSET
    job: str | UnsetType = UNSET
    resources: Resources | UnsetType = UNSET
    occupancy: Occupancy | None | UnsetType = UNSET
    loops: list[LoopFacts] = []
    instructions: dict[str, int] = {}
    pressure: dict[str, RegisterPeak] = {}
    model: Prediction | UnsetType = UNSET
    findings: list[Finding] = []
    causes: list[Cause] = []
    cure_trials: CureTrials | UnsetType = UNSET
    suppressed: list[Suppressed] = []
    rules: Coverage | UnsetType = UNSET
    notes: list[str] = []
    compile_seconds: float | UnsetType = UNSET
    cached: bool | UnsetType = UNSET
    passes: list[PassChange] | UnsetType = UNSET
    coverage: float | None | UnsetType = UNSET
    file: str | UnsetType = UNSET
    unseen: str | UnsetType = UNSET
    unrecorded: str | UnsetType = UNSET
    measured: Measured | UnsetType = UNSET
    advised: KnownAdvice | UnsetType = UNSET
    autotuned: AutotunedChoice | UnsetType = UNSET
    other_releases: list[OtherRelease] | UnsetType = UNSET

    @property
    def time_us(self) -> float | None:
        """Predicted time of the launch in microseconds; ``None`` if not known."""
        return None if self.model is UNSET else self.model.time_us

    @property
    def tflops(self) -> float | None:
        """Achieved operations of the roofline's ``main_kind`` in 1e12 per second; ``None`` without a predicted time."""
        if self.model is UNSET or not self.model.time_us or self.model.roofline is UNSET:
            return None
        kind = self.model.roofline.main_kind
        return None if kind is None else self.model.roofline.flops[kind] / self.model.time_us / 1e6

    def __repr__(self) -> str:
        """Return only the name, the GPU and the predicted time, because the fields would fill pages."""
        where = self.product if isinstance(self.product, str) else self.arch
        time = "time not known" if self.time_us is None else duration(self.time_us)
        return f"<KernelReport {self.name} on {where}: {time}, {len(self.findings)} findings>"


class Verdict(msgspec.Struct, frozen=True):
    """The overall result, which corresponds to the exit code."""

    status: Literal["ok", "regression", "cannot_tell"]
    summary: str


class JobSummary(msgspec.Struct, frozen=True):
    """Call of a kernel that launches several Triton functions: the kernel's own function and its parts.

    Attributes:
        name: name of the kernel, equal to ``job`` of the launches.
        arch: architecture.
        launches: positions of the launches in the report's ``kernels``, in the order in which the call makes them.
        product: the GPU, if known.
        time_us: sum of the launches' predicted times in microseconds; ``None`` if a launch has no predicted time.
        low_us, high_us: sums of the lower and the upper ends of the launches' ranges; ``None`` if a launch has none.
    """

    name: str
    arch: str
    launches: list[int]
    product: str | UnsetType = UNSET
    time_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None


class Report(msgspec.Struct, frozen=True):
    """The whole document, with one entry per kernel, specialisation and architecture in ``kernels``.

    Attributes:
        kprof: version of kprof that wrote it.
        verdict: the result as a whole.
        schema: always ``kprof.report/1``.
        jobs: calls that make several launches, with their total times.
        notes: remarks about the run as a whole, for example which inputs were skipped and why.
    """

    kprof: str
    kernels: list[KernelReport]
    verdict: Verdict
    schema: Literal["kprof.report/1"] = SCHEMA
    jobs: list[JobSummary] = []
    notes: list[str] = []
