"""Reports of compiled kernels, kept beside them: the same program, judged by the same kprof, is not judged again.

The compiled kernel's hash stands for its source, helpers and files, ignore comments included; the rest of the key says
who judges.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.analysis import Analyzer, discover
from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.compiler.compiled_cache import directory, known
from kprof.compiler.request import Compiled, CompileOutcome, CompileRequest
from kprof.document import KernelReport
from kprof.hardware.machine import load_gpu
from kprof.targets.jobs import TargetJob, loaded
from kprof_analyzers.garbage_collection import paused

_REPORTS = CacheSection("reports")


def judged(
    jobs: Iterable[TargetJob], workers: int | None = None
) -> Iterator[tuple[int, KernelReport | CompileOutcome]]:
    """Compile and judge kernels in worker processes, each as soon as one is free; what is known is not done again.

    Args:
        jobs: what to compile. They are taken as workers become free, so that a generator may find out what comes next
            while they compile.
        workers: processes, one a CPU by default.

    Yields:
        The index of a job, and its report or the outcome that says why there is none.

    Raises:
        KprofError: no usable Triton.
    """
    from kprof.compiler.pool import Finish, Pool

    waiting: list[tuple[int, TargetJob]] = []
    ready: list[tuple[int, KernelReport]] = []

    def requests() -> Iterator[CompileRequest]:
        for index, job in enumerate(jobs):
            report = _recall(job)
            if report is None:
                waiting.append((index, job))
                yield job.request
            else:
                ready.append((index, report))

    # Without a request no process is started.
    with Pool(workers) as pool:
        finish = Finish("kprof_analyzers.report_cache:judge", lambda at: _argument(waiting[at][1]))
        for outcome in pool.run(requests(), directory(), finish):
            index = waiting[outcome.index][0]
            if outcome.answer is not None:
                yield index, msgspec.convert(outcome.answer, KernelReport)
            else:
                yield index, outcome
    yield from ready


def judge(compiled: Compiled, argument: Mapping[str, Any]) -> dict[str, Any]:
    """In a worker: the report of a compiled kernel, kept for the next time, as JSON values."""
    machine, product = load_gpu(argument["gpu"])
    job = TargetJob(
        request=compiled.request,
        machine=machine,
        name=argument["name"],
        grid=None if argument["grid"] is None else tuple(argument["grid"]),
        problem={},
        arguments=argument["arguments"],
        product=product,
    )
    report = _analyzed(job, compiled)
    text = msgspec.json.encode(report, enc_hook=str)
    if compiled.hash:
        _REPORTS.write(_key(job, compiled.hash), [text])
    plain: dict[str, Any] = msgspec.json.decode(text)
    return plain


def _analyzed(job: TargetJob, compiled: Compiled) -> KernelReport:
    from kprof_analyzers.pipeline import analyze

    with paused():
        return analyze(loaded(job, compiled), _analyzers())


@cache
def _analyzers() -> tuple[Analyzer, ...]:
    return tuple(discover())


def _recall(job: TargetJob) -> KernelReport | None:
    """The report of an earlier run, if no file has changed since and the same kprof would make it."""
    root = directory()
    digest = None if root is None else known(job.request, root)
    data = None if digest is None else _REPORTS.read(_key(job, digest))
    if data is None:
        return None
    report = msgspec.json.decode(data, type=KernelReport)
    return msgspec.structs.replace(report, cached=True) if report.cached is not UNSET else report


def _argument(job: TargetJob) -> dict[str, Any]:
    """What a worker must know beside the request."""
    return {
        "gpu": job.machine.name if job.product is None else job.product.name,
        "name": job.name,
        "grid": None if job.grid is None else list(job.grid),
        "arguments": dict(job.arguments),
    }


def _key(job: TargetJob, digest: str) -> str:
    return derived_key(digest, _argument(job))
