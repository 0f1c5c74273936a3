"""Look for cures of a kernel's costly findings: compile it with one compiler option changed at a time.

A cure is a changed option with which the kernel is predicted to be faster. A change of a compiler option needs no new
launch, so any kernel can be tried: bundled, from a user's file, recorded, or one of several launches. Tile sizes change
the launch; ``kprof advise`` tries those.

If a finding says that arguments are not known to be multiples of 16, the kernel is compiled as if they were, and its
launch uses the next multiples. The result is the code that the user gets by hints in the source and padded inputs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.compiler.from_ttir import SUFFIX
from kprof.compiler.versions import installed
from kprof.deadline import Deadline
from kprof.document import CureTrials, KernelReport
from kprof.findings import WORTH_A_CHANGE, Cause, Cure, Finding
from kprof.targets.jobs import TargetJob
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.executors.local import judged
from kprof.tuning.trials import predicted
from kprof.tuning.trials.changes import SWITCHES, option_changes
from kprof.tuning.work import Judge, TuningTask, task_of
from kprof_analyzers.memory.narrowness import ALIGNED, rounded_up
from kprof_analyzers.model.certainty import predicted_gain

SECONDS = 2.0
"""Seconds after which no further compile starts. The first compile, for the costliest finding, always runs."""

MAX_COMPILES = 12
"""Maximum number of compiles for one kernel."""

_KEPT = CacheSection("cures")
_DIVISIBLE = "divisible"
"""Name of an option for arguments that become multiples of 16; its value is a tuple of argument names.

It is no option of the compiler. A finding proposes it by evidence with the same name.
"""


def with_cures(report: KernelReport, job: TargetJob, *, jobs: int = 0, seconds: float = SECONDS) -> KernelReport:
    """Return the report with the best compiled cure of each costly cause.

    Args:
        report: the kernel's report; without causes and a predicted time in it, nothing is compiled.
        job: the compile and the launch that the report describes.
        jobs: worker processes, 0 for one per core.
        seconds: time after which no further compile starts.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    if not _costly(report):
        return report
    key = derived_key("cures", job.request.key, msgspec.to_builtins([report.source, report.resources, report.model,
                      report.product], enc_hook=str))  # fmt: skip
    kept = _KEPT.read(key)
    if kept is not None:
        found = msgspec.json.decode(kept, type=_Kept)
        return msgspec.structs.replace(report, causes=found.causes, cure_trials=found.trials)
    changes = _changes(report, job)
    trials = _try(report, job, changes, jobs, seconds)
    causes = _attach(report, trials)
    found = _Kept(causes, CureTrials(compiled=len(trials), remaining=len(changes) - len(trials)))
    if not found.trials.remaining:
        _KEPT.write(key, [msgspec.json.encode(found, enc_hook=str)])
    return msgspec.structs.replace(report, causes=found.causes, cure_trials=found.trials)


class _Kept(msgspec.Struct, frozen=True):
    """The cached result: the causes with their cures, and the number of trials."""

    causes: list[Cause]
    trials: CureTrials


def _costly(report: KernelReport) -> bool:
    return any(cause.gain is not None and cause.gain.share >= WORTH_A_CHANGE for cause in report.causes)


def _options(report: KernelReport) -> dict[str, Any]:
    if report.specialization is UNSET:
        return {}
    return {**report.specialization.options, **report.specialization.environment}


def _changes(report: KernelReport, job: TargetJob) -> list[Mapping[str, Any]]:
    """Return the changes to compile: those that costly findings propose, then other values of the same options."""
    costly = [c for c in report.causes if c.gain is not None and c.gain.share >= WORTH_A_CHANGE]
    findings = [report.findings[position] for cause in costly for position in cause.findings]
    options = _options(report)
    constexprs = set(job.request.constexprs)
    proposed = [{advice.knob: advice.to} for finding in findings for advice in finding.advice]
    rules = {finding.rule for finding in findings}
    others = option_changes(options, job.machine, rules, version=installed().numbers)
    unique: dict[str, Mapping[str, Any]] = {}
    for change in (*_divisible(findings, job), *proposed, *others):
        (name,) = change
        is_option = name == _DIVISIBLE or name in SWITCHES or name in {next(iter(other)) for other in others}
        if is_option and name not in constexprs and options.get(name) != change[name]:
            unique.setdefault(repr(change), change)
    return list(unique.values())[:MAX_COMPILES]


def _divisible(findings: Sequence[Finding], job: TargetJob) -> Iterator[Mapping[str, Any]]:
    """Yield, by finding, the arguments that its fix makes multiples of 16, if the compiler accepts hints for them."""
    for finding in findings:
        names = finding.evidence.get(_DIVISIBLE)
        if names and set(names) <= set(job.request.run_time_arguments) and not job.request.path.endswith(SUFFIX):
            yield {_DIVISIBLE: tuple(names)}


def _try(
    report: KernelReport, job: TargetJob, changes: Sequence[Mapping[str, Any]], jobs: int, seconds: float
) -> list[Evaluation]:
    judge = Judge(predicted.FUNCTION, predicted.version())
    target = job.machine.name if report.product is UNSET else report.product
    begun: dict[str, Mapping[str, Any]] = {}

    def tasks() -> Iterator[TuningTask]:
        for change in changes:
            task = task_of(_changed(job, change), change, target, judge, {})
            begun[task.key] = change
            yield task

    answers = judged(tasks(), judge, Deadline(seconds), workers=jobs, at_least=1)
    options = _options(report)
    return [
        Evaluation({**options, **begun[key]}, begun[key], time_us=answer.time_us, resources=answer.resources)
        for key, answer in answers.items()
    ]


def _changed(job: TargetJob, change: Mapping[str, Any]) -> TargetJob:
    """Return the launch compiled with one option or environment switch changed, or with divisible arguments."""
    if names := change.get(_DIVISIBLE):
        hints = {name: {**job.request.attributes.get(name, {}), "divisibility": ALIGNED} for name in names}
        request = replace(job.request, attributes={**job.request.attributes, **hints}, passes=False)
        rounded = {name: rounded_up(job.arguments[name]) for name in names if name in job.arguments}
        return replace(job, request=request, arguments={**job.arguments, **rounded})
    switches = {name: str(value) for name, value in change.items() if name in SWITCHES}
    options = {name: value for name, value in change.items() if name not in switches}
    request = replace(
        job.request,
        options={**job.request.options, **options},
        environment={**job.request.environment, **switches},
        passes=False,
    )
    return replace(job, request=request)


def _attach(report: KernelReport, trials: Sequence[Evaluation]) -> list[Cause]:
    """Return the causes with the best cure attached to each costly cause, ordered by the time that cures save."""
    before = None if report.model is UNSET else report.model.time_us
    if before is None:
        return report.causes
    cures = [cure for trial in trials if (cure := _cure(report, trial, before)) is not None]
    causes = list(report.causes)
    for number, cause in enumerate(causes):
        if cause.gain is None or cause.gain.share < WORTH_A_CHANGE:
            continue
        mine = [cure for cure in cures if _is_for(cure, cause, report)]
        if mine:
            causes[number] = msgspec.structs.replace(
                cause, cure=_best(mine, report.findings[cause.findings[0]], report)
            )
    return sorted(causes, key=lambda cause: -_saved(cause))


def _saved(cause: Cause) -> float:
    """Return the microseconds that a compiled cure saves, or 0 without a cure, which keeps the order of such causes."""
    return 0.0 if cause.cure is UNSET else cause.cure.before_us - cause.cure.after_us


def _best(cures: Sequence[Cure], finding: Finding, report: KernelReport) -> Cure:
    """Return the fastest cure, or a cure that the finding proposes if the model cannot distinguish the two."""
    fastest = min(cures, key=lambda cure: cure.after_us)
    proposed = {advice.knob: advice.to for advice in finding.advice}
    for cure in sorted(cures, key=lambda cure: cure.after_us):
        gain = predicted_gain(fastest.after_us, cure.after_us, report.arch)
        own = bool(cure.divisible) or all(proposed.get(knob) == new for knob, (_old, new) in cure.change.items())
        if own and (gain is None or not gain.told_apart):
            return cure
    return fastest


def _is_for(cure: Cure, cause: Cause, report: KernelReport) -> bool:
    """Return whether a cure belongs to a cause.

    A change belongs to a cause if one of the cause's findings proposes it. If no cause proposes the option, the change
    has to save at least half of the cause's cost.
    """
    assert cause.gain is not None
    if cure.divisible:
        return any(report.findings[at].evidence.get(_DIVISIBLE) == cure.divisible for at in cause.findings)
    if _proposes(cause, cure, report):
        return True
    others = any(_proposes(other, cure, report) for other in report.causes)
    return not others and cure.before_us - cure.after_us >= 0.5 * cause.gain.us


def _proposes(cause: Cause, cure: Cure, report: KernelReport) -> bool:
    proposed = {advice.knob for position in cause.findings for advice in report.findings[position].advice}
    return bool(proposed & set(cure.change))


def _cure(report: KernelReport, trial: Evaluation, before: float) -> Cure | None:
    """Return a change with its effect, or None if the model cannot say with confidence that the kernel gets faster."""
    after = trial.time_us
    gain = predicted_gain(after, before, report.arch)
    if after is None or gain is None or gain.speedup <= 1 or not gain.told_apart:
        return None
    options = _options(report)
    resources = None if report.resources is UNSET else report.resources
    old: dict[str, Any] = {
        "vgpr_spills": UNSET if resources is None else resources.vgpr_spills,
        "waves_per_simd": getattr(report.occupancy, "waves_per_simd", UNSET),
    }
    new = trial.resources
    figures = {
        name: (old[name], new[name])
        for name in old
        if name in new and old[name] is not UNSET and old[name] != new[name]
    }
    divisible = list(trial.change.get(_DIVISIBLE, ()))
    return Cure(
        change={} if divisible else {name: (options.get(name), value) for name, value in trial.change.items()},
        divisible=divisible,
        before_us=before,
        after_us=after,
        certainty=UNSET if gain.certainty is None else round(gain.certainty, 3),
        figures=figures,
    )
