"""Which files a user means, what each of them is, and the step that is done file by file, in processes or on Dask."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from kprof.children import end_with_parent
from kprof.errors import InputError, KprofError
from kprof.inputs.torch_profiler.load import load
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof.inputs.torch_profiler.proton import is_proton
from kprof.inputs.torch_profiler.tables import is_tables, read_tables
from kprof.output import progress

R = TypeVar("R")
_ENDINGS = (".json", ".json.gz", ".hatchet", ".trace", ".trace.gz")
Kind = Literal["kineto", "proton", "tables"]


class TraceFile(msgspec.Struct, frozen=True):
    """A file, or a directory of tables, and what it is; ``found`` when it came from a folder, not by name."""

    path: str
    kind: Kind
    found: bool = False


class LeftOut(msgspec.Struct, frozen=True):
    """A file in a folder that was not read, and why."""

    path: str
    reason: str


class Failed(msgspec.Struct, frozen=True):
    """A file for which the step raised :class:`KprofError`: its message, shown with the others' results."""

    path: str
    message: str


def trace_files(paths: Sequence[Path]) -> list[TraceFile]:
    """Files as given, folders searched for traces.

    Raises:
        KprofError: a path does not exist, or a folder holds no trace.
    """
    result: dict[str, TraceFile] = {}
    for path in paths:
        if not path.exists():
            raise InputError("no such file or directory", path=str(path))
        if path.is_dir():
            inside = list(_inside(path))
            if not inside:
                raise InputError(
                    "no traces in this directory",
                    path=str(path),
                    hint=f"read are {', '.join(_ENDINGS)} and the Parquet that kprof ingest trace wrote; "
                    f"for rocprof's files: kprof ingest counters {path}",
                )
            result.update({f.path: f for f in inside})
        else:
            result[str(path)] = TraceFile(str(path), "proton" if is_proton(path) else "kineto")
    return list(result.values())


def other_files(paths: Sequence[Path]) -> list[str]:
    """Files in the given folders that are not taken for traces."""
    found: list[str] = []
    for folder in paths:
        if not folder.is_dir() or is_tables(folder):
            continue
        for directory, names, files in os.walk(folder):
            here = Path(directory)
            names[:] = sorted(name for name in names if not is_tables(here / name))
            found += [str(here / name) for name in sorted(files) if not name.endswith(_ENDINGS)]
    return found


def _inside(folder: Path) -> Iterator[TraceFile]:
    if is_tables(folder):
        yield TraceFile(str(folder), "tables", found=True)
        return
    for directory, names, files in os.walk(folder):
        names.sort()
        here = Path(directory)
        for name in list(names):
            if is_tables(here / name):
                names.remove(name)
                yield TraceFile(str(here / name), "tables", found=True)
        for name in sorted(files):
            if name.endswith(_ENDINGS):
                path = here / name
                yield TraceFile(str(path), "proton" if is_proton(path) else "kineto", found=True)


def open_trace(file: TraceFile, *, stacks: bool = False, rank: int | None = None) -> LinkedTrace:
    """The linked tables of a trace or of a directory of tables.

    Raises:
        KprofError: unreadable, or a Proton profile, which has no timeline.
    """
    if file.kind == "proton":
        raise InputError("a Proton profile has sums, no timeline", path=file.path, hint="kprof trace top reads it")
    if file.kind == "tables":
        return read_tables(Path(file.path))
    return load(file.path, stacks=stacks, rank=rank)


class FileStep(msgspec.Struct, frozen=True):
    """What is done to each file; picklable as long as ``function`` is a module's own."""

    function: Callable[..., Any]
    options: dict[str, Any] = {}

    def __call__(self, file: TraceFile) -> Any:
        """The function's result, or :class:`Failed`."""
        try:
            with progress.step(f"working on {Path(file.path).name}"):
                return self.function(file, **self.options)
        except KprofError as error:
            return Failed(file.path, str(error))


def each_file(
    function: Callable[..., R],
    files: Sequence[TraceFile],
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    **options: Any,
) -> Iterator[R | Failed]:
    """``function(file, **options)`` for every file, results in the files' order.

    Args:
        function: a module-level function.
        files: what to do it for.
        jobs: processes; 0 means one a core, 1 means this process.
        scheduler: address of a Dask scheduler (``tcp://host:8786``) instead; its workers need kprof and the files.
        options: further arguments of ``function``.

    Raises:
        KprofError: Dask is missing or cannot be reached, or a worker process died.
    """
    step = FileStep(function, options)
    with progress.step("reading", len(files) if len(files) > 1 else None, "traces") as so_far:
        for result in _results(step, files, jobs, scheduler):
            so_far.done += 1
            yield result


def _results(step: FileStep, files: Sequence[TraceFile], jobs: int, scheduler: str | None) -> Iterator[Any]:
    if scheduler is not None:
        yield from _on_dask(step, files, scheduler)
        return
    workers = min(jobs or os.cpu_count() or 1, len(files))
    if workers <= 1:
        yield from map(step, files)
        return
    # spawn: a forked child would inherit the threads of whatever the caller runs.
    spawn, parent = get_context("spawn"), os.getpid()
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=end_with_parent, initargs=(parent,)) as pool:
        try:
            yield from pool.map(step, files)
        except BrokenProcessPool as error:
            raise InputError("a worker process died", hint="try -j 1: the file in work may need more memory") from error


def _on_dask(step: FileStep, files: Iterable[TraceFile], scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("--scheduler needs Dask", hint="pip install distributed") from error
    make: Any = Client
    try:
        client = make(scheduler, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot reach the Dask scheduler {scheduler}: {error}") from error
    try:
        futures = [client.submit(step, file, pure=False) for file in files]
        for future in futures:
            yield future.result()
            future.release()
    finally:
        client.close()
