"""An autotuned function of a file: each configuration that it lists, compiled as far as the time for that goes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from kprof.compiler.compile import compile_many
from kprof.compiler.request import Compiled, CompileOutcome, CompileRequest
from kprof.deadline import Deadline
from kprof.errors import NotCompiledInTimeError
from kprof.hardware.machine import Architecture, Product
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import TargetJob, compile_jobs, loaded, plan
from kprof.targets.loaded import ListedConfiguration, LoadedKernel
from kprof.targets.target import Target

SECONDS = 60.0
"""After this many seconds no further configuration is compiled."""


def compile_target(
    target: Target, gpus: Sequence[tuple[Architecture, Product | None]], options: CompileOptions
) -> Iterator[LoadedKernel]:
    """Compile a source target for each GPU, and for each of its configurations when asked.

    Args:
        target: what to compile.
        gpus: architectures, each with the product that was named.
        options: what to compile of it.

    Raises:
        KprofError: no such kernel, case or knob; the architecture cannot do what the kernel needs; Triton is missing or
            refuses.
    """
    jobs = [
        replace(job, product=product) for machine, product in gpus for job in plan(target, [machine], options, product)
    ]
    # Products of one architecture mostly run the same code, which is compiled once.
    different = {job.request.key: job for job in jobs if not job.listed}
    compiles = zip(different, compile_jobs(list(different.values()), options), strict=True)
    finished: dict[str, Compiled] = {}
    for job in jobs:
        if job.listed:
            yield load_listed(job, options)
            continue
        while job.request.key not in finished:
            key, compiled = next(compiles)
            finished[key] = compiled
        yield loaded(job, finished[job.request.key])


def load_listed(job: TargetJob, options: CompileOptions) -> LoadedKernel:
    """Compile the configurations among which an autotuner chooses; the first one that compiles has them all.

    Args:
        job: with :attr:`kprof.targets.jobs.TargetJob.listed`.
        options: workers and cache.

    Raises:
        KprofError: none of them compiles, or there is no usable Triton.
    """
    requests = [each.request for _, each in job.listed]

    def in_time() -> Iterator[CompileRequest]:
        yield from requests[:1]
        yield from Deadline(SECONDS).taking(requests[1:])

    outcomes = {one.index: one for one in compile_many(in_time(), options.jobs or None, cache=options.use_cache)}

    def load(each: TargetJob, outcome: CompileOutcome | None) -> LoadedKernel:
        if outcome is None:
            raise NotCompiledInTimeError("not compiled when the time for it was spent")
        return loaded(each, outcome.result())

    listed = [
        ListedConfiguration(config, partial(load, each, outcomes.get(place)))
        for place, (config, each) in enumerate(job.listed)
    ]
    first = next((place for place, outcome in sorted(outcomes.items()) if outcome.compiled is not None), 0)
    return replace(listed[first].load(), listed=listed)
