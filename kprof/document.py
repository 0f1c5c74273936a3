"""The one document that reporters and the gate read: schema ``kprof.report/1``.

A field that does not apply is left out (``UNSET``); one that could not be determined is ``None``: absent is not zero.
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
    """What exactly was compiled.

    Attributes:
        signature: argument name to Triton type (``*fp16``, ``i32``, ``constexpr``).
        constexprs: argument name to compile-time value.
        attributes: argument name to the hints the launch gives (``divisibility``, ``pointer_range``).
        options: backend options (``num_warps``, ``waves_per_eu``, ...).
        environment: environment switches that change code generation and were set.
    """

    signature: dict[str, str] = {}
    constexprs: dict[str, Any] = {}
    attributes: dict[str, dict[str, int]] = {}
    options: dict[str, Any] = {}
    environment: dict[str, str] = {}


class Resources(msgspec.Struct, frozen=True):
    """What a wavefront and a workgroup of the kernel take.

    Attributes:
        vgpr: VGPRs the code uses, AGPRs not counted.
        agpr: accumulation VGPRs the code uses.
        sgpr: SGPRs as the metadata counts them, with VCC and the like.
        vgpr_allocated: registers that a wavefront occupies: VGPRs and AGPRs, padded to the allocation granule.
        vgpr_spills: VGPRs spilled, per lane.
        sgpr_spills: SGPRs spilled.
        scratch_bytes: private memory per lane, in bytes.
        lds_bytes: LDS per workgroup in bytes, dynamic part included.
        lds_limit_bytes: LDS that one workgroup may have on this architecture.
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
    """What to give up for more wavefronts on a SIMD.

    Attributes:
        resource: ``vgpr``, ``agpr``, ``sgpr``, ``lds``, ``num_warps``, or what ``waves_per_eu`` padded:
            ``vgpr_padding``, ``sgpr_padding``.
        reduce_by: how much less is needed: registers, bytes or wavefronts a workgroup.
        waves_per_simd: occupancy then.
        also: further resources that must shrink at the same time, with the amounts.
    """

    resource: str
    reduce_by: int
    waves_per_simd: float
    also: dict[str, int] = {}


class Occupancy(msgspec.Struct, frozen=True):
    """How many wavefronts of the kernel one SIMD holds at a time.

    Attributes:
        waves_per_simd: achievable wavefronts per SIMD (may be fractional: workgroups of one wavefront on four SIMDs).
        max_waves_per_simd: the hardware's wave slots.
        workgroups_per_cu: workgroups resident in a CU (in a WGP on RDNA in WGP mode).
        limiter: the resource that sets it. ``launch_bounds``: registers that ``waves_per_eu`` padded; with no
            wavefronts at all, a workgroup that is too large.
        limits: resource to the wavefronts per SIMD which it alone would allow.
        next_step: cheapest change that raises it; absent at the maximum.
        method: ``hardware``, ``llvm`` or ``guide``.
    """

    waves_per_simd: float
    max_waves_per_simd: int
    workgroups_per_cu: int
    limiter: Limiter
    limits: dict[str, float]
    next_step: NextStep | UnsetType = UNSET
    method: str = "hardware"


class WaitDistance(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wait of a loop in its steady state, and the memory instruction that it waits for.

    Attributes:
        wait: as written, for example ``vmcnt(0)``.
        waits_for: mnemonic of the youngest memory instruction that must have finished; absent when none was in flight.
        instructions: instructions issued between the two.
        cycles: issue cycles between the two, which hide latency; ``None`` where the architecture's issue is not known.
        matrix: matrix instructions between the two.
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
        depth: nesting, 1 is outermost.
        lines: file name to ``[first, last]`` source line inside the loop.
        instructions: mnemonic (without encoding suffix) to static count in the loop, inner loops included.
        classes: instruction class to static count.
        kinds: what instructions do inside their class to static count, plain ones left out: ``conversion``,
            ``acc_copy`` (between VGPRs and AGPRs), ``transcendental``, ``packed``, ``load``, ``atomic``, ...
        widths: memory path to bytes a lane at one address to static count: ``{"global_load": {"16": 8}}``; a
            ``ds_read2_b64`` counts as two of 8.
        waits: wait as written, for example ``vmcnt(0)``, to count.
        bytes_per_wave: memory path (``global_load``, ``global_to_lds``, ``lds_store``, ...) to bytes one wavefront
            moves per iteration.
        spill_accesses: scratch instructions in the loop.
        innermost: no loop inside this one.
        matrix: matrix instruction shape such as ``32x32x8`` to count.
        flops: floating-point operations of the loop's matrix instructions, for one wavefront.
        wait_distances: every wait outside inner loops, in program order.
        hot: the loop that the report calls the hot one.
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
    """Where the most registers of one file hold a value that is still needed.

    Attributes:
        live: registers live there. The compiler allocates at least as many.
        location: source line of the instruction.
        instruction: as written in the assembly.
        lines: ``file:line`` to the most registers live at one of its instructions, the largest first.
        held: at the peak, the line that wrote a value (``before``: an argument, or made later in a loop) to the
            registers that its values take, the largest first. What is to go must come from here.
        to_next_step: registers that would have to go for one more wavefront on a SIMD.
    """

    live: int
    location: Location | None = None
    instruction: str = ""
    lines: dict[str, int] = {}
    held: dict[str, int] = {}
    to_next_step: int | None = None


class PassChange(msgspec.Struct, frozen=True, rename={"pass_": "pass"}):
    """What one compiler pass changed.

    Attributes:
        order: position among all passes, from 0.
        pass_: the pass as on MLIR's command line.
        stage: stage of the compiler: ``ttir``, ``ttgir``, ``llir``.
        changed: metric to its values before and after: LDS in bytes, numbers of operations, vector widths in bytes.
    """

    order: int
    pass_: str
    stage: str | None
    changed: dict[str, tuple[int | None, int | None]]


Bound = Literal[
    "matrix", "vector", "lds", "memory latency", "memory bandwidth", "barrier", "issue", "scratch", "launch"
]  # fmt: skip


class LoopPrediction(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the performance model says about one loop.

    Attributes:
        header: label of the loop's first block, as in :class:`LoopFacts`.
        lines: file name to ``[first, last]`` source line.
        trips: iterations of a wavefront each time that it enters the loop; a mean where workgroups differ.
        trips_known: whether that follows from the launch; if not it is assumed.
        trips_from: how the number of iterations was found, in words.
        entries: how often a wavefront enters the loop: iterations of the loops around it.
        cycles_per_iteration: cycles from one iteration of a wavefront to its next, inner loops left out.
        causes: cause (as in :data:`Bound`) to its cycles of an iteration; they add up to ``cycles_per_iteration``.
        by_line: ``file:line`` to the cycles of an iteration that a wavefront spends there; they add up likewise.
        matrix_share: share of an iteration in which the SIMD's matrix unit is busy.
        steady: whether iterations had become equally long when the simulation ended.
        missing: what the iterations depend on: an argument, or ``values of`` a tensor; ``--value`` supplies it.
        elements_per_iteration: how many elements of the axis of unknown extent an iteration does, where that is known.
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
        """Cycles for one more element of the axis of unknown extent."""
        return self.cycles_per_iteration / self.elements_per_iteration if self.elements_per_iteration else None


class OccupancyWorth(msgspec.Struct, frozen=True):
    """What more occupancy would be worth, by the performance model.

    Attributes:
        workgroups_per_cu: one more than now.
        time_us: of the launch with that many, all else alike; ``None`` when the grid has no more workgroups for it.
    """

    workgroups_per_cu: int
    time_us: float | None


class Prediction(msgspec.Struct, frozen=True):
    """The performance model's result for one kernel and launch. Everything is modelled, nothing measured.

    Attributes:
        time_us: time of one launch in microseconds; ``None`` where grid, CUs or iterations of loops are not known.
        low_us, high_us: what the time is likely to lie between, where 95 % of published times do.
        cycles: of the CU that works longest, without launch overhead; ``None``: how often a loop iterates is not known.
        bound: the cause with the largest share.
        shares: cause to its share of the time, 0 to 1; they add up to 1. Where it is not known how often a loop
            iterates they are those of the assumed iterations.
        loops: every loop, outer before inner.
        speed_of_light_us: the least time for the same work: matrix operations at their peak, or bytes that must come
            from memory at its peak.
        speed_of_light_percent: ``speed_of_light_us`` of ``time_us``.
        traffic: level (``l2``, ``mall``, ``hbm``) to the bytes that it is asked for in the whole launch, and
            ``scratch``: those of spilled registers and private arrays; ``written_back``: others' lines that had to
            leave the last-level cache before; ``passing``: of ``hbm``, what takes no line there, by cache modifiers.
        workgroups: workgroups of the launch.
        workgroups_per_cu: workgroups that run on a CU at the same time.
        waves_per_simd: wavefronts that run on a SIMD at the same time.
        rounds: workgroups that the busiest place (a CU's share of ``workgroups_per_cu``) does one after the other.
        clock_mhz: clock that the time was worked out with.
        condition: that the time is of: ``warm``, ``flushed``, ``flushed-dirty`` or ``graph``.
        events_us: what of the time two events around the launch add, in microseconds; ``None`` where there is no time.
        occupancy_worth: what one more workgroup on each CU would change, where that was worked out.
        roofline: operations and bytes by memory level beside the GPU's peaks, where they are known.
        assumptions, notes: what was not known and assumed, and what else is worth knowing; one sentence each.
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
    """The configuration that stands for an autotuner's choice: the fastest one by the performance model.

    Attributes:
        config: as the autotuner writes it.
        listed: number of configurations that it chooses among.
        timed: number of these with a predicted time.
        spread: predicted time of the slowest one over that of this one.
        tied: number of configurations that the model cannot distinguish from this one, itself included.
        low_us: lower end of their predicted times.
        left_out: reason to the number of configurations without a time.
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
        """``best of 7 configurations by the model; 1.9x between best and worst; 5 within the model's error``."""
        words = ["the only configuration with a predicted time"]
        if self.timed > 1:
            words = [f"best of {self.timed} configurations by the model", f"{self.spread:.2g}x between best and worst"]
            words += [f"{self.tied} within the model's error"] if self.tied > 1 else []
        if self.left_out:
            others = ", ".join(f"{count} {reason}" for reason, count in self.left_out.items())
            words.append(f"of {self.listed} listed: {others}")
        return "; ".join(words)


class CureTrials(msgspec.Struct, frozen=True):
    """How many fixes were compiled for a kernel's costly findings.

    Attributes:
        compiled: changes that were compiled, whether or not they helped.
        remaining: changes that were left out when the time was over.
    """

    compiled: int
    remaining: int = 0


class OtherRelease(msgspec.Struct, frozen=True):
    """The same kernel and launch, compiled by another release of Triton.

    Attributes:
        triton: the release.
        time_us, low_us, high_us: predicted time and where it is likely to lie; ``None`` where it is not known.
        vgpr_spills: VGPRs spilled; ``None`` where that is not known.
        error: why it does not compile there; absent where it does.
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
        arch: ``gfx942`` and the like.
        product: the GPU meant, when one was named or the architecture has a usual one.
        source: where the kernel is defined.
        triton: version of the Triton that compiled it.
        compiler: another compiler's identification, when it was not Triton.
        specialization: what was compiled.
        launch: ``{"grid": [x, y, z]}`` and what else is known of the launch.
        job: name of the call that makes this launch and others, see :class:`JobSummary`; absent for a single launch.
        resources, occupancy, loops, instructions: facts.
        pressure: register file (``vgpr``, ``agpr``, ``sgpr``) to where most of its registers are live.
        model: the performance model's result, absent when the kernel could not be modelled or cannot be launched.
        findings: sorted by severity, then rule, then line.
        causes: the findings grouped by cause, the cause with the largest gain first.
        cure_trials: how many fixes were compiled; absent where none was wanted or needed.
        suppressed: findings that ``# kprof: ignore[...]`` comments silence.
        rules: which rules were checked, which not and why; absent where none were asked.
        notes: why something is null; one sentence each.
        compile_seconds: wall time of the compile, absent when nothing was compiled.
        cached: the compile was served from kprof's cache.
        passes: with ``--passes``, each pass: its order, name, stage, and metric to ``[before, after]`` where changed.
        coverage: share of instructions that the reader knows, 0 to 1; ``None`` when none of them were seen.
        file: of a directory of compiled kernels the file that holds it, below that directory.
        unseen: what of the code could not be looked at and why, one sentence; absent when all of it was.
        unrecorded: what a recorded program called and nothing ran for, in one sentence: launches may be missing.
        measured: what measurements say of it; absent when none were given.
        autotuned: how this configuration was chosen among those of an autotuner; absent where none was.
        advised: the best change that a search has found for this kernel and launch; absent where nobody has searched.
        other_releases: what the neighbouring releases of Triton that are kept on this machine make of it; absent where
            none was asked.
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
        """Predicted time of the launch in microseconds; ``None`` where it is not known."""
        return None if self.model is UNSET else self.model.time_us

    @property
    def tflops(self) -> float | None:
        """Achieved operations of the roofline's ``main_kind`` in 1e12 per second; ``None`` without a predicted time."""
        if self.model is UNSET or not self.model.time_us or self.model.roofline is UNSET:
            return None
        kind = self.model.roofline.main_kind
        return None if kind is None else self.model.roofline.flops[kind] / self.model.time_us / 1e6

    def __repr__(self) -> str:
        """Name, GPU and predicted time: a document has pages of fields."""
        where = self.product if isinstance(self.product, str) else self.arch
        time = "time not known" if self.time_us is None else duration(self.time_us)
        return f"<KernelReport {self.name} on {where}: {time}, {len(self.findings)} findings>"


class Verdict(msgspec.Struct, frozen=True):
    """The last line: what the exit code says, in words.

    Attributes:
        status: ``ok`` (exit 0), ``regression`` (1) or ``cannot_tell`` (2).
        summary: one line.
    """

    status: Literal["ok", "regression", "cannot_tell"]
    summary: str


class JobSummary(msgspec.Struct, frozen=True):
    """One call that makes several launches: a kernel and its parts.

    Attributes:
        name: the kernel, as the launches' ``job``.
        arch: architecture.
        launches: positions of the launches in the report's ``kernels``, in the order in which the call makes them.
        product: the GPU, where one is known.
        time_us: sum of the launches' predicted times in microseconds; ``None`` where one of them has none.
        low_us, high_us: sums of the ends of their ranges; ``None`` likewise.
    """

    name: str
    arch: str
    launches: list[int]
    product: str | UnsetType = UNSET
    time_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None


class Report(msgspec.Struct, frozen=True):
    """The whole document: one entry a kernel, specialisation and architecture in ``kernels``.

    Attributes:
        kprof: version of kprof that wrote it.
        verdict: the result as a whole.
        schema: always ``kprof.report/1``.
        jobs: calls that make several launches, with their total times.
        notes: what concerns the run as a whole: inputs that were skipped and why.
    """

    kprof: str
    kernels: list[KernelReport]
    verdict: Verdict
    schema: Literal["kprof.report/1"] = SCHEMA
    jobs: list[JobSummary] = []
    notes: list[str] = []
