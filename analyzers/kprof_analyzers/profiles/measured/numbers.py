"""Collect the measured numbers of one kernel, such as durations, counter metrics and occupancy, by name."""

from collections.abc import Collection
from dataclasses import dataclass, field
from math import prod
from statistics import fmean
from typing import TYPE_CHECKING, Any

from kprof.document import KernelReport, Occupancy
from kprof.errors import KprofError
from kprof.inputs.completeness import KERNEL_TIMES, cannot_tell
from kprof_analyzers.profiles.counters.kernels import KernelCounters, kernels
from kprof_analyzers.profiles.counters.machine import MeasuredGpu
from kprof_analyzers.profiles.counters.metrics import Metric, metrics
from kprof_analyzers.profiles.counters.roofline import Point, place, roofs
from kprof_analyzers.profiles.measured.selection import DispatchSelection

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data
    from kprof.inputs.torch_profiler import LinkedTrace


@dataclass
class MeasuredNumbers:
    """Measured numbers of one kernel, and the reasons for missing numbers.

    Attributes:
        values: values of metrics and of other measured facts, by name.
        metrics: derived metrics, including metrics without a value.
        point: position under the roofline.
        missing: counters that would determine a missing number, by name of the number.
        doubts: reason why a number must not be used, by name of the number.
        notes: notes on what could not be determined.
        incomplete: reason why the recording does not contain the kernel's time; "" if it does.
    """

    values: dict[str, float] = field(default_factory=dict)
    metrics: dict[str, Metric] = field(default_factory=dict)
    point: Point | None = None
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    incomplete: str = ""


def computed(report: KernelReport, gpu: MeasuredGpu | None) -> MeasuredNumbers:
    """Return the numbers that can be computed from the compiled kernel and the GPU, without any measurement."""
    numbers = MeasuredNumbers()
    if isinstance(report.occupancy, Occupancy):
        numbers.values["computed_waves_per_simd"] = report.occupancy.waves_per_simd
    if gpu is not None and gpu.cus:
        numbers.values["cus"] = float(gpu.cus)
    return numbers


def add_counters(numbers: MeasuredNumbers, data: "Data", rows: Collection[int], gpu: MeasuredGpu) -> None:
    """Add the numbers of profiled dispatches."""
    chosen = DispatchSelection(data, rows)
    missing = cannot_tell(data.issues, (KERNEL_TIMES,))
    numbers.incomplete = f"the recording is incomplete: {missing}" if missing else ""
    dispatches = chosen.dispatches
    numbers.values["dispatches"] = float(len(dispatches))
    for name in ("scratch_bytes", "workgroups"):
        known = dispatches[name].dropna() if name in dispatches else ()
        if len(known):
            # Launches of one kernel may have different grids. Use the largest one, which fills the GPU best.
            numbers.values[name] = float(max(known))
    durations = dispatches["duration_ns"].dropna()
    if len(durations):
        numbers.values["mean_ns"] = float(durations.mean())
    found = kernels(chosen, by=("name",))
    if len({one.run for one in found}) > 1:
        numbers.notes.append("the files of --counters are of several runs: only the first one's counters are used")
        found = [one for one in found if one.run == min(other.run for other in found)]
    if not found:
        numbers.notes.append("the files of --counters have no counters of this kernel, only launches")
    one = found[0] if found else KernelCounters("", len(dispatches), numbers.values.get("mean_ns"), ())
    if one.nanoseconds is not None:
        numbers.values["mean_ns"] = one.nanoseconds
    try:
        numbers.metrics = metrics(one, gpu)
    except KprofError as error:
        numbers.notes.append(error.message)
        return
    for name, metric in numbers.metrics.items():
        _take(numbers, name, metric)
    _occupancy(numbers, gpu)
    if found:
        numbers.point = place(one, gpu, roofs(gpu, data))


def _take(numbers: MeasuredNumbers, name: str, metric: Metric) -> None:
    if metric.value is None:
        numbers.missing[name] = metric.missing
        if metric.unknown:
            words = ", ".join("the kernel's time" if unknown == "ns" else unknown for unknown in metric.unknown)
            numbers.doubts[name] = f"not known: {words}"
        elif metric.flag:
            numbers.doubts[name] = metric.flag
    elif metric.flag:
        numbers.doubts[name] = f"{metric.value:g} {metric.formula.unit} is {metric.flag}"
    else:
        numbers.values[name] = metric.value


def _occupancy(numbers: MeasuredNumbers, gpu: MeasuredGpu) -> None:
    """Add the wavefronts in flight per SIMD: the number on the whole GPU divided by its number of SIMDs."""
    in_flight = numbers.values.get("wavefronts_in_flight")
    if in_flight is not None and gpu.cus:
        numbers.values["waves_per_simd"] = in_flight / (gpu.cus * gpu.arch.occupancy.simds_per_cu)
        return
    for name in ("wavefronts_in_flight", "occupancy"):
        if name in numbers.doubts:
            numbers.doubts["waves_per_simd"] = numbers.doubts[name]
    numbers.missing["waves_per_simd"] = numbers.missing.get("wavefronts_in_flight", ())


def add_traces(numbers: MeasuredNumbers, traces: "Collection[LinkedTrace]", rows: "dict[int, tuple[int, ...]]") -> None:
    """Add the numbers of traces: number of runs, duration, grid and share of all kernels' time.

    Grid and number of runs from counters are kept. The trace's duration takes precedence over that of counters, because
    counting slows a kernel down.
    """
    mine: list[Any] = []
    whole = 0
    totals: dict[str, int] = {}
    for number, trace in enumerate(traces):
        for activity in trace.activities:
            if activity.kind == "kernel":
                whole += activity.duration_ns
                totals[activity.name] = totals.get(activity.name, 0) + activity.duration_ns
        mine += [trace.activities[index] for index in rows.get(number, ())]
    spent = sum(activity.duration_ns for activity in mine)
    grids = [prod(activity.workgroups) for activity in mine if activity.workgroups is not None]
    if grids:
        numbers.values.setdefault("workgroups", float(max(grids)))
    numbers.values.setdefault("dispatches", float(len(mine)))
    numbers.values["trace_mean_ns"] = fmean(activity.duration_ns for activity in mine)
    incomplete = cannot_tell((issue for trace in traces for issue in trace.issues), (KERNEL_TIMES,))
    if incomplete:
        numbers.incomplete = f"the trace is incomplete: {incomplete}"
        numbers.doubts |= dict.fromkeys(("time_share", "rank_in_trace"), numbers.incomplete)
    elif whole:
        numbers.values["time_share"] = 100 * spent / whole
        numbers.values["rank_in_trace"] = 1.0 + sum(total > totals[mine[0].name] for total in totals.values())
