"""Find trace files and their formats, and apply a function to each file, optionally in processes or on Dask."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from kprof.errors import InputError, KprofError
from kprof.inputs import perfetto, xplane
from kprof.inputs.completeness import Repairs, repaired
from kprof.inputs.rocprof.timeline import is_timeline, load_timeline
from kprof.inputs.torch_profiler.load import MODULES_ONLY, load
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof.inputs.torch_profiler.proton import is_proton
from kprof.inputs.torch_profiler.tables import is_tables, read_tables
from kprof.output import progress

R = TypeVar("R")
_SMALL = 4_000_000
"""For files of up to this total size in bytes, one process is faster than starting several."""
_ENDINGS = (".json", ".json.gz", ".hatchet", ".hatchet_msgpack", ".chrome_trace", ".trace", ".trace.gz",
            *perfetto.ENDINGS, *xplane.ENDINGS)  # fmt: skip
Kind = Literal["kineto", "proton", "tables", "rocprof", "perfetto", "xplane"]
_READERS: dict[Kind, Callable[[Path], LinkedTrace]] = {
    "perfetto": perfetto.load_perfetto,
    "xplane": xplane.load_xplane,
    "rocprof": load_timeline,
    "tables": read_tables,
}


class TraceFile(msgspec.Struct, frozen=True):
    """A trace file or a directory of tables, and its format.

    ``found`` is True if the file was found in a folder that the user named. ``repairs`` are applied after reading.
    """

    path: str
    kind: Kind
    found: bool = False
    repairs: Repairs = ()


class LeftOut(msgspec.Struct, frozen=True):
    """A file in a folder that was not read, and the reason."""

    path: str
    reason: str


class Failed(msgspec.Struct, frozen=True):
    """Result for a file for which the function raised :class:`KprofError`, with the error's message."""

    path: str
    message: str


def trace_files(paths: Sequence[Path], repairs: Repairs = ()) -> list[TraceFile]:
    """Return the given files, and the traces found in the given folders.

    Raises:
        KprofError: if a path does not exist, or a folder contains no trace.
    """
    result: dict[str, TraceFile] = {}
    for path in paths:
        if not path.exists():
            raise InputError("no such file or directory", path=str(path))
        if path.is_dir():
            inside = list(_files_inside(path))
            if not inside and _has_timeline(path):
                inside = [TraceFile(str(path), "rocprof", found=True)]
            if not inside:
                raise InputError(
                    "no traces in this directory",
                    path=str(path),
                    hint=f"read are {', '.join(_ENDINGS)} and the Parquet that kprof ingest trace wrote; "
                    f"for rocprof's files: kprof ingest counters {path}",
                )
            result.update({f.path: f for f in inside})
        else:
            result[str(path)] = TraceFile(str(path), _kind_of(path))
    return [msgspec.structs.replace(file, repairs=repairs) for file in result.values()]


def _kind_of(path: Path) -> Kind:
    if perfetto.is_perfetto(path):
        return "perfetto"
    if xplane.is_xplane(path):
        return "xplane"
    return "proton" if is_proton(path) else "rocprof" if is_timeline(path) else "kineto"


def _has_timeline(folder: Path) -> bool:
    """Return whether a folder contains CSV traces or a database of rocprofv3, which are files of one run."""
    found = (Path(where) / name for where, _, names in os.walk(folder) for name in names)
    return any(is_timeline(path) for path in found if path.suffix in {".csv", ".db"})


def other_files(paths: Sequence[Path]) -> list[str]:
    """Return the files in the given folders that are not recognised as traces."""
    found: list[str] = []
    for folder in paths:
        if not folder.is_dir() or is_tables(folder):
            continue
        for directory, names, files in os.walk(folder):
            here = Path(directory)
            names[:] = sorted(name for name in names if not is_tables(here / name))
            found += [str(here / name) for name in sorted(files) if not name.endswith(_ENDINGS)]
    return found


def _files_inside(folder: Path) -> Iterator[TraceFile]:
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
                yield TraceFile(str(path), _kind_of(path), found=True)


def open_trace(
    file: TraceFile, *, shortest_frame_us: float = MODULES_ONLY, details: bool = True, rank: int | None = None
) -> LinkedTrace:
    """Return the linked tables of a trace, or of a directory of tables; see the readers for the arguments.

    Raises:
        KprofError: if the file is unreadable, or is a Proton profile, which has no timeline.
    """
    if file.kind == "proton":
        raise InputError("a Proton profile has sums but no timeline", path=file.path, hint="kprof trace top reads it")
    if file.kind != "kineto":
        return repaired(_READERS[file.kind](Path(file.path)), file.repairs)
    return repaired(load(file.path, shortest_frame_us=shortest_frame_us, details=details, rank=rank), file.repairs)


class FileStep(msgspec.Struct, frozen=True):
    """Callable that applies a function to a file; picklable if ``function`` is defined in a module."""

    function: Callable[..., Any]
    options: dict[str, Any] = {}

    def __call__(self, file: TraceFile) -> Any:
        """Return the function's result, or :class:`Failed`."""
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
    """Yield ``function(file, **options)`` for every file, in the order of the files.

    If a worker dies, its files are processed again. The result for a file that then kills another worker is
    :class:`Failed`.

    Args:
        function: a module-level function.
        files: files to process.
        jobs: number of processes. 1 uses this process only; 0 uses one per core, or this process if the files are
            small.
        scheduler: address of a Dask scheduler (``tcp://host:8786``) to use instead; its workers need kprof and the
            files.
        options: further arguments of ``function``.

    Raises:
        KprofError: if Dask is missing or cannot be reached, or has no workers.
    """
    step = FileStep(function, options)
    with progress.step("reading", len(files) if len(files) > 1 else None, "traces") as so_far:
        for result in _results(step, files, jobs, scheduler):
            so_far.done += 1
            yield result


def _results(step: FileStep, files: Sequence[TraceFile], jobs: int, scheduler: str | None) -> Iterator[Any]:
    workers = min(jobs or _useful_processes(files), len(files))
    if scheduler is None and workers <= 1:
        return map(step, files)
    # Imported only when needed, because importing the process pool takes a tenth of a command's start-up time.
    from kprof_analyzers.profiles.timeline.workers import in_processes, on_dask

    if scheduler is not None:
        return on_dask(step, files, _died, scheduler)
    return in_processes(step, files, _died, workers)


def _useful_processes(files: Sequence[TraceFile]) -> int:
    """Return one process per core, or 1 if starting processes takes longer than reading the files."""
    sizes = [Path(file.path).stat().st_size for file in files if Path(file.path).is_file()]
    return 1 if len(sizes) == len(files) and sum(sizes) < _SMALL else os.cpu_count() or 1


def _died(file: TraceFile) -> Failed:
    """Return the result for a file whose workers all died."""
    hint = "the file may need more memory than the machine has"
    return Failed(file.path, str(InputError("the worker processes that read it died", path=file.path, hint=hint)))
