"""Check the findings and the model of a compiled kernel against measurements, and report notable measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.document import KernelReport, Resources
from kprof.errors import InputError
from kprof.findings import Finding, Location
from kprof.measured import Fact, Judgement, LoopComparison, Match, Measured, ModelComparison, Standing, Verdict
from kprof_analyzers.profiles.measured import join, traced
from kprof_analyzers.profiles.measured.numbers import MeasuredNumbers, add_counters, add_traces, computed
from kprof_analyzers.rules import known_rules
from kprof_analyzers.rules.questions import BUSY, CONFLICTS, HELD, WAITING
from kprof_analyzers.verdict import total

if TYPE_CHECKING:
    from kprof.document import Prediction
    from kprof.inputs.amdgcn import AssemblyKernel as Program
    from kprof_analyzers.profiles.measured.join import CompiledIdentity
    from kprof_analyzers.profiles.measured.reading import GpuMeasurements

_SHOWN = (
    "hbm_percent_of_peak", "l2_hit_rate", "lds_conflicts_per_access", "mfma_utilization", "valu_utilization",
    "wait_share",
)  # fmt: skip
_ORDER: tuple[Standing, ...] = ("confirmed", "not measured", "refuted")
# Besides the name, a sure match requires that these properties are known and equal. The values are display names.
_SURE = {"num_warps": "the workgroup size", "lds_bytes": "LDS"}
_RANKS = ("error", "warning", "note")


def judge(
    report: KernelReport, subject: "CompiledIdentity", measurement: "GpuMeasurements", program: "Program | None" = None
) -> Measured:
    """Match a kernel with its measurements, and check its findings against the measured numbers.

    Args:
        report: the kernel's report.
        subject: properties that identify the kernel.
        measurement: the measurements.
        program: the kernel's instructions, for a thread trace.

    Raises:
        KprofError: if a measurement does not contain the kernel.
    """
    # All numbers are shown, but only numbers from sure matches (``sure``) confirm or refute findings.
    numbers, sure = computed(report, measurement.gpu), computed(report, measurement.gpu)
    matches: list[Match] = []
    if measurement.data is not None:
        match, dispatches = join.in_counters(subject, measurement.data)
        matches.append(match)
        assert measurement.gpu is not None
        for one in _takers(match, numbers, sure):
            add_counters(one, measurement.data, dispatches, measurement.gpu)
    if measurement.traces:
        match, activities = join.in_traces(subject, measurement.traces)
        matches.append(match)
        for one in _takers(match, numbers, sure):
            add_traces(one, measurement.traces, activities)
    # A thread trace does not decide findings: its instructions already show whether it is the compiled kernel.
    decisive = list(matches)
    loops: list[LoopComparison] = []
    if measurement.thread is not None and program is not None:
        match, found = traced.in_thread_trace(report.name, program, measurement.thread)
        matches.append(match)
        loops = traced.loop_comparisons(report, program, found) if match.confidence == "sure" else []
    if not matches:
        raise InputError("there is no measurement to judge by")
    doubts = _doubts(matches)
    other = _other_build(decisive)
    judgements = [_judged(place, finding, sure, other) for place, finding in enumerate(report.findings)]
    judgements.sort(key=lambda one: (_ORDER.index(one.standing), _RANKS.index(one.severity), one.finding))
    return Measured(
        gpu=measurement.name or report.arch,
        matches=matches,
        judgements=judgements,
        facts=facts_of(report, numbers),
        collect=_collect(judgements),
        notes=[*doubts, *measurement.notes, *numbers.notes],
        comparisons=compare(report, numbers, other),
        loops=loops,
    )


def _takers(match: Match, numbers: MeasuredNumbers, sure: MeasuredNumbers) -> tuple[MeasuredNumbers, ...]:
    return (numbers, sure) if match.confidence == "sure" else (numbers,)


def _other_build(matches: list[Match]) -> str:
    """Return the reason why uncertain matches cannot confirm or refute findings; "" if all matches are sure."""
    unsure = [match for match in matches if match.confidence != "sure"]
    keys = dict.fromkeys(_differing(match) or _lacking(match) for match in unsure)
    return f"the measured kernel may be another build: {'; '.join(keys)}" if unsure else ""


def _lacking(match: Match) -> str:
    compared = [key.name for key in match.keys]
    lacking = [words for name, words in _SURE.items() if name not in compared]
    return (
        f"the {match.source} do not record {' and '.join(lacking)}"
        if len(compared) > 1
        else ("only the name is known to agree")
    )


def _differing(match: Match) -> str:
    return ", ".join(f"{key.name} {key.measured} measured, {key.computed} compiled"
                     for key in match.keys if not key.agrees)  # fmt: skip


def _judged(place: int, finding: Finding, numbers: MeasuredNumbers, other_build: str) -> Judgement:
    def made(standing: Standing, words: str, used: dict[str, float], collect: list[str]) -> Judgement:
        where = str(finding.location) if isinstance(finding.location, Location) else ""
        return Judgement(
            finding=place,
            rule=finding.rule,
            name=finding.name,
            severity=finding.severity.value,
            message=finding.message,
            place=where,
            standing=standing,
            words=words,
            numbers=used,
            collect=collect,
        )

    question = next((rule.confirmed_by for rule in known_rules() if rule.id == finding.rule), None)
    if question is None:
        return made("not measured", "no profiler metric can decide it", {}, [])
    absent = [name for name in question.needs if name not in numbers.values]
    if absent:
        if other_build:
            return made("not measured", other_build, {}, [])
        counters = sorted({counter for name in absent for counter in numbers.missing.get(name, ())})
        return made("not measured", _reason_text(absent, counters, numbers), {}, counters)
    used = {name: numbers.values[name] for name in (*question.needs, *question.may) if name in numbers.values}
    confirmed, words = question.answer(used)
    return made("confirmed" if confirmed else "refuted", words, used, [])


def _reason_text(absent: list[str], counters: list[str], numbers: MeasuredNumbers) -> str:
    doubts = list(dict.fromkeys(numbers.doubts[name] for name in absent if name in numbers.doubts))
    if doubts:
        return "; ".join(doubts)
    if counters:
        return f"not counted: {', '.join(counters)}"
    return f"not in the measurement: {', '.join(name.replace('_', ' ') for name in absent)}"


def _collect(judgements: list[Judgement]) -> list[str]:
    from kprof_analyzers.profiles.counters.planning import passes

    return [one.option for one in passes(counter for judgement in judgements for counter in judgement.collect)]


def _doubts(matches: list[Match]) -> list[str]:
    """Return a caveat for each match that is not sure."""
    found = []
    for match in matches:
        if words := _differing(match):
            found.append(f"the {match.source} may be of another configuration or Triton version: {words}")
        elif match.confidence == "doubtful":
            found.append(f"the {match.source} have only the kernel's name: this may be any configuration of it")
        if match.others:
            runs = "1 run" if match.others == 1 else f"{match.others:,} runs"
            found.append(f"left out: {runs} of {match.kernel} with another workgroup size, LDS or registers")
    return found


def facts_of(report: KernelReport, numbers: MeasuredNumbers) -> list[Fact]:
    """Return the facts to show: time first, then occupancy and roofline, then how busy the GPU's units were."""
    return [*_times(numbers), *_occupancy(report, numbers), *_roofline(numbers), *_units(report, numbers)]


def _times(numbers: MeasuredNumbers) -> list[Fact]:
    values, found = numbers.values, []
    if "trace_mean_ns" in values:
        found.append(Fact("trace_mean_ns", "duration in the trace", values["trace_mean_ns"] / 1000, "us"))
    if "mean_ns" in values:
        found.append(Fact("mean_ns", "duration when profiled", values["mean_ns"] / 1000, "us"))
    if "time_share" in values:
        rank, share = values["rank_in_trace"], values["time_share"]
        remark = f"number {rank:g} of the trace's kernels"
        if share < 100:
            # By Amdahl's law: the speed-up of all kernels together if this kernel took half its time.
            remark += (
                f"; if it were twice as fast, all kernels together would be {100 / (100 - share / 2):.2f} times as fast"
            )
        found.append(Fact("time_share", "share of the GPU's kernel time", share, "%", remark=remark))
    return found


def _occupancy(report: KernelReport, numbers: MeasuredNumbers) -> list[Fact]:
    achieved, limit = numbers.values.get("waves_per_simd"), numbers.values.get("computed_waves_per_simd")
    found = []
    if achieved is not None:
        remark = ""
        if limit is not None and achieved > 1.05 * limit:
            remark = "more than the compiled kernel allows: another program was measured"
        elif limit is not None and achieved < HELD * limit:
            remark = "lower than the resources allow, because of the grid, its tail or short workgroups"
        found.append(Fact("waves_per_simd", "waves per SIMD achieved", achieved, "waves", limit, remark))
    scratch = numbers.values.get("scratch_bytes")
    resources = report.resources
    if scratch is not None and isinstance(resources, Resources) and isinstance(resources.scratch_bytes, int):
        remark = ""
        if scratch and not resources.scratch_bytes:
            remark = "the measured kernel spills, the compiled one does not"
        elif not scratch and resources.scratch_bytes:
            remark = "the compiled kernel spills, the measured one does not"
        if scratch or resources.scratch_bytes:
            bytes_ = float(resources.scratch_bytes)
            found.append(Fact("scratch_bytes", "scratch of a work-item", scratch, "B", bytes_, remark))
    return found


def _roofline(numbers: MeasuredNumbers) -> list[Fact]:
    point = numbers.point
    if point is None or point.share is None:
        return []
    share = 100 * point.share
    remark = f"the {point.bound} roof"
    if share > 100.5:
        remark += ": impossible; check the counters and the named GPU"
    elif share >= BUSY:
        remark += ": little is left to gain without less traffic or arithmetic"
    return [Fact("roofline_share", "of the roofline reached", share, "%", remark=remark)]


def _units(report: KernelReport, numbers: MeasuredNumbers) -> list[Fact]:
    rules = {finding.rule for finding in report.findings}
    found = []
    for name in _SHOWN:
        value = numbers.values.get(name)
        if value is None:
            continue
        formula = numbers.metrics[name].formula
        remark = ""
        if name == "lds_conflicts_per_access" and value >= CONFLICTS and not rules & _foretelling(name):
            remark = "bank conflicts that no finding predicts"
        elif name == "wait_share" and value >= WAITING and not rules & _foretelling(name):
            remark = "waits that no finding explains"
        found.append(Fact(name, formula.title, value, formula.unit, remark=remark))
    return found


def _foretelling(name: str) -> set[str]:
    """Return the identifiers of the rules whose findings this number alone confirms or refutes."""
    return {rule.id for rule in known_rules() if rule.confirmed_by is not None and rule.confirmed_by.needs == (name,)}


@dataclass(frozen=True)
class _Quantity:
    id: str
    title: str
    unit: str
    measured: "Callable[[dict[str, float]], float | None]"
    modelled: "Callable[[Prediction], float | None]"


def _time(values: dict[str, float]) -> float | None:
    # Counting slows a kernel down, so the trace's time takes precedence.
    nanoseconds = values.get("trace_mean_ns", values.get("mean_ns"))
    return None if nanoseconds is None else nanoseconds / 1000


def _sum(*names: str) -> "Callable[[dict[str, float]], float | None]":
    def of(values: dict[str, float]) -> float | None:
        return sum(values[name] for name in names) if all(name in values for name in names) else None

    return of


def _l2(values: dict[str, float]) -> float | None:
    if "l2_bandwidth" not in values or "mean_ns" not in values:
        return None
    return values["l2_bandwidth"] * values["mean_ns"]


_QUANTITIES = (
    _Quantity("time_us", "time of a launch", "us", _time, lambda model: model.time_us),
    _Quantity("cycles", "cycles that the GPU is busy", "cycles", _sum("gui_cycles"), lambda model: model.cycles),
    _Quantity("clock_mhz", "clock", "MHz", _sum("clock"), lambda model: model.clock_mhz),
    _Quantity(
        "hbm_bytes", "bytes to and from memory", "bytes", _sum("hbm_read_bytes", "hbm_write_bytes"),
        lambda model: model.traffic.get("hbm"),
    ),
    _Quantity("l2_bytes", "bytes requested from L2", "bytes", _l2, lambda model: model.traffic.get("l2")),
    _Quantity(
        "waves_per_simd", "wavefronts on a SIMD", "waves", _sum("waves_per_simd"),
        lambda model: model.waves_per_simd,
    ),
)  # fmt: skip


def compare(report: "KernelReport", numbers: "MeasuredNumbers", doubt: str) -> list[ModelComparison]:
    """Compare each quantity that was both measured and modelled.

    Only the predicted time has a range. It is confirmed or refuted if the measured launch is the modelled launch. Other
    quantities have no known range, so their measured and modelled values are only shown side by side.

    Args:
        report: the kernel with its prediction.
        numbers: the measured numbers.
        doubt: reason why the measured kernel may be another one; "" if it is this one.
    """
    if report.model is UNSET:
        return []
    model = report.model
    why = numbers.incomplete or doubt or _other_launch(model, numbers)
    found = []
    for quantity in _QUANTITIES:
        measured, modelled = quantity.measured(numbers.values), quantity.modelled(model)
        if measured is None or modelled is None:
            continue
        low, high = (model.low_us, model.high_us) if quantity.id == "time_us" else (None, None)
        standing, words = _standing(measured, modelled, (low, high), why)
        found.append(
            ModelComparison(quantity.id, quantity.title, quantity.unit, measured, modelled, low, high, standing, words)
        )
    return found


def compare_call(measured_us: float, reports: Sequence[KernelReport], doubt: str) -> ModelComparison | None:
    """Compare the time of a call with the sum of its launches' predicted times.

    Args:
        measured_us: time of the call in microseconds.
        reports: every launch of the call with its prediction, for the condition in which it was timed.
        doubt: reason why the call may have launched other kernels; "" if there is none.

    Returns:
        The comparison, or None if the time of a launch is unknown.
    """
    models = [report.model for report in reports if report.model is not UNSET]
    # The two timing events surround the whole call, so their time is counted once and not for each launch.
    events = [model.events_us or 0.0 for model in models]
    once = sum(events) - max(events, default=0.0)
    modelled, low, high = (
        total([-once, *(getattr(model, edge) for model in models)]) for edge in ("time_us", "low_us", "high_us")
    )
    if len(models) < len(reports) or modelled is None:
        return None
    standing, words = _standing(measured_us, modelled, (low, high), doubt)
    title = "time of a launch" if len(reports) == 1 else f"time of a call of {len(reports)} launches"
    return ModelComparison("time_us", title, "us", measured_us, modelled, low, high, standing, words)


def _other_launch(model: "Prediction", numbers: "MeasuredNumbers") -> str:
    ran = numbers.values.get("workgroups")
    if ran is None or model.workgroups is None:
        return "the number of workgroups is not recorded"
    if ran != model.workgroups:
        return f"another launch: {ran:,.0f} workgroups measured, {model.workgroups:,} modelled"
    return ""


def _standing(measured: float, modelled: float, likely: Sequence[float | None], why: str) -> tuple[Verdict, str]:
    low, high = likely
    if why:
        return "cannot tell", why
    if low is None or high is None:
        return "cannot tell", "no range is known"
    if low <= measured <= high:
        return "confirmed", "within the model's range"
    if not modelled or not measured:
        return "refuted", "outside the model's range"
    off = modelled / measured
    words = f"the model is {off:.2f} times too slow" if off > 1 else f"the model is {1 / off:.2f} times too fast"
    return "refuted", f"outside the model's range: {words}"
