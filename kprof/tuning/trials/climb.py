"""Search by predicted time: compile and predict configurations, and try the neighbours of the fastest ones next."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from kprof.compiler.pool import Pool
from kprof.compiler.versions import installed
from kprof.deadline import Deadline
from kprof.findings import Finding
from kprof.hardware.machine import Architecture, Product
from kprof.tuning.estimate import Estimate
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.executors.local import LocalExecutor
from kprof.tuning.neighbourhood import Neighbourhood
from kprof.tuning.order import Queue
from kprof.tuning.problems import Problem
from kprof.tuning.pruning import Pruned, legal_values, question
from kprof.tuning.search import Search
from kprof.tuning.search_result import Progress, SearchResult
from kprof.tuning.space import Space
from kprof.tuning.subject import KernelSubject, TuningSubject
from kprof.tuning.trials import predicted
from kprof.tuning.trials.analysed import analysed
from kprof.tuning.trials.changes import neighbours
from kprof.tuning.trials.trial import Trials
from kprof.tuning.work import Executor, Judge

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel
    from kprof.options.groups import CompileOptions

CLOSE = 1.01
"""Configurations within this factor of the fastest count as equal; the one with the fewest changes is proposed."""

CHEAPEST = 6
"""Number of tiles of the kernel's space with the lowest rough cost that are tried wherever the search starts."""

IN_FLIGHT = 8
"""Maximum number of configurations in flight, independent of the number of workers."""

LOOKED_AT = 12
"""Maximum number of fastest configurations that are analysed completely."""


def climb(
    kernel: "Kernel",
    machine: Architecture,
    options: "CompileOptions",
    start: Evaluation,
    *,
    product: Product,
    problem: Mapping[str, Any],
    deadline: Deadline,
    progress: Callable[[int, str], None] | None = None,
    executor: Executor | None = None,
    most: int | None = None,
) -> Trials | str:
    """Search around a kernel's configuration by predicted time.

    Args:
        kernel: a kernel with cases.
        machine: architecture.
        options: starting knobs and environment.
        start: the starting point, compiled and analysed.
        product: the GPU, whose number of CUs is known.
        problem: the kernel's problem.
        deadline: time after which no further compile starts.
        progress: called with the number of finished configurations and a status text.
        executor: executor that compiles; by default processes on this machine.
        most: maximum number of configurations, independent of the time; ``None``: no limit.

    Returns:
        The trials, or the reason why the model has no time for the start.

    Raises:
        KprofError: if no usable Triton is installed, or the kernel's file fails.
    """
    assert start.report is not None
    subject = _tuning_subject(kernel, machine, product, problem, options)
    changes = _changes(kernel, machine, problem, start.report.findings)
    estimate = Estimate(machine, product, problem, subject.element_bytes(subject.problems[0]), start.config)
    around = ClimbScope(
        f"neighbours of {kernel.name}'s current configuration",
        changes,
        lambda base: seeds(kernel, machine, problem, base, estimate.cost, product),
        estimate.cost,
        most,
    )
    return climb_around(
        subject, start, around, deadline=deadline, progress=progress, executor=executor,
        jobs=options.jobs, use_cache=options.use_cache,
    )  # fmt: skip


@dataclass(frozen=True)
class ClimbScope:
    """The configurations around a starting point.

    Attributes:
        origin: description of the configurations.
        changes: returns the changes of a configuration, most promising first.
        seeds: returns configurations that are worth trying wherever a search starts, given the starting point.
        cost: returns a rough cost of a configuration.
        most: maximum number of configurations; ``None``: no limit.
    """

    origin: str
    changes: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
    seeds: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]] = lambda _start: ()
    cost: Callable[[Mapping[str, Any]], float] = lambda _config: 1.0
    most: int | None = None


def climb_around(
    subject: TuningSubject,
    start: Evaluation,
    around: ClimbScope,
    *,
    deadline: Deadline,
    progress: Callable[[int, str], None] | None = None,
    executor: Executor | None = None,
    jobs: int = 0,
    use_cache: bool = True,
    pool: Pool | None = None,
) -> Trials | str:
    """Search by predicted time around a starting point, for any subject with one problem.

    Args:
        subject: kernel and problem; its ``base`` is the starting point.
        start: the starting point, compiled and analysed.
        around: the configurations to try.
        deadline: time after which no further compile starts.
        progress: called with the number of finished configurations and a status text.
        executor: executor that compiles; by default processes on this machine.
        jobs: worker processes, 0 for one per core.
        use_cache: whether compiles may come from kprof's cache.
        pool: worker processes that stay alive for several searches.

    Returns:
        The trials, or the reason why the model has no time for the start.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    orders: list[Neighbourhood] = []

    def order(base: Mapping[str, Any]) -> Neighbourhood:
        orders.append(Neighbourhood(base, around.changes, around.cost, around.seeds(base), most=around.most))
        return orders[-1]

    judge = Judge(predicted.FUNCTION, predicted.version())
    found = Search(
        subject,
        Space(around.origin),
        judge=judge,
        executor=executor or LocalExecutor(judge, jobs or None, pool=pool),
        journal=None,
        budget=deadline.left,
        report=_teller(progress),
        order=order,
        in_flight=IN_FLIGHT,
    ).run()
    own = found.own[0]
    if found.ended == "interrupted":
        raise KeyboardInterrupt
    if own is None:
        return found.own_problems[0] or "the model cannot say how long it takes"
    (waiting,) = orders
    return replace(_trials(subject, start, own, found, waiting, use_cache=use_cache), seconds=deadline.spent)


def _changes(
    kernel: "Kernel", machine: Architecture, problem: Mapping[str, Any], findings: Sequence[Finding]
) -> Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]:
    """Return a function that lists the changes to try from a configuration, those proposed by a finding first."""
    rules = {finding.rule for finding in findings}
    version = installed().numbers
    advised = {(advice.knob, repr(advice.to)) for finding in findings for advice in finding.advice}

    def changes(config: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        found = neighbours(kernel, problem, config, machine, rules, version=version)
        return sorted(
            found, key=lambda change: len(change) > 1 or not advised & {(n, repr(v)) for n, v in change.items()}
        )

    return changes


def seeds(  # noqa: PLR0917 - the kernel, the GPU and problem, and the starting point
    kernel: "Kernel",
    machine: Architecture,
    problem: Mapping[str, Any],
    start: Mapping[str, Any],
    cost: Callable[[Mapping[str, Any]], float],
    product: Product | None = None,
) -> list[dict[str, Any]]:
    """Return configurations that are worth trying wherever a search starts.

    These are the kernel's own configuration for this problem, the configurations that its file lists, and the tiles of
    its space with the lowest rough cost.

    Args:
        kernel: the kernel.
        machine: architecture.
        problem: problem parameters.
        start: knobs and switches of the starting point.
        cost: returns a rough cost of a configuration.
        product: the GPU, whose number of CUs determines launches; ``None``: the architecture's first product.
    """
    gpu = machine.name if product is None else product.name
    overrides = [{}, *kernel.configs]
    own = [{**start, **kernel.configure(gpu, override, problem)} for override in overrides]
    legal = [config for config in own if kernel.legal is None or kernel.legal(problem, config, machine.name) is None]
    # For finer knobs, the kernel's own configuration is a better source than the starting point.
    if kernel.space:
        ask = question(kernel, problem, machine, ())
        knobs = legal_values({name: tuple(found) for name, found in kernel.space.items()}, machine, problem, Pruned())
        legal += islice(Queue(Space("", knobs), {**start, **own[0]}, ask, cost, Pruned()), CHEAPEST)
    return legal


def _teller(progress: Callable[[int, str], None] | None) -> Callable[[Progress], None] | None:
    if progress is None:
        return None

    def tell(now: Progress) -> None:
        unit = f"cycles per element of {now.axis}" if now.axis else "µs"
        best = f"best {now.best[1]:,.4g} {unit}" if now.best is not None else "none predicted yet"
        progress(now.done, best)

    return tell


def _trials(
    subject: TuningSubject,
    start: Evaluation,
    own: Evaluation,
    found: SearchResult,
    waiting: Neighbourhood,
    *,
    use_cache: bool,
) -> Trials:
    base = start.config
    every = sorted((_trial(base, one) for one in found.ranked[0]), key=_order)
    everyone = preferred([trial for trial in every if trial.change])
    begun = replace(own, config=base, change={}, report=start.report, measure=start.measure)
    faster = [trial for trial in everyone if trial.rank < own.rank]
    return Trials(
        start=begun,
        best=tuple(with_report(subject, trial, use_cache=use_cache) for trial in faster[:LOOKED_AT]),
        tried=found.progress.done,
        ranked_by="cycles" if own.axis else "time",
        why="; ".join(own.assumptions[:1]) if own.axis else "",
        failed=found.failed,
        left=waiting.left,
        settled=waiting.settled,
        all=tuple(everyone),
        condition=subject.condition,
    )


def _order(trial: Evaluation) -> tuple[float, int, str]:
    """Return a sort key that does not depend on the order in which compiles end."""
    return (trial.rank, len(trial.change), repr(sorted(trial.config.items(), key=str)))


def preferred(ranked: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the trials, fastest first; of those within :data:`CLOSE`, the trial with fewest changes comes first."""
    if not ranked or ranked[0].cost is None:
        return list(ranked)
    limit = CLOSE * ranked[0].cost
    near = [trial for trial in ranked if trial.rank <= limit]
    first = min(near, key=lambda trial: (len(trial.change), trial.rank))
    return [first, *(trial for trial in ranked if trial is not first)]


def _trial(base: Mapping[str, Any], one: Evaluation) -> Evaluation:
    """Represent configurations with equal programs by the one with the fewest changes."""
    configs = [one.config, *one.alike]
    changes = [{n: v for n, v in config.items() if base.get(n) != v} for config in configs]
    place = min(range(len(configs)), key=lambda n: (len(changes[n]), repr(sorted(changes[n].items(), key=str))))
    return replace(one, change=changes[place], config=configs[place])


def _tuning_subject(
    kernel: "Kernel",
    machine: Architecture,
    product: Product | None,
    problem: Mapping[str, Any],
    options: "CompileOptions",
) -> KernelSubject:
    return KernelSubject(
        kernel,
        machine,
        product,
        (Problem("", problem),),
        config=options.config,
        environment=options.env,
        values=options.value,
        condition=options.condition,
    )


def with_report(subject: TuningSubject, trial: Evaluation, *, use_cache: bool = True) -> Evaluation:
    """Return the trial with its report and figures.

    Its code is in the cache, because it was compiled for its prediction.
    """
    if trial.report is not None:
        return trial
    job = subject.jobs(subject.problems[0], trial.config)[0]
    looked = analysed(job, trial.config, use_cache=use_cache)
    return replace(trial, report=looked.report, measure=looked.measure, error=looked.error)


def reported(
    kernel: "Kernel", machine: Architecture, options: "CompileOptions", problem: Mapping[str, Any], trials: Trials
) -> Iterator[Evaluation]:
    """Yield every trial with its report, best first. Each report is computed on demand.

    Raises:
        KprofError: if a trial that compiled before fails to compile.
    """
    subject = _tuning_subject(kernel, machine, None, problem, options)
    seen = {repr(sorted(trial.config.items(), key=str)) for trial in trials.best}
    yield from trials.best
    for trial in trials.all:
        if repr(sorted(trial.config.items(), key=str)) not in seen:
            yield with_report(subject, trial, use_cache=options.use_cache)
