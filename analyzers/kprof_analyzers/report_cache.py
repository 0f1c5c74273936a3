"""Cache reports of compiled kernels, so that a program is not analysed again by an unchanged kprof.

The cache key consists of the compiled kernel's hash and of hashes of kprof and its analyzers. The kernel's hash covers
its source, helpers and files, including ignore comments.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from kprof.analysis import Analyzer, discover
from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.compiler.compiled_cache import directory, known
from kprof.compiler.request import Compiled, CompileOutcome, CompileRequest
from kprof.condition import CONDITIONS
from kprof.document import KernelReport
from kprof.hardware.default import DEFAULT_GPU
from kprof.hardware.machine import load_gpu
from kprof.inputs.garbage_collection import paused
from kprof.options.groups import CompileOptions
from kprof.targets.jobs import TargetJob, compile_jobs, loaded, plan
from kprof.targets.listed import load_listed

if TYPE_CHECKING:
    from kprof.targets.loaded import LoadedKernel
    from kprof.targets.target import TargetLike

_REPORTS = CacheSection("reports")
_EXPLAINED = CacheSection("explained")


def judged(
    jobs: Iterable[TargetJob], workers: int | None = None
) -> Iterator[tuple[int, KernelReport | CompileOutcome]]:
    """Compile and analyse kernels in worker processes, unless their reports are cached.

    Args:
        jobs: kernels to compile. Jobs are taken when workers become free, so a generator can plan further jobs while
            workers compile.
        workers: number of processes, by default one per CPU.

    Yields:
        The index of a job, and its report or the outcome with the reason why there is none.

    Raises:
        KprofError: if there is no usable Triton.
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

    # The pool starts a process only when it gets its first request.
    with Pool(workers) as pool:
        finish = Finish("kprof_analyzers.report_cache:judge", lambda at: _argument(waiting[at][1]))
        for outcome in pool.run(requests(), directory(), finish):
            index = waiting[outcome.index][0]
            if outcome.answer is not None:
                yield index, msgspec.convert(outcome.answer, KernelReport)
            else:
                yield index, outcome
    yield from ready


def predicted_reports(target: "TargetLike", options: CompileOptions) -> Iterator[tuple[TargetJob, KernelReport]]:
    """Yield each launch of a source target with its report and predicted time, one for each GPU.

    Raises:
        KprofError: for the reasons of :func:`kprof.targets.resolver.load`.
    """
    gpus = [load_gpu(name) for name in options.arch or (DEFAULT_GPU,)]
    root = directory() if options.use_cache else None
    wanted: list[list[TargetJob]] = []
    for machine, product in gpus:
        for job in plan(target, [machine], options, product):
            # Launches for several products of one architecture are compiled once if they are equal.
            same = next((each for each in wanted if each[0].product != product and _is_same(each[0], job)), None)
            if same is None:
                same = []
                wanted.append(same)
            same.append(replace(job, product=product))
    kept = [_recall_explained(each, root) for each in wanted]
    missing = [each[0] for each, reports in zip(wanted, kept, strict=True) if reports is None and not each[0].listed]
    compiles = compile_jobs(missing, options)
    for each, known_reports in zip(wanted, kept, strict=True):
        if known_reports is not None:
            reports = known_reports
        elif each[0].listed:
            reports = list(_explain(each, load_listed(each[0], options), _digest(each[0], root), root))
        else:
            compiled = next(compiles)
            reports = list(_explain(each, loaded(each[0], compiled), compiled.hash, root))
        yield from zip(map(_chosen, each, reports), reports, strict=True)


def _is_same(planned: TargetJob, job: TargetJob) -> bool:
    """Return whether two launches are equal apart from their product."""
    return replace(planned, product=None) == replace(job, product=None)


def _chosen(job: TargetJob, report: KernelReport) -> TargetJob:
    """Return the job of the configuration that the report is about."""
    if report.autotuned is UNSET:
        return job
    found = dict(job.listed).get(report.autotuned.config, job)
    return replace(found, product=job.product)


def judged_listed(job: TargetJob, options: CompileOptions) -> KernelReport:
    """Return the report of an autotuned function in the configuration that the model predicts to be fastest.

    Raises:
        KprofError: if none of its configurations compiles.
    """
    from kprof_analyzers.autotuned import in_chosen_configuration
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    kernel = in_chosen_configuration(replace(load_listed(job, options), product=job.product))
    with paused():
        return with_time(analyze(kernel, _analyzers()), kernel)


def _digest(job: TargetJob, root: Path | None) -> str | None:
    """Return a digest of a job's compile and of its listed configurations' compiles; ``None`` if one is not cached."""
    if root is None:
        return None
    found = [known(one.request, root) for one in (job, *(each for _, each in job.listed))]
    return None if None in found else " ".join(filter(None, found))


def _recall_explained(jobs: Sequence[TargetJob], root: Path | None) -> list[KernelReport] | None:
    """Return the cached reports of one compile for several products, or ``None`` if one is missing or outdated."""
    digest = _digest(jobs[0], root)
    if digest is None:
        return None
    reports = [_read_report(_EXPLAINED, _explained_key(job, digest)) for job in jobs]
    found = [report for report in reports if report is not None]
    return found if len(found) == len(reports) else None


def _explain(
    jobs: Sequence[TargetJob], kernel: "LoadedKernel", digest: str | None, root: Path | None
) -> Iterator[KernelReport]:
    from kprof_analyzers.pipeline import analyze

    for job in jobs:
        with paused():
            analyzed = analyze(replace(kernel, product=job.product), model=True)
        # Encode and decode, so that the report equals one from the cache, for example 2.0 instead of 2 in float fields.
        data = msgspec.json.encode(analyzed, enc_hook=str)
        report = msgspec.json.decode(data, type=KernelReport)
        # Do not cache reports with a failed analyzer, which may succeed next time.
        if root is not None and digest and report.rules is not UNSET and not report.rules.failed:
            _EXPLAINED.write(_explained_key(job, digest), [data], root)
        yield report


def _explained_key(job: TargetJob, digest: str) -> str:
    """Return the cache key of a report with predicted times; it covers the job's notes, which the report contains."""
    return derived_key(digest, _argument(job), list(job.notes))


def judge(compiled: Compiled, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Analyse a compiled kernel in a worker process, cache its report, and return it as JSON values."""
    machine, product = load_gpu(argument["gpu"])
    job = TargetJob(
        request=compiled.request,
        machine=machine,
        name=argument["name"],
        grid=None if argument["grid"] is None else tuple(argument["grid"]),
        problem={},
        arguments=argument["arguments"],
        product=product,
        job=argument["job"],
        values=argument["values"],
        contents=argument["contents"],
        condition=CONDITIONS[argument["condition"]],
    )
    report = _analyzed(job, compiled)
    text = msgspec.json.encode(report, enc_hook=str)
    if compiled.hash:
        _REPORTS.write(_key(job, compiled.hash), [text])
    plain: dict[str, Any] = msgspec.json.decode(text)
    return plain


def _analyzed(job: TargetJob, compiled: Compiled) -> KernelReport:
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    with paused():
        kernel = loaded(job, compiled)
        return with_time(analyze(kernel, _analyzers()), kernel)


@cache
def _analyzers() -> tuple[Analyzer, ...]:
    return tuple(discover())


def _recall(job: TargetJob) -> KernelReport | None:
    """Return the report of an earlier run if no file and no part of kprof has changed, otherwise ``None``."""
    root = directory()
    digest = None if root is None else known(job.request, root)
    return None if digest is None else _read_report(_REPORTS, _key(job, digest))


def _read_report(section: CacheSection, key: str) -> KernelReport | None:
    data = section.read(key)
    if data is None:
        return None
    report = msgspec.json.decode(data, type=KernelReport)
    return msgspec.structs.replace(report, cached=True) if report.cached is not UNSET else report


def _argument(job: TargetJob) -> dict[str, Any]:
    """Return the properties of a job that a worker needs in addition to the compile request."""
    return {
        "gpu": job.machine.name if job.product is None else job.product.name,
        "name": job.name,
        "grid": None if job.grid is None else list(job.grid),
        "arguments": dict(job.arguments),
        "job": job.job,
        "condition": job.condition.name,
        "values": {name: value if isinstance(value, int) else list(value) for name, value in job.values.items()},
        "contents": {name: list(numbers) for name, numbers in job.contents.items()},
    }


def _key(job: TargetJob, digest: str) -> str:
    return derived_key(digest, _argument(job))
