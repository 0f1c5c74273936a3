"""Compile configurations and analyse them completely: reports and figures, with predicted times on request."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kprof.compiler.compile import compile_many
from kprof.compiler.pool import Pool
from kprof.compiler.request import CompileOutcome
from kprof.deadline import Deadline
from kprof.errors import KprofError
from kprof.targets.jobs import TargetJob, loaded
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.trials.measure import measure
from kprof_analyzers.memory.replication import replication
from kprof_analyzers.model.timed import with_time
from kprof_analyzers.pipeline import analyze

if TYPE_CHECKING:
    from kprof.compiler.request import CompileRequest
    from kprof.targets.loaded import LoadedKernel

Asked = tuple[Mapping[str, Any], Mapping[str, Any], TargetJob]
"""A change, the resulting configuration, and its compile job."""


def analysed_each(
    asked: Iterable[Asked],
    *,
    deadline: Deadline,
    workers: int = 0,
    use_cache: bool = True,
    timed: bool = False,
    in_order: bool = False,
    pool: Pool | None = None,
    adapt: "Callable[[LoadedKernel], LoadedKernel]" = lambda kernel: kernel,
) -> Generator[Evaluation, None, None]:
    """Compile and analyse each of several configurations, including those that do not compile.

    Args:
        asked: configurations to compile, consumed as workers become free.
        deadline: time after which no further compile starts.
        workers: worker processes, 0 for one per core.
        use_cache: whether compiles may come from kprof's cache.
        timed: True to add predicted times.
        in_order: True to yield results in the order of ``asked``; by default they are yielded as they finish.
        pool: worker processes that stay alive for several calls.
        adapt: completes each loaded kernel before it is analysed.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    begun: list[Asked] = []

    def requests() -> "Iterator[CompileRequest]":
        for one in deadline.taking(asked):
            begun.append(one)
            yield one[2].request

    waiting: dict[int, CompileOutcome] = {}
    following = 0
    with closing(compile_many(requests(), workers or None, cache=use_cache, pool=pool)) as outcomes:
        for outcome in outcomes:
            if not in_order:
                yield _analysed(begun[outcome.index], outcome, adapt, timed=timed)
                continue
            waiting[outcome.index] = outcome
            while following in waiting:
                yield _analysed(begun[following], waiting.pop(following), adapt, timed=timed)
                following += 1


def analysed(
    job: TargetJob,
    config: Mapping[str, Any],
    change: Mapping[str, Any] | None = None,
    *,
    use_cache: bool = True,
    pool: Pool | None = None,
) -> Evaluation:
    """Compile and analyse one configuration, in a worker of the pool if there is one.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    asked = [(change or {}, config, job)]
    (found,) = analysed_each(asked, deadline=Deadline(None), workers=1, use_cache=use_cache, pool=pool)
    return found


def analysed_start(job: TargetJob, config: Mapping[str, Any], *, use_cache: bool = True) -> Evaluation:
    """Compile and analyse the starting configuration of a search.

    Raises:
        KprofError: if it does not compile, or no usable Triton is installed.
    """
    start = analysed(job, config, use_cache=use_cache)
    if start.report is None or start.measure is None:
        raise KprofError(f"the present configuration does not compile: {start.error}")
    return start


def _analysed(
    asked: Asked, outcome: CompileOutcome, adapt: "Callable[[LoadedKernel], LoadedKernel]", *, timed: bool
) -> Evaluation:
    change, config, job = asked
    if outcome.compiled is None:
        return Evaluation(config, change, error=outcome.error or outcome.status)
    kernel = adapt(loaded(job, outcome.compiled))
    report = with_time(analyze(kernel), kernel) if timed else analyze(kernel)
    copies = replication(kernel.ttgir) if kernel.ttgir is not None else 1.0
    found = Evaluation(config, change, report=report, measure=measure(report, job.machine, copies))
    time_us = getattr(report.model, "time_us", None)
    return replace(found, time_us=time_us) if timed else found
