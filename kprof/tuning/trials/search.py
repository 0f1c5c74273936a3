"""Compile changes in parallel workers until the budget is spent, and say which are worth having."""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kprof.compiler.compile import compile_many
from kprof.compiler.request import Outcome
from kprof.compiler.versions import installed
from kprof.document import KernelReport
from kprof.errors import KprofError
from kprof.findings import Advice, Finding
from kprof.hardware.machine import Architecture
from kprof.targets.jobs import Job, loaded
from kprof.tuning.trials.changes import SWITCHES, neighbours
from kprof.tuning.trials.measure import Measure, measure
from kprof_analyzers.memory.replication import replication
from kprof_analyzers.pipeline import analyze

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel
    from kprof.targets.options import Options

Progress = Callable[[int, str], None]

# Once spills are gone: so many further compiles, none of which is among the best, end the search. What is tried first
# goes the least far; the rest would be ever smaller tiles.
_PATIENCE = 12


@dataclass(frozen=True)
class Trial:
    """One configuration that was compiled, or could not be.

    Attributes:
        change: the knobs that differ from the starting point, with their new values.
        config: all knobs.
        report: what kprof says of it, ``None`` when it did not compile.
        measure: its figures, ``None`` when it did not compile.
        error: why it did not compile.
        time_us: predicted time of a launch in microseconds, ``None`` where nobody asked or the model has no answer.
    """

    change: Mapping[str, Any]
    config: Mapping[str, Any]
    report: KernelReport | None = None
    measure: Measure | None = None
    error: str | None = None
    time_us: float | None = None


@dataclass(frozen=True)
class Trials:
    """The result of a round of trials.

    Attributes:
        start: the configuration as it was.
        best: trials that no other one dominates and that rank above the start, best first.
        dominated: trials that rank above the start without spill traffic, though another one is at least as good in
            every respect, best first. What is compared is not time: they may be worth one.
        slower: trials as good as the best ones that are predicted to take longer than the start; see
            :func:`kprof.tuning.trials.timing.timed`.
        tried: how many configurations were compiled.
        failed: those that did not compile.
        left: how many were left out, because the budget was spent or because they had stopped to bring anything.
        settled: whether the search ended by itself, with changes left that promised nothing.
        seconds: wall time.
    """

    start: Trial
    best: tuple[Trial, ...]
    tried: int
    dominated: tuple[Trial, ...] = ()
    slower: tuple[Trial, ...] = ()
    failed: tuple[Trial, ...] = ()
    left: int = 0
    settled: bool = False
    seconds: float = 0.0
    all: tuple[Trial, ...] = field(default=(), repr=False)


def advise(
    kernel: "Kernel",
    machine: Architecture,
    options: "Options",
    *,
    budget: float = 60.0,
    progress: Progress | None = None,
) -> Trials:
    """Look for better knobs around a kernel's configuration.

    Single knobs first, then pairs. What is compared are resources and the hot loop's instructions; times are not known.
    A search that has got rid of spills ends when further changes no longer are among the best.

    Args:
        kernel: a kernel with cases.
        machine: architecture.
        options: case, shape and starting knobs.
        budget: seconds after which no further compile is begun.
        progress: called with the number of finished compiles and the change.

    Raises:
        KprofError: the kernel has no cases, or its present configuration does not compile.
    """
    from kprof.targets.jobs import jobs_of

    if not kernel.shapes:
        raise KprofError(
            f"{kernel.name} has no cases, so that no launch can be derived for other tile sizes",
            hint="Add a KERNEL with shapes and a launch to its file.",
        )
    began = time.monotonic()
    (job,) = jobs_of(kernel, machine, options)
    config = {**kernel.configure(machine.name, options.config, job.problem), **options.environment}
    (outcome,) = compile_many([job.request], 1, cache=options.use_cache)
    start = _judge({}, config, job, outcome)
    if start.report is None or start.measure is None:
        raise KprofError(f"the present configuration does not compile: {start.error}")
    rules = {finding.rule for finding in start.report.findings}
    found: list[Trial] = []
    version = installed().numbers
    waiting: list[Mapping[str, Any]] = list(neighbours(kernel, job.problem, config, machine, rules, version=version))
    total, settled = len(waiting), False
    with closing(compile_changes(kernel, machine, options, config, waiting, deadline=began + budget)) as compiled:
        for trial in compiled:
            found.append(trial)
            if progress is not None:
                progress(len(found), ", ".join(f"{k}={v}" for k, v in trial.change.items()))
            settled = _has_settled(start, found) and len(found) < total
            if settled:
                break
    best = _best(start, found)
    return Trials(
        start=start,
        best=best,
        dominated=_dominated(start, best, found),
        tried=len(found),
        failed=tuple(t for t in found if t.measure is None),
        left=total - len(found),
        settled=settled,
        seconds=time.monotonic() - began,
        all=tuple(found),
    )


def _has_settled(start: Trial, found: Sequence[Trial]) -> bool:
    """Whether spills are gone and the latest compiles are not among the best."""
    if start.measure is None or not start.measure.scratch:
        return False
    best = _best(start, found)
    if not best or best[0].measure is None or best[0].measure.scratch:
        return False
    latest = {id(trial) for trial in found[-_PATIENCE:]}
    return len(found) > _PATIENCE and not any(id(trial) in latest for trial in best)


def compile_changes(
    kernel: "Kernel",
    machine: Architecture,
    options: "Options",
    config: Mapping[str, Any],
    changes: Collection[Mapping[str, Any]],
    *,
    deadline: float,
    switches: Collection[str] = SWITCHES,
) -> Generator[Trial, None, None]:
    """Compile a configuration with each of several changes; trials come as they are finished.

    A change that the kernel or the architecture cannot have is left out.

    Args:
        kernel: what to compile.
        machine: architecture.
        options: case and shape, or signature.
        config: all knobs and switches as they are.
        changes: knobs and switches to their new values.
        deadline: of :func:`time.monotonic`, after which no compile is begun.
        switches: which names are environment switches.

    Raises:
        KprofError: no usable Triton.
    """
    from dataclasses import replace

    from kprof.targets.jobs import jobs_of

    begun: list[tuple[Mapping[str, Any], Mapping[str, Any], Job]] = []

    def requests() -> Iterator[Any]:
        for change in changes:
            if time.monotonic() >= deadline:
                return
            changed = {**config, **change}
            knobs = {name: value for name, value in changed.items() if name not in switches}
            environment = {name: value for name, value in changed.items() if name in switches}
            own = replace(options, config=knobs, environment={**options.environment, **environment}, all_configs=False)
            try:
                (job,) = jobs_of(kernel, machine, own)
            except KprofError:
                continue
            begun.append((change, changed, job))
            yield job.request

    for outcome in compile_many(requests(), options.jobs or None, cache=options.use_cache):
        change, changed, job = begun[outcome.index]
        yield _judge(change, changed, job, outcome)


def _judge(change: Mapping[str, Any], config: Mapping[str, Any], job: Job, outcome: Outcome) -> Trial:
    if outcome.compiled is None:
        return Trial(change, config, error=outcome.error or outcome.status)
    kernel = loaded(job, outcome.compiled)
    report = analyze(kernel)
    copies = replication(kernel.ttgir) if kernel.ttgir is not None else 1.0
    return Trial(change, config, report, measure(report, job.machine, copies))


def _best(start: Trial, found: Collection[Trial]) -> tuple[Trial, ...]:
    """What is left after dominated trials are dropped, those better than the start, best first."""
    assert start.measure is not None
    measured = [(t, t.measure) for t in found if t.measure is not None and t.measure.launchable]
    better = [(t, m) for t, m in measured if m.rank() < start.measure.rank()]
    front = [(t, m) for t, m in better if not any(other.dominates(m) for _, other in better)]
    unique: dict[tuple[object, ...], Trial] = {}
    for trial, figures in sorted(front, key=lambda pair: (pair[1].rank(), len(pair[0].change))):
        # Changes that lead to the same code are one: the shortest is kept.
        unique.setdefault((figures.rank(), figures.vgprs, figures.lds_bytes, figures.instructions), trial)
    return tuple(unique.values())


def _dominated(start: Trial, best: Collection[Trial], found: Collection[Trial]) -> tuple[Trial, ...]:
    """Trials that are better than the start and free of spill traffic, but not among the best."""
    assert start.measure is not None
    chosen = {id(trial) for trial in best}
    others = [
        (trial, trial.measure)
        for trial in found
        if id(trial) not in chosen and trial.measure is not None and trial.measure.launchable
    ]
    good = [(t, m) for t, m in others if not m.scratch and m.rank() < start.measure.rank()]
    return tuple(trial for trial, _ in sorted(good, key=lambda pair: (pair[1].rank(), len(pair[0].change))))


def advised(trials: Trials) -> list[Finding]:
    """The findings of the configuration as it was, each with the best change after which it is gone.

    Only changes that were compiled become advice, and only those of the best trials.
    """
    assert trials.start.report is not None
    assert trials.start.measure is not None
    return [_with_advice(finding, trials) for finding in trials.start.report.findings]


def _with_advice(finding: Finding, trials: Trials) -> Finding:
    from msgspec.structs import replace

    before = trials.start.measure
    for trial in trials.best:
        if trial.report is None or trial.measure is None or before is None:
            continue
        if finding.rule in {other.rule for other in trial.report.findings}:
            continue
        verified = {
            "vgpr_spills": (before.vgpr_spills, trial.measure.vgpr_spills),
            "scratch": (before.scratch, trial.measure.scratch),
            "waves_per_simd": (before.waves, trial.measure.waves),
        }
        advice = [
            Advice(
                knob=name,
                from_=trials.start.config.get(name),
                to=value,
                verified=verified,
                note="which configuration is faster was not measured",
            )
            for name, value in trial.change.items()
        ]
        return replace(finding, advice=advice)
    return replace(finding, advice=[])
