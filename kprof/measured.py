"""Measurements of a kernel compared with its report, as part of ``kprof.report/1`` and ``kprof.advice/1``."""

from typing import Literal

import msgspec

Standing = Literal["confirmed", "refuted", "not measured"]
Confidence = Literal["sure", "likely", "doubtful"]
Verdict = Literal["confirmed", "refuted", "cannot tell"]


class Key(msgspec.Struct, frozen=True):
    """Property of a measured kernel and a compiled kernel, compared to decide whether both are the same program.

    Attributes:
        name: ``name``, ``num_warps``, ``lds_bytes``, ``vgprs``, ``source`` (the hash of Inductor's file),
            ``instructions``, or the first instruction that differs.
        computed: value of the compiled kernel.
        measured: value that the profiler wrote.
        agrees: True if both values can belong to the same program, allowing for the profiler's rounding.
    """

    name: str
    computed: str | int
    measured: str | int
    agrees: bool


class Match(msgspec.Struct, frozen=True):
    """The measured kernel that was matched with the compiled one.

    Attributes:
        source: ``counters``, ``trace`` or ``thread trace``; a thread trace is a sure match if every instruction is the
            same.
        kernel: normalised name in the measurement.
        keys: properties that were compared; a property that either side does not record is not listed.
        confidence: ``sure``: name, wavefronts, LDS and (if recorded) registers agree. ``likely``: wavefronts and LDS do
            not differ, but one of them is not recorded or the registers differ. ``doubtful``: only the name agrees, or
            the LDS differs. Only a sure match confirms or refutes findings.
        dispatches: number of dispatches of the matched kernel.
        others: number of dispatches that were ignored, because a kernel of the same name has another workgroup size,
            LDS or register count.
    """

    source: Literal["counters", "trace", "thread trace"]
    kernel: str
    keys: list[Key]
    confidence: Confidence
    dispatches: int
    others: int = 0


class Fact(msgspec.Struct, frozen=True):
    """Measured figure of a kernel, such as a metric that is computed from counters.

    Attributes:
        id: metric as in ``kprof counters metrics``, or ``time_share``, ``mean_ns``, ``roofline_share``,
            ``waves_per_simd``, ``workgroups``, ``scratch_bytes``.
        value: the number, in ``unit``.
        computed: value that follows from the compiled kernel, if any.
        remark: explanation, if the number is unusual.
    """

    id: str
    title: str
    value: float
    unit: str
    computed: float | None = None
    remark: str = ""


class Judgement(msgspec.Struct, frozen=True):
    """Verdict of the measurement on one finding.

    Attributes:
        finding: position of the finding in the order of the static analysis.
        rule, name, severity, message, place: copied from the finding.
        standing: ``confirmed``: the problem was measured. ``refuted``: the measurement shows that the problem is absent
            or that something else limits the kernel. ``not measured``: no measured number decides.
        words: the measured numbers, and why they lead to the verdict.
        numbers: measured values by metric, for the metrics that were used.
        collect: counters that would lead to a verdict, if collected.
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
    """Measured and modelled value of one quantity, such as the time of a launch.

    Attributes:
        id: ``time_us``, ``cycles``, ``clock_mhz``, ``hbm_bytes``, ``l2_bytes`` or ``waves_per_simd``.
        measured: value in ``unit``, mean over the dispatches.
        modelled: value from :attr:`kprof.document.KernelReport.model`.
        low, high: range in which the model expects measurements; ``None`` if the model has no range.
        standing: ``confirmed``: the measured value is in that range; ``refuted``: outside; ``cannot tell``: the
            dispatches may be of another build or launch, or there is no range.
        words: reason for the verdict.
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
        """Modelled value divided by measured value."""
        return self.modelled / self.measured if self.measured else None


class LineComparison(msgspec.Struct, frozen=True):
    """Measured and modelled cycles per iteration that a wavefront spends on one source line.

    Attributes:
        place: ``file:line``; ``?`` for instructions without a source line.
        measured: the line's latency, plus its idle cycles if they are recorded.
        stalled: part of the measured cycles in which no instruction could be issued; ``None`` if the trace does not
            record it.
        modelled: predicted cycles; ``None`` without a prediction for the line.
    """

    place: str
    measured: float
    stalled: float | None
    modelled: float | None


class LoopComparison(msgspec.Struct, frozen=True):
    """Measured and modelled cycles of one iteration of a loop, without inner loops.

    Attributes:
        header: label of the loop's first block.
        lines: ``[first, last]`` source line by file name.
        iterations: number of iterations over all traced wavefronts.
        measured: cycles from the start of one iteration of a wavefront to the start of the next.
        stalled: part of these cycles in which nothing could issue; ``None`` when the trace does not record it.
        modelled: predicted cycles; ``None`` without a prediction.
        by_line: the lines with the most cycles.
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
        """Modelled cycles divided by measured cycles."""
        return self.modelled / self.measured if self.measured and self.modelled is not None else None


class Measured(msgspec.Struct, frozen=True):
    """All results of measurements for one kernel.

    Attributes:
        gpu: the GPU that was measured, or whose peaks were used.
        matches: matched kernels, at most one from each kind of measurement.
        judgements: one verdict per finding: confirmed findings first, refuted ones last, worst severity first.
        facts: measured numbers, including those without a finding.
        collect: options for rocprofv3 that collect the missing counters; each entry needs one run of the program.
        notes: sentences on what could not be determined, and why.
        comparisons: quantities that were both measured and modelled.
        loops: loops of a thread trace, if its instructions equal the kernel's.
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
        """Return the number of findings with this standing."""
        return sum(judgement.standing == standing for judgement in self.judgements)
