"""Reports of compiled kernels, kept beside them: the same program, judged by the same kprof, is not judged again.

The compiled kernel's hash stands for its source, helpers and files, ignore comments included; the rest of the key says
who judges.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.analysis import Analyzer, discover
from kprof.cache import files as store
from kprof.cache.compiled import directory, known
from kprof.compiler.request import Compiled, CompileRequest, Outcome
from kprof.document import KernelReport
from kprof.hardware.machine import load as load_architecture
from kprof.targets.jobs import Job, loaded
from kprof.version import __version__
from kprof_analyzers.collecting import paused

_VERSION = "1"
_SHARE = 8
"""Reports may take this part of what compiled kernels may."""


def judged(jobs: Iterable[Job], workers: int | None = None) -> Iterator[tuple[int, KernelReport | Outcome]]:
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

    waiting: list[tuple[int, Job]] = []
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
        finish = Finish("kprof_analyzers.remembered:judge", lambda at: _argument(waiting[at][1]))
        for outcome in pool.run(requests(), directory(), finish):
            index = waiting[outcome.index][0]
            if outcome.answer is not None:
                yield index, msgspec.convert(outcome.answer, KernelReport)
            else:
                yield index, outcome
    yield from ready


def judge(compiled: Compiled, argument: Mapping[str, Any]) -> dict[str, Any]:
    """In a worker: the report of a compiled kernel, kept for the next time, as JSON values."""
    job = Job(
        request=compiled.request,
        machine=load_architecture(argument["arch"]),
        name=argument["name"],
        grid=None if argument["grid"] is None else tuple(argument["grid"]),
        problem={},
        arguments=argument["arguments"],
    )
    report = _analyzed(job, compiled)
    text = msgspec.json.encode(report, enc_hook=str)
    if compiled.hash and store.write(_path(job, compiled.hash), {"report": _VERSION}, {"report": text}):
        store.sweep_sometimes(_folder(), store.size_limit() // _SHARE)
    plain: dict[str, Any] = msgspec.json.decode(text)
    return plain


def _analyzed(job: Job, compiled: Compiled) -> KernelReport:
    from kprof_analyzers.pipeline import analyze

    with paused():
        return analyze(loaded(job, compiled), _analyzers())


@cache
def _analyzers() -> tuple[Analyzer, ...]:
    return tuple(discover())


def _recall(job: Job) -> KernelReport | None:
    """The report of an earlier run, if no file has changed since and the same kprof would make it."""
    digest = known(job.request, directory())
    frame = None if digest is None else store.read(_path(job, digest))
    if frame is None:
        return None
    try:
        report = msgspec.json.decode(frame[1]["report"], type=KernelReport)
    except (KeyError, msgspec.DecodeError):
        return None
    return msgspec.structs.replace(report, cached=True) if report.cached is not UNSET else report


def _argument(job: Job) -> dict[str, Any]:
    """What a worker must know beside the request."""
    return {
        "arch": job.machine.name,
        "name": job.name,
        "grid": None if job.grid is None else list(job.grid),
        "arguments": dict(job.arguments),
    }


def _folder() -> Path:
    return store.root() / f"reports-{_VERSION}"


def _path(job: Job, digest: str) -> Path:
    text = json.dumps([_judges(), digest, _argument(job)], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()
    return _folder() / key[:2] / key


@cache
def _judges() -> str:
    """What stands for all that judges: kprof's own files, and the analyzers that other distributions add."""
    import kprof.version
    import kprof_analyzers

    parts = [__version__]
    for package in (kprof, kprof_analyzers):
        parts += _contents(Path(str(package.__file__)).parent)
    return hashlib.sha256("\n".join([*parts, *_others()]).encode()).hexdigest()


def _contents(folder: Path) -> Iterable[str]:
    """Names and contents of a package's files; not their times, which every installation sets anew."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.endswith((".py", ".toml")):
                path = Path(place, name)
                yield f"{path.relative_to(folder).as_posix()} {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _others() -> Iterable[str]:
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    for entry in entry_points(group="kprof.analyzers"):
        yield f"{entry.value} {entry.dist.version if entry.dist else ''}"
        spec = find_spec(entry.module.partition(".")[0])
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            if entry.module.partition(".")[0] != "kprof_analyzers":
                yield from _contents(Path(folder))
