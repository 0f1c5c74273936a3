"""What a measurement said of a kernel, as part of ``kprof.report/1`` and ``kprof.advice/1``."""

from typing import Literal

import msgspec

Standing = Literal["confirmed", "refuted", "not measured"]
Confidence = Literal["sure", "likely", "doubtful"]
Verdict = Literal["confirmed", "refuted", "cannot tell"]


class Key(msgspec.Struct, frozen=True):
    """One thing that a compiled and a measured kernel can be told apart by.

    Attributes:
        name: ``name``, ``num_warps``, ``lds_bytes``, ``vgprs``, ``source`` (the hash of Inductor's file),
            ``instructions`` or the first that differs.
        computed: of the compiled kernel.
        measured: as the profiler wrote it.
        agrees: the two can be of one program, rounding by the tool allowed for.
    """

    name: str
    computed: str | int
    measured: str | int
    agrees: bool


class Match(msgspec.Struct, frozen=True):
    """The measured kernel that the compiled one is taken to be.

    Attributes:
        source: ``counters``, ``trace`` or ``thread trace``, whose match is sure when every instruction is the same.
        kernel: normalised name in the measurement.
        keys: what was compared; what either side does not tell is not there.
        confidence: ``sure``: name, wavefronts and LDS agree, and the registers where recorded; ``likely``: nothing
            of wavefronts and LDS differs, but one is not recorded or the registers differ; ``doubtful``: only the name
            agrees, or the LDS differs. Only a sure match confirms or refutes anything.
        dispatches: runs that it has.
        others: runs of the same name with another workgroup size, LDS or registers, which are left out.
    """

    source: Literal["counters", "trace", "thread trace"]
    kernel: str
    keys: list[Key]
    confidence: Confidence
    dispatches: int
    others: int = 0


class Fact(msgspec.Struct, frozen=True):
    """One measured number.

    Attributes:
        id: metric as in ``kprof counters metrics``, or ``time_share``, ``mean_ns``, ``roofline_share``,
            ``waves_per_simd``, ``workgroups``, ``scratch_bytes``.
        value: in the unit.
        computed: what the compiled kernel lets one expect, where there is such a thing.
        remark: what it means, when it stands out.
    """

    id: str
    title: str
    value: float
    unit: str
    computed: float | None = None
    remark: str = ""


class Judgement(msgspec.Struct, frozen=True):
    """What the measurement says of one finding.

    Attributes:
        finding: index into the kernel's findings as the static analysis ranks them.
        rule, name, severity, message, place: the finding's own.
        standing: ``confirmed``: what it warns of was measured; ``refuted``: it was measured and is not there, or
            something else is what limits the kernel; ``not measured``: no number decides.
        words: the numbers, and why they decide.
        numbers: metric to value, the ones that were used.
        collect: counters that would decide.
    """

    finding: int
    rule: str
    name: str
    severity: str
    message: str
    place: str
    standing: Standing
    words: str
    numbers: dict[str, float] = {}
    collect: list[str] = []


class ModelComparison(msgspec.Struct, frozen=True):
    """One quantity, measured and modelled.

    Attributes:
        id: ``time_us``, ``cycles``, ``clock_mhz``, ``hbm_bytes``, ``l2_bytes`` or ``waves_per_simd``.
        measured: in the unit, mean over the dispatches.
        modelled: of :attr:`kprof.document.KernelReport.model`.
        low, high: what the model expects measurements to lie between; ``None`` where it has no range.
        standing: ``confirmed``: measured within that range; ``refuted``: outside; ``cannot tell``: what ran may be
            another build or another launch, or there is no range.
        words: why.
    """

    id: str
    title: str
    unit: str
    measured: float
    modelled: float
    low: float | None
    high: float | None
    standing: Verdict
    words: str

    @property
    def ratio(self) -> float | None:
        """Modelled over measured."""
        return self.modelled / self.measured if self.measured else None


class LineComparison(msgspec.Struct, frozen=True):
    """Cycles of an iteration that a wavefront spends on one source line.

    Attributes:
        place: ``file:line``; ``?`` for instructions without one.
        measured: latency, and idle cycles where they are recorded.
        stalled: of these, those in which nothing could issue; ``None`` when the trace does not tell.
        modelled: ``None`` without a prediction for the line.
    """

    place: str
    measured: float
    stalled: float | None
    modelled: float | None


class LoopComparison(msgspec.Struct, frozen=True):
    """An iteration of one loop, traced and modelled; inner loops are left out.

    Attributes:
        header: label of the loop's first block.
        lines: file name to ``[first, last]`` source line.
        iterations: iterations of all traced wavefronts.
        measured: cycles from one iteration of a wavefront to its next.
        stalled: of these, those in which nothing could issue; ``None`` when the trace does not tell.
        modelled: ``None`` without a prediction.
        by_line: the costliest lines.
    """

    header: str
    lines: dict[str, tuple[int, int]]
    iterations: int
    measured: float
    stalled: float | None
    modelled: float | None
    by_line: list[LineComparison] = []

    @property
    def ratio(self) -> float | None:
        """Modelled over measured."""
        return self.modelled / self.measured if self.measured and self.modelled is not None else None


class Measured(msgspec.Struct, frozen=True):
    """Everything that measurements add to a kernel's analysis.

    Attributes:
        gpu: the GPU that was measured, or that peaks were taken of.
        matches: the joined kernels, at most one from each kind of measurement.
        judgements: every finding, the confirmed ones first and the refuted ones last, worst severity first.
        facts: measured numbers, those without a finding too.
        collect: options for rocprofv3 that would collect what is missing, one run of the program each.
        notes: what could not be determined, and why.
        comparisons: what was measured beside what is modelled, where both are there.
        loops: loops of a thread trace whose instructions are those of the kernel.
    """

    gpu: str
    matches: list[Match]
    judgements: list[Judgement]
    facts: list[Fact]
    collect: list[str] = []
    notes: list[str] = []
    comparisons: list[ModelComparison] = []
    loops: list[LoopComparison] = []

    def count(self, standing: Standing) -> int:
        """Findings of this standing."""
        return sum(judgement.standing == standing for judgement in self.judgements)
