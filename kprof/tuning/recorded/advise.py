"""Advice for recorded kernels: search better configurations for the kernels of a capture."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kprof.compiler.pool import Pool
from kprof.condition import CONDITIONS, WARM
from kprof.deadline import Deadline
from kprof.errors import KprofError
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.executors.local import TIMEOUT
from kprof.tuning.order import identity
from kprof.tuning.recorded import knobs
from kprof.tuning.recorded.answer import Answer, answer
from kprof.tuning.recorded.relaunch import TIME_LIMIT, ProgramRun, Relaunch, RelaunchedProgram, program_of
from kprof.tuning.recorded.subject import RecordedSubject
from kprof.tuning.trials.analysed import analysed
from kprof.tuning.trials.climb import ClimbScope, climb_around, with_report
from kprof.tuning.trials.trial import Trials

if TYPE_CHECKING:
    from kprof.hardware.machine import Product
    from kprof.targets.recompile import RecompilableKernel

LEAST_SHARE = 0.05
"""Minimum share of the total time, over all launches of a kernel, for the kernel to be searched."""

_MOST_KERNELS = 12
_UNTIMED_KERNELS = 4
_LEAST_SECONDS = 1.0
_ONLY = "compiler options only"


@dataclass(frozen=True)
class AdvisedKernel:
    """The search result for one kernel of a capture.

    Attributes:
        target: the kernel's target name: ``capture::id``.
        name: name of the Triton function.
        launches: number of launches.
        how: description of the changes that could be tried, and why not others.
        trials: the trials; ``None`` if the kernel could not be compiled again.
        answer: what to change in the program; ``None`` without a better configuration.
        error: why there are no trials, or "".
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
    only: Collection[str] = (),
) -> Iterator[AdvisedKernel]:
    """Search for better configurations of those kernels that take at least 5 % of a capture's time.

    The program runs once for all kernels. Results come in the order in which the program launches the kernels.

    Args:
        target: directory of the capture, or ``DIRECTORY::NAME`` for one of its kernels.
        product: the GPU; ``None``: the GPU of the recording.
        arch: architecture of the kernels to search; "" for all.
        budget: seconds for all searches, counted from the first launch; no further compile starts after this time.
        jobs: worker processes, 0 for one per core.
        run: True to run the program again, which allows other tiles.
        program: the program to run; ``None``: the program named in the capture.
        values: numbers that the launches do not determine, see :mod:`kprof.targets.values`.
        condition: condition for predicted times, see :mod:`kprof.condition`.
        progress: called with the number of finished compiles and a status text.
        tell: called with status messages.
        only: identifiers of the kernels to search, instead of those with 5 % of the time.

    Raises:
        KprofError: if the target is not a capture, or has no such kernel.
    """
    from kprof.targets.recompile import recorded

    found, lost = recorded(target, [arch] if arch else [])
    for name, why in lost.items():
        yield AdvisedKernel(target, name, 0, "", error=why)
    deadline = Deadline(budget)
    if only:
        chosen = [each for each in found if each.kernel.id in only]
    else:
        chosen = _worth_searching(found, product, condition) if len(found) > 1 else found
        if len(chosen) < len(found):
            tell(
                f"{len(chosen)} of {len(found)} kernels are searched, each with at least 5 % of the "
                "time; select others with CAPTURE::KERNEL"
            )
    opening = _opened_each(
        chosen, product, deadline, jobs=jobs, run=run, program=program, values=values, condition=condition, tell=tell
    )
    with closing(opening), Pool(jobs or None, TIMEOUT) as pool:
        # The next launch is awaited before its search gets its share of the remaining seconds.
        for (subject, how), share in zip(opening, deadline.shares(len(chosen), _LEAST_SECONDS), strict=True):
            if len(chosen) > 1:
                tell(f"searching configurations of {subject.recorded.kernel.name}, {share:.0f} s")
            yield _advise_kernel(subject, how, share, progress=progress, pool=pool)


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
    """Yield a recorded kernel as a subject, and a description of the changes that can be tried.

    The kernel's program waits at the launch inside the context.

    Args:
        each: the kernel.
        product: the GPU; ``None``: the GPU of the recording.
        jobs: number of parallel compiles.
        run: True to run the program again.
        program: the program to run; ``None``: the program named in the capture.
        values: numbers that the launch does not determine.
        condition: condition for predicted times.
        tell: called with status messages.
    """
    opening = _opened_each(
        [each],
        product,
        Deadline(None),
        jobs=jobs,
        run=run,
        program=program,
        values=values,
        condition=condition,
        tell=tell,
    )
    with closing(opening):
        yield next(opening)


def _opened_each(
    kernels: "Sequence[RecompilableKernel]",
    product: "Product | None",
    deadline: Deadline,
    *,
    jobs: int,
    run: bool,
    program: RelaunchedProgram | None,
    values: Mapping[str, int | Sequence[int]] | None,
    condition: str,
    tell: Callable[[str], None],
) -> "Generator[tuple[RecordedSubject, str], None, None]":
    """Yield each kernel like :func:`opened`, in the order in which the program launches them.

    The program runs once. Kernels that it does not launch again come last. After the first launch, the program has
    until the deadline to reach each further launch.
    """
    if not kernels:
        return
    waiting = list(range(len(kernels)))

    def subject(place: int, relaunch: Relaunch | None) -> RecordedSubject:
        waiting.remove(place)
        each = chosen[place]
        gpu = product or each.kernel.product or next(iter(each.job.machine.products.values()), None)
        return RecordedSubject(each, gpu, relaunch, values or {}, condition)

    started = _started(kernels, product, jobs=jobs, program=program, tell=tell) if run else "the program is not run"
    with closing(started) if isinstance(started, ProgramRun) else nullcontext():
        # The choice of configurations overlaps with the start of the program.
        chosen = [standing(each, product or each.kernel.product) for each in kernels]
        while waiting and isinstance(started, ProgramRun):
            first = len(waiting) == len(kernels)
            try:
                place, relaunch = started.next_launch(TIME_LIMIT if first else deadline.left + _LEAST_SECONDS)
            except KprofError as error:
                started = error.message
            else:
                if not relaunch.can_ask:
                    yield subject(place, None), f"{_ONLY}: the kernel is launched by generated code"
                elif relaunch.ready.generated:
                    yield subject(place, relaunch), "compiler options, and block sizes as Inductor generates the launch"
                else:
                    yield subject(place, relaunch), "compiler options, and tiles as the program launches them"
        for place in list(waiting):
            yield subject(place, None), f"{_ONLY}: {started}"


def standing(each: "RecompilableKernel", product: "Product | None") -> "RecompilableKernel":
    """Return the kernel with the configuration that represents its autotuner's choice in all reports."""
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
    pool: Pool,
    progress: Callable[[int, str], None] | None = None,
) -> Trials | str:
    """Search by hill climbing from the recorded configuration. Return the trials, or the reason why there are none.

    Args:
        subject: the kernel, see :func:`opened`.
        budget: seconds after which no further compile starts.
        pool: worker processes.
        progress: called with the number of finished compiles and a status text.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    deadline = Deadline(budget)
    each = subject.recorded
    (job,) = subject.jobs(subject.problems[0], subject.knobs)
    start = analysed(job, subject.knobs, pool=pool)
    if start.report is None:
        return f"it does not compile again: {start.error}"
    ready = subject.program.ready if subject.program is not None else None
    around = ClimbScope(
        f"neighbours of {each.kernel.name}'s recorded configuration",
        knobs.changes_of(subject, ready, {finding.rule for finding in start.report.findings}),
        lambda _start: knobs.listed(subject, ready),
    )
    found = climb_around(subject, start, around, deadline=deadline, progress=progress, pool=pool)
    if isinstance(found, str):
        return f"the model has no time for it: {found}"
    return found


def reports(subject: RecordedSubject, trials: Trials) -> Iterator[Evaluation]:
    """Yield every trial with its report, best first.

    A report is computed when it is asked for, which may need the running program.
    """
    known = {identity(trial.config) for trial in trials.best}
    yield from trials.best
    for trial in trials.all:
        if identity(trial.config) not in known:
            yield with_report(subject, trial)


def _advise_kernel(
    subject: RecordedSubject, how: str, budget: float, *, progress: Callable[[int, str], None] | None, pool: Pool
) -> AdvisedKernel:
    each = subject.recorded
    found = AdvisedKernel(each.target, each.kernel.name, each.kernel.launches, how)
    trials = search(subject, budget, progress=progress, pool=pool)
    if isinstance(trials, str):
        return replace(found, error=trials)
    ready = subject.program.ready if subject.program is not None else None
    best = answer(subject, ready, trials.best[0].config) if trials.best else None
    return replace(found, trials=trials, answer=best)


def _started(
    kernels: "Sequence[RecompilableKernel]",
    product: "Product | None",
    *,
    jobs: int,
    program: RelaunchedProgram | None,
    tell: Callable[[str], None],
) -> ProgramRun | str:
    """Start the program that launches these kernels; return the reason if it cannot run."""
    import shlex

    one = kernels[0].kernel
    if program is None:
        from kprof.captures.reader import read

        found = program_of(read(one.folder.parent.parent), one.arch if product is None else product.name)
        if isinstance(found, str):
            return found
        program = found
    to = f"the launch of {one.name}" if len(kernels) == 1 else f"the launches of {len(kernels)} kernels"
    tell(f"running {shlex.join(program.command)} again, up to {to}")
    try:
        return ProgramRun(kernels, program, jobs=jobs)
    except KprofError as error:
        return error.message


def _worth_searching(
    found: "Sequence[RecompilableKernel]", product: "Product | None", condition: str
) -> "list[RecompilableKernel]":
    """Return the kernels with at least 5 % of the time, followed by the most launched kernels without a time.

    Each kernel has the configuration that represents its autotuner's choice.
    """
    from kprof.targets.captured import loaded
    from kprof_analyzers.model import predict
    from kprof_analyzers.pipeline import facts_of

    def time_us(each: "RecompilableKernel") -> float:
        try:
            kernel = loaded(each.kernel)
            asked = replace(kernel, product=product or kernel.product, condition=CONDITIONS[condition])
            facts, *_ = facts_of(asked)
            return (predict(facts).time_us or 0.0) * each.kernel.launches
        except KprofError:
            return 0.0

    found = [standing(each, product or each.kernel.product) for each in found]
    times = {each.target: time_us(each) for each in found}
    least = LEAST_SHARE * sum(times.values())
    timed = [each for each in found if times[each.target] >= max(least, 1e-9)]
    untimed = [each for each in found if times[each.target] == 0]
    timed.sort(key=lambda each: times[each.target], reverse=True)
    untimed.sort(key=lambda each: each.kernel.launches, reverse=True)
    return [*timed[:_MOST_KERNELS], *untimed[:_UNTIMED_KERNELS]]
