"""Confirm or refute the findings of a compiled kernel by what was measured."""

from typing import TYPE_CHECKING

from kprof.document import KernelReport
from kprof.errors import InputError
from kprof.findings import Finding, Location
from kprof.measured import Judgement, LoopComparison, Match, Measured, Standing
from kprof_analyzers.profiles.measured import join, traced
from kprof_analyzers.profiles.measured.against_model import compare
from kprof_analyzers.profiles.measured.facts import facts_of
from kprof_analyzers.profiles.measured.numbers import MeasuredNumbers, add_counters, add_traces, computed
from kprof_analyzers.rules import known_rules

if TYPE_CHECKING:
    from kprof.inputs.amdgcn import AssemblyKernel as Program
    from kprof_analyzers.profiles.measured.join import CompiledIdentity
    from kprof_analyzers.profiles.measured.reading import GpuMeasurements

_ORDER: tuple[Standing, ...] = ("confirmed", "not measured", "refuted")
# What a sure match needs besides the name.
_SURE = {"num_warps": "the workgroup size", "lds_bytes": "LDS"}
_RANKS = ("error", "warning", "note")


def judge(
    report: KernelReport, subject: "CompiledIdentity", measurement: "GpuMeasurements", program: "Program | None" = None
) -> Measured:
    """Join a kernel with its measurement, and compare its findings with the numbers.

    Args:
        report: the kernel.
        subject: what tells it from others.
        measurement: what was read.
        program: its instructions, for a thread trace.

    Raises:
        KprofError: a measurement has no such kernel.
    """
    # What is shown, and what decides: of a match that is not sure only the first.
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
    # A thread trace says of its instructions whether it is this kernel; it decides no finding.
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
    """Why the numbers of matches that are not sure decide nothing; empty when there are none."""
    unsure = [match for match in matches if match.confidence != "sure"]
    keys = dict.fromkeys(_differing(match) or _lacking(match) for match in unsure)
    return f"what ran may be another build of the kernel: {'; '.join(keys)}" if unsure else ""


def _lacking(match: Match) -> str:
    compared = [key.name for key in match.keys]
    lacking = [words for name, words in _SURE.items() if name not in compared]
    return (
        f"the {match.source} do not tell {' and '.join(lacking)}"
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
        return made("not measured", "no number that profilers give decides it", {}, [])
    absent = [name for name in question.needs if name not in numbers.values]
    if absent:
        if other_build:
            return made("not measured", other_build, {}, [])
        counters = sorted({counter for name in absent for counter in numbers.missing.get(name, ())})
        return made("not measured", _why(absent, counters, numbers), {}, counters)
    used = {name: numbers.values[name] for name in (*question.needs, *question.may) if name in numbers.values}
    confirmed, words = question.answer(used)
    return made("confirmed" if confirmed else "refuted", words, used, [])


def _why(absent: list[str], counters: list[str], numbers: MeasuredNumbers) -> str:
    doubts = list(dict.fromkeys(numbers.doubts[name] for name in absent if name in numbers.doubts))
    if doubts:
        return "; ".join(doubts)
    if counters:
        return f"not counted: {', '.join(counters)}"
    return f"not in the measurement: {', '.join(name.replace('_', ' ') for name in absent)}"


def _collect(judgements: list[Judgement]) -> list[str]:
    from kprof_analyzers.profiles.counters.collecting import passes

    return [one.option for one in passes(counter for judgement in judgements for counter in judgement.collect)]


def _doubts(matches: list[Match]) -> list[str]:
    """What the engineer has to know before believing the rest."""
    found = []
    for match in matches:
        if words := _differing(match):
            found.append(f"the {match.source} may be of another configuration or Triton version: {words}")
        elif match.confidence == "doubtful":
            found.append(
                f"the {match.source} tell no more than the kernel's name: any configuration of it may be meant"
            )
        if match.others:
            runs = "1 run" if match.others == 1 else f"{match.others:,} runs"
            found.append(f"left out: {runs} of {match.kernel} with another workgroup size, LDS or registers")
    return found
