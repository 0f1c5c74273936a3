"""Advice for recorded kernels."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kprof.condition import CONDITIONS, WARM
from kprof.deadline import Deadline
from kprof.errors import KprofError, TargetError
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.order import identity
from kprof.tuning.recorded import knobs
from kprof.tuning.recorded.answer import Answer, answer
from kprof.tuning.recorded.relaunch import Relaunch, RelaunchedProgram, program_of
from kprof.tuning.recorded.subject import RecordedSubject
from kprof.tuning.trials.analysed import analysed
from kprof.tuning.trials.climb import Around, climb_around, with_report
from kprof.tuning.trials.trial import Trials

if TYPE_CHECKING:
    from kprof.hardware.machine import Product
    from kprof.targets.recompile import RecompilableKernel

MOST_KERNELS = 4
"""Of a capture without a kernel's name so many are tried: those that take longest by the model, launches together."""


@dataclass(frozen=True)
class AdvisedKernel:
    """What was found for one kernel of a capture.

    Attributes:
        target: names it: ``capture::id``.
        name: the Triton function's.
        launches: how often it was launched.
        how: what could be tried, in words.
        trials: what was tried; ``None`` where it could not be compiled again.
        answer: what to write where; ``None`` without a better configuration.
        error: why there are no trials, or empty.
    """

    target: str
    name: str
    launches: int
    how: str
    trials: Trials | None = None
    answer: Answer | None = None
    error: str = ""


def advise(
    target: str,
    *,
    product: "Product | None" = None,
    arch: str = "",
    budget: float = 60.0,
    jobs: int = 0,
    run: bool = True,
    program: RelaunchedProgram | None = None,
    values: Mapping[str, int | Sequence[int]] | None = None,
    condition: str = WARM.name,
    progress: Callable[[int, str], None] | None = None,
    tell: Callable[[str], None] = lambda _text: None,
) -> Iterator[AdvisedKernel]:
    """Look for better configurations of a capture's kernels.

    Args:
        target: the capture's directory, with ``::NAME`` one kernel of it.
        product: the GPU; the one of the recording when ``None``.
        arch: architecture to keep, where one is named.
        budget: seconds for all of them, after which no compile is begun.
        jobs: worker processes, 0 for one a core.
        run: run the program again, for other tiles.
        program: what to run; as the capture says when ``None``.
        values: numbers that the launches do not tell, see :mod:`kprof.targets.values`.
        condition: that times are predicted for, see :mod:`kprof.condition`.
        progress: called with the number of finished compiles and a few words.
        tell: called with what is run.

    Raises:
        KprofError: it is no capture, or has no such kernel.
    """
    from kprof.targets.recompile import recorded

    found, lost = recorded(target, [arch] if arch else [])
    for name, why in lost.items():
        yield AdvisedKernel(target, name, 0, "", error=why)
    chosen = _dearest(found, product, condition) if len(found) > MOST_KERNELS else found
    if len(chosen) < len(found):
        tell(
            f"{len(chosen)} of {len(found)} kernels: those that take longest by the model; CAPTURE::KERNEL names others"
        )
    deadline = Deadline(budget)
    for place, each in enumerate(chosen):
        left = max(1.0, deadline.share(len(chosen) - place))
        with opened(
            each, product, jobs=jobs, run=run, program=program, values=values, condition=condition, tell=tell
        ) as (subject, how):
            yield _found(subject, how, left, jobs=jobs, progress=progress)


@contextmanager
def opened(
    each: "RecompilableKernel",
    product: "Product | None",
    *,
    jobs: int = 0,
    run: bool = True,
    program: RelaunchedProgram | None = None,
    values: Mapping[str, int | Sequence[int]] | None = None,
    condition: str = WARM.name,
    tell: Callable[[str], None] = lambda _text: None,
) -> "Iterator[tuple[RecordedSubject, str]]":
    """A recorded kernel as a subject while its program stands at the launch, and what can be tried, in words.

    Args:
        each: the kernel.
        product: the GPU; the one of the recording when ``None``.
        jobs: compiles at a time.
        run: run the program again.
        program: what to run; as the capture says when ``None``.
        values: numbers that the launch does not tell.
        condition: that times are predicted for.
        tell: called with what is run.
    """
    wanted = product or each.kernel.product
    each = standing(each, wanted)
    relaunch, why = _relaunch(each, wanted, jobs=jobs, run=run, program=program, tell=tell)
    subject = RecordedSubject(
        each, wanted or next(iter(each.job.machine.products.values()), None), relaunch, values or {}, condition
    )
    how = why if relaunch is None else "compiler options, and tiles as the program launches them"
    if relaunch is not None and relaunch.ready.generated:
        how = "compiler options, and block sizes as Inductor generates the launch"
    with closing(subject):
        yield subject, how


def standing(each: "RecompilableKernel", product: "Product | None") -> "RecompilableKernel":
    """Return the configuration that stands for an autotuner's choice, the same one as everywhere."""
    from kprof.targets.captured import loaded
    from kprof.targets.recompile import with_configuration
    from kprof_analyzers.autotuned import choose

    if not each.kernel.candidates:
        return each
    kernel = loaded(each.kernel)
    choice = choose(kernel.listed_first or kernel.listed, product)
    if choice is None or choice.config not in each.kernel.candidates:
        return each
    return with_configuration(each, choice.config)


def search(
    subject: RecordedSubject,
    budget: float,
    *,
    jobs: int = 0,
    progress: Callable[[int, str], None] | None = None,
) -> Trials | str:
    """Climb from the recorded configuration by predicted time; why that cannot be, in words.

    Args:
        subject: the kernel, see :func:`opened`.
        budget: seconds after which no compile is begun.
        jobs: worker processes, 0 for one a core.
        progress: called with the number of finished compiles and a few words.

    Raises:
        KprofError: no usable Triton.
    """
    deadline = Deadline(budget)
    each = subject.recorded
    (job,) = subject.jobs(subject.problems[0], subject.knobs)
    start = analysed(job, subject.knobs)
    if start.report is None:
        return f"it does not compile again: {start.error}"
    ready = subject.program.ready if subject.program is not None else None
    around = Around(
        f"what is near to the recorded configuration of {each.kernel.name}",
        knobs.changes_of(subject, ready, {finding.rule for finding in start.report.findings}),
        lambda _start: knobs.listed(subject, ready),
    )
    found = climb_around(subject, start, around, deadline=deadline, progress=progress, jobs=jobs)
    if isinstance(found, str):
        return f"no time is known for it: {found}"
    return found


def reports(subject: RecordedSubject, trials: Trials) -> Iterator[Evaluation]:
    """Every trial with its report, best first, each analysed only when it is asked for; while the program is there."""
    known = {identity(trial.config) for trial in trials.best}
    yield from trials.best
    for trial in trials.all:
        if identity(trial.config) not in known:
            yield with_report(subject, trial)


def _found(
    subject: RecordedSubject, how: str, budget: float, *, jobs: int, progress: Callable[[int, str], None] | None
) -> AdvisedKernel:
    each = subject.recorded
    found = AdvisedKernel(each.target, each.kernel.name, each.kernel.launches, how)
    trials = search(subject, budget, jobs=jobs, progress=progress)
    if isinstance(trials, str):
        return replace(found, error=trials)
    ready = subject.program.ready if subject.program is not None else None
    best = answer(subject, ready, trials.best[0].config) if trials.best else None
    return replace(found, trials=trials, answer=best)


def _relaunch(
    each: "RecompilableKernel",
    product: "Product | None",
    *,
    jobs: int,
    run: bool,
    program: RelaunchedProgram | None,
    tell: Callable[[str], None],
) -> "tuple[Relaunch | None, str]":
    """The program at the launch, or why there is none, in words."""
    import shlex

    only = "compiler options only"
    if not run:
        return None, f"{only}: the program is not run"
    if program is None:
        from kprof.captures.reader import read

        found = program_of(
            read(each.kernel.folder.parent.parent), each.kernel.arch if product is None else product.name
        )
        if isinstance(found, str):
            return None, f"{only}: {found}"
        program = found
    tell(f"running {shlex.join(program.command)} again, up to the launch of {each.kernel.name}")
    try:
        relaunch = Relaunch(each, program, jobs=jobs)
    except KprofError as error:
        return None, f"{only}: {error.message}"
    if not relaunch.can_ask:
        relaunch.close()
        return None, f"{only}: the kernel is launched by generated code"
    return relaunch, ""


def _dearest(
    found: "Sequence[RecompilableKernel]", product: "Product | None", condition: str
) -> "list[RecompilableKernel]":
    """Those that take longest, all their launches together; where no time is known, those launched most often."""
    from kprof.targets.captured import loaded
    from kprof_analyzers.model import predict
    from kprof_analyzers.pipeline import facts_of

    def cost(each: "RecompilableKernel") -> tuple[float, int]:
        try:
            kernel = loaded(each.kernel)
            asked = replace(kernel, product=product or kernel.product, condition=CONDITIONS[condition])
            facts, *_ = facts_of(asked)
            time_us = predict(facts).time_us
        except (KprofError, TargetError):
            time_us = None
        return ((time_us or 0.0) * each.kernel.launches, each.kernel.launches)

    return sorted(found, key=cost, reverse=True)[:MOST_KERNELS]
