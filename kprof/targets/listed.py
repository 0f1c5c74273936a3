"""Compile the configurations of an autotuned function within a time limit."""

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
"""Seconds after which no further configuration is compiled."""


def compile_target(
    target: Target, gpus: Sequence[tuple[Architecture, Product | None]], options: CompileOptions
) -> Iterator[LoadedKernel]:
    """Compile a source target for each GPU, and for each of its configurations if requested.

    Args:
        target: the target.
        gpus: architectures, each with its product if one was named.
        options: which kernels, cases and configurations to compile.

    Raises:
        KprofError: if a kernel, case or knob does not exist, the architecture does not support the kernel, or Triton is
            missing or rejects the kernel.
    """
    jobs = [
        replace(job, product=product) for machine, product in gpus for job in plan(target, [machine], options, product)
    ]
    # Products of one architecture usually run the same code, which is compiled only once.
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
    """Compile an autotuner's configurations; return the first one that compiles, with all others attached.

    Args:
        job: a job with :attr:`kprof.targets.jobs.TargetJob.listed`.
        options: workers and cache.

    Raises:
        KprofError: if no configuration compiles, or no usable Triton is installed.
    """
    requests = [each.request for _, each in job.listed]

    def in_time() -> Iterator[CompileRequest]:
        yield from requests[:1]
        yield from Deadline(SECONDS).taking(requests[1:])

    outcomes = {one.index: one for one in compile_many(in_time(), options.jobs or None, cache=options.use_cache)}

    def load(each: TargetJob, outcome: CompileOutcome | None) -> LoadedKernel:
        if outcome is None:
            raise NotCompiledInTimeError("not compiled within the time limit")
        return loaded(each, outcome.result())

    listed = [
        ListedConfiguration(config, partial(load, each, outcomes.get(place)))
        for place, (config, each) in enumerate(job.listed)
    ]
    first = next((place for place, outcome in sorted(outcomes.items()) if outcome.compiled is not None), 0)
    return replace(listed[first].load(), listed=listed)
