"""An autotuned function of a file: each configuration that it lists, compiled as far as the time for that goes."""

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from kprof.captures.model import NOT_COMPILED
from kprof.compiler.compile import compile_many
from kprof.compiler.request import CompileOutcome, CompileRequest
from kprof.errors import KprofError
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import TargetJob, loaded
from kprof.targets.loaded import ListedConfiguration, LoadedKernel

SECONDS = 60.0
"""After this many seconds no further configuration is compiled."""


def load_listed(job: TargetJob, options: CompileOptions) -> LoadedKernel:
    """Compile the configurations among which an autotuner chooses; the first one that compiles has them all.

    Args:
        job: with :attr:`kprof.targets.jobs.TargetJob.listed`.
        options: workers and cache.

    Raises:
        KprofError: none of them compiles, or there is no usable Triton.
    """
    deadline = time.monotonic() + SECONDS

    def requests() -> Iterator[CompileRequest]:
        for place, (_, each) in enumerate(job.listed):
            if place and time.monotonic() >= deadline:
                return
            yield each.request

    outcomes = {one.index: one for one in compile_many(requests(), options.jobs or None, cache=options.use_cache)}

    def load(each: TargetJob, outcome: CompileOutcome | None) -> LoadedKernel:
        if outcome is None:
            raise KprofError(NOT_COMPILED)
        return loaded(each, outcome.result())

    listed = [
        ListedConfiguration(config, partial(load, each, outcomes.get(place)))
        for place, (config, each) in enumerate(job.listed)
    ]
    first = next((place for place, outcome in sorted(outcomes.items()) if outcome.compiled is not None), 0)
    return replace(listed[first].load(), listed=listed)
