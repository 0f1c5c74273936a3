"""Predict the time of each launch and operator of a recording; equal calls are predicted only once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from kprof.captures.model import (
    Capture,
    CapturedKernel,
    CapturedLaunch,
    CapturedOperator,
    CapturedTuning,
    ModelScope,
    with_candidates,
)
from kprof.condition import WARM, Caches, Condition
from kprof.document import AutotunedChoice
from kprof.errors import KprofError
from kprof.findings import Finding
from kprof.hardware.machine import Product, load
from kprof.output.progress import step
from kprof.targets.captured import loaded
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.autotuned import choose, chosen
from kprof_analyzers.model.caches_before import events_us, hidden_cycles, interval_us, written_back
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.pipeline import analyze
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product, matrix_us
from kprof_analyzers.whole_step.efficiency import empty_launch_us, indexed_us, operator_time
from kprof_analyzers.whole_step.kinds import kind_of
from kprof_analyzers.whole_step.operator_work import bytes_of, shapes_text, work_of_call

HOST = "host"
"""Bound of a call that takes as long as the host needs to read a value."""
READ_BYTES = 1 << 16
"""Maximum bytes of a copy to the host that is assumed to take as long as reading one value.

The time of larger copies is unknown, because it depends on the link and on the host's memory.
"""
_READ_RANGE = 0.5, 2.0
"""Likely range of the time in which the host reads a value, as multiples of the predicted time."""


@dataclass(frozen=True)
class TimedCall:
    """Predicted time of one launch or operator call in microseconds; equal calls share one object.

    Attributes:
        name, shapes, kind, bound: see :class:`kprof_analyzers.whole_step.document.ProfiledRow`.
        us, low_us, high_us: time and its likely range; ``None`` if it cannot be determined.
        why: reason why there is no time.
        finding: the costliest finding of a Triton kernel, its cost in microseconds, and whether that is an upper bound.
        fix: how to resolve the finding: a knob's value or a change of the code; "" if unknown.
        assumed: assumptions of the prediction, one sentence each.
        launch_us: time of an empty launch; 0 if unknown.
        memory_bytes: bytes moved from or to memory, except those that allocate no line of the last-level cache.
        limit_us: minimum time of the same work at the GPU's peaks; ``None`` if unknown.
        host_us: part of the time in which the host waits for values that it reads.
        matrix_us: minimum time of the products of 16-bit and narrower numbers at the matrix units' peak.
        choice: the configuration that the launch's autotuner is expected to choose; ``None`` without an autotuner.
    """

    name: str
    shapes: str
    kind: str
    us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    bound: str = ""
    why: str = ""
    finding: tuple[str, float, bool] | None = None
    fix: str = ""
    assumed: tuple[str, ...] = ()
    launch_us: float = 0.0
    memory_bytes: float = 0.0
    limit_us: float | None = None
    host_us: float = 0.0
    matrix_us: float = 0.0
    choice: AutotunedChoice | None = None

    @property
    def limited_by(self) -> str:
        """Group of the call: ``triton``, ``host``, ``matrix``, ``launch`` or ``memory``.

        The predicted times of calls in one group are wrong by similar factors.
        """
        if self.kind == "triton":
            return self.kind
        if self.bound == HOST:
            return self.bound
        return "matrix" if self.bound.startswith("matrix") else "launch" if self.bound == "launch" else "memory"

    @property
    def short(self) -> bool:
        """Whether the call takes at most twice as long as an empty launch."""
        return self.us is not None and self.us <= 2 * self.launch_us


@dataclass(frozen=True)
class StepCall:
    """One launch or operator call at its position in the step.

    Attributes:
        timed: predicted time of the call.
        scope: position in the model; ``None`` if it was not recorded.
        process: index of the process.
        stream: the GPU stream on which it runs.
        made: the recorded launch or operator call.
        copy: index of the repetition if the call belongs to a repeated layer; 0 for the recorded call itself.
        stretched: whether the time was extrapolated to more layers than were recorded.
    """

    timed: TimedCall
    scope: ModelScope | None
    process: int
    stream: int
    made: CapturedLaunch | CapturedOperator
    copy: int = 0
    stretched: bool = False

    @property
    def compiled(self) -> bool:
        """Whether the call is made by code that ``torch.compile`` generated."""
        return self.scope is not None and self.scope.compiled


def timed_calls(
    capture: Capture,
    operations: Iterable[CapturedLaunch | CapturedOperator],
    product: Product,
    condition: Condition = WARM,
) -> Iterator[StepCall]:
    """Yield each launch and call in order, with its predicted time on a GPU.

    Args:
        capture: the capture.
        operations: launches and calls of the capture.
        product: the GPU.
        condition: timing condition to predict. Between two runs of the program, all memory that it uses is touched.
            Caches are flushed once before the program, not before each launch; see :func:`condition_time`.
    """
    caches: Caches = "kept" if condition.caches == "kept" else "clean"
    condition = replace(condition, caches=caches, events=False, between=capture.peak_bytes)
    times = _Times({kernel.id: kernel for kernel in capture.kernels}, product, condition)
    with step("predicting calls", capture.launch_count or None, "launches") as progress:
        for made in operations:
            if isinstance(made, CapturedLaunch):
                progress.done += 1
                yield StepCall(times.launch(made), made.scope, made.process, made.stream, made)
            else:
                yield StepCall(times.operator(made), made.scope, made.process, 0, made)


@dataclass(frozen=True)
class ConditionTime:
    """Time that a timing condition adds to a whole program, in microseconds.

    Attributes:
        us: sum of the times of events, of write-backs after a flush, of intervals until the GPU is ready for the next
            launch, and of waits of the GPU for the host.
        hidden_us: part of ``us`` that may pass while the program computes.
        host_us: part of ``us`` in which the GPU waits for the host.
    """

    us: float
    hidden_us: float
    host_us: float = 0.0

    @property
    def low_us(self) -> float:
        """Lower end of the likely range of ``us``."""
        return self.us - self.hidden_us - self.host_us


def condition_time(condition: Condition, product: Product, calls: Iterable[StepCall]) -> ConditionTime:
    """Return the time that a timing condition adds to a whole program: events, and write-backs after a flush.

    If the time includes events, it also includes two waits. One is the interval after a short Triton kernel until the
    GPU is ready for the next kernel. The other is the amount by which the host's time, for reads and for calls that are
    not compiled, exceeds the GPU's time. The host begins while the GPU still flushes the last-level cache, which takes
    at least as long as writing it.

    Args:
        condition: actions of the timing harness before each run.
        product: the GPU.
        calls: all calls of the program.
    """
    arch = load(product.arch)
    machine = machine_of(arch, product, arch.wavefront_size)
    moved = waiting = whole = host = 0.0
    for call in calls:
        host += call.timed.host_us
        if not call.compiled and call.timed.bound != HOST:
            host += machine.figures["host_call_ns"] / 1e3
        moved += call.timed.memory_bytes
        whole += call.timed.us or 0.0
        if call.timed.kind == "triton" and call.timed.us is not None:
            waiting += interval_us(condition, machine, call.timed.us)
    rate = machine.level_bytes.get("hbm")
    written = hidden = 0.0
    if rate is not None and machine.units is not None:
        a_microsecond = rate * machine.units * machine.clock_mhz
        written = written_back(condition, machine, moved) / a_microsecond
        hidden = hidden_cycles(written, whole + written, moved / a_microsecond)
        host -= machine.last_level_bytes / a_microsecond
    host = max(0.0, host - whole - written - waiting) if condition.events else 0.0
    return ConditionTime(events_us(condition, machine) + written + waiting + host, hidden, host)


class _Times:
    def __init__(self, kernels: Mapping[str, CapturedKernel], product: Product, condition: Condition) -> None:
        self._choices: dict[int, AutotunedChoice | None] = {}
        self._kernels, self._product, self._condition = kernels, product, condition
        self._limits = limits_of_product(product)
        self._launch_us = empty_launch_us(self._limits.gpu)
        self._read_us = load(product.arch).model["host_read_ns"] / 1e3
        self._known: dict[Any, TimedCall] = {}

    def operator(self, call: CapturedOperator) -> TimedCall:
        key = (call.name, repr(call.inputs), call.from_host, call.to_host)
        if key not in self._known:
            # The program was recorded without a GPU, so torch ran its CPU implementation of attention.
            self._known[key] = replace(self._operator(call), name=call.name.replace("_for_cpu", ""))
        return self._known[key]

    def _operator(self, call: CapturedOperator) -> TimedCall:
        shapes = shapes_text(call.inputs) or shapes_text(call.outputs)
        kind = kind_of(call.name)
        if call.from_host:
            return TimedCall(call.name, shapes, kind, why="copies from the host's memory")
        if call.to_host:
            return self._read(call.name, shapes, bytes_of(call.outputs) or bytes_of(call.inputs))
        found = work_of_call(call)
        if found is None:
            why = "its work does not follow from its arguments" if kind else "kprof does not know what it does"
            return TimedCall(call.name, shapes, kind, why=why)
        time = operator_time(
            found.kind, found.work, self._limits, found.tiles, passes=found.passes, launches=found.launches
        )
        kind = found.kind
        if time is None:
            return TimedCall(call.name, shapes, kind, why=f"no peak of {self._product.name} for its type")
        assumed = (found.work.assumed,) if found.work.assumed else ()
        more = max(0.0, indexed_us(found.indexed, self._product) + self._launch_us - time.us)
        waits = found.host_reads * self._read_us
        if waits:
            assumed = (*assumed, self._reading())
        low, high = _READ_RANGE
        times = time.us + more + waits, time.low_us + waits * low, time.high_us + 2 * more + waits * high
        return TimedCall(
            call.name,
            shapes,
            kind,
            *times,
            time.bound,
            assumed=assumed,
            launch_us=self._launch_us,
            memory_bytes=found.work.bytes or 0.0,
            host_us=waits,
            matrix_us=matrix_us(found.work, self._limits),
        )

    def _read(self, name: str, shapes: str, moved: int) -> TimedCall:
        """Return the time of a copy to the host's memory, for which the host waits until it has the value."""
        kind = "copy to the host"
        if moved > READ_BYTES:
            return TimedCall(name, shapes, kind, why=f"copies {moved:,} B to the host's memory")
        us, (low, high) = self._read_us, _READ_RANGE
        assumed = (self._reading(),)
        return TimedCall(name, shapes, kind, us, us * low, us * high, HOST, assumed=assumed, host_us=us)

    def _reading(self) -> str:
        return f"the host needs {self._read_us:g} µs to read a value from the GPU"

    def launch(self, launch: CapturedLaunch) -> TimedCall:
        choosing = None if launch.tuning is None else id(launch.tuning.choosing)
        key = (launch.kernel, launch.grid, repr(launch.arguments), choosing)
        if key not in self._known:
            self._known[key] = self._launch(launch)
        return self._known[key]

    def _launch(self, launch: CapturedLaunch) -> TimedCall:
        kernel = self._kernels.get(launch.kernel)
        shapes = f"grid {'x'.join(map(str, launch.grid))}"
        if kernel is None:
            return TimedCall("", shapes, "triton", why="the recording ended before the kernel was compiled")
        asked = replace(kernel, grids={launch.grid: 1}, arguments=launch.arguments, product=self._product)
        asked = with_candidates(asked, launch.tuning, self._kernels)
        try:
            standing = self._chosen(loaded(asked), launch.tuning)
            report = analyze(replace(standing, condition=self._condition), model=True)
        except KprofError as error:
            reason = "; ".join(filter(None, (error.message.removeprefix("does not compile: "), error.hint)))
            return TimedCall(kernel.name, shapes, "triton", why=f"not compiled: {reason}")
        model = report.model
        if model is UNSET or model.time_us is None or model.low_us is None or model.high_us is None:
            why = "its loops depend on values that are not known" if model is not UNSET else "it could not be modelled"
            return TimedCall(kernel.name, shapes, "triton", why=why)
        dear = [one for one in report.findings if one.gain is not None]
        worst = max(dear, key=lambda one: one.gain.us if one.gain else 0.0, default=None)
        finding = (f"{worst.rule} {worst.name}", worst.gain.us, worst.gain.at_most) if worst and worst.gain else None
        times = model.time_us, model.low_us, model.high_us
        launch_us = (self._product.launch_overhead_ns or 0.0) / 1e3
        choice = None if report.autotuned is UNSET else report.autotuned
        bound, light = str(model.bound), model.speed_of_light_us or 0.0
        return TimedCall(
            kernel.name, shapes, "triton", *times, bound, finding=finding, assumed=tuple(model.assumptions),
            launch_us=launch_us, choice=choice, fix=_fix_of(worst),
            memory_bytes=model.traffic.get("hbm", 0.0) - model.traffic.get("passing", 0.0),
            limit_us=model.speed_of_light_us, matrix_us=light if model.bound == "matrix" else 0.0,
        )  # fmt: skip

    def _chosen(self, kernel: LoadedKernel, tuning: CapturedTuning | None) -> LoadedKernel:
        """Return the kernel in the configuration that is predicted to win its autotuning.

        All launches with the same autotuner key get the same configuration.
        """
        if tuning is None or not kernel.listed:
            return kernel
        choosing = id(tuning.choosing)
        if choosing not in self._choices:
            listed = kernel.listed_first or kernel.listed
            self._choices[choosing] = choose(listed, self._product, self._condition)
        choice = self._choices[choosing]
        return kernel if choice is None else chosen(kernel, choice)


def _fix_of(finding: Finding | None) -> str:
    """Return a finding's fix: the first knob that it proposes, as ``num_stages 1 → 2``, or else the code change."""
    if finding is None:
        return ""
    for advice in finding.advice:
        return f"{advice.knob} {advice.from_} → {advice.to}"
    return "" if finding.fix is UNSET else finding.fix
