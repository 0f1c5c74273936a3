"""``kprof.trace_summary``: summarise traces of any size, and write their tables for other programs."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.options import Path_
from kprof.api.trace.breakdown import device_document
from kprof.api.views import TraceView, function_of, of_one, per_file
from kprof.errors import KprofError
from kprof.options.measurements import CategoryOptions
from kprof.output.quantities import milliseconds
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.files import TraceFile
    from kprof_analyzers.profiles.timeline.streaming import FileSummary as Sums

TABLE_FORMATS = ("parquet", "csv", "json")
_SHOWN = 4


@dataclass(frozen=True, eq=False, repr=False)
class TraceSummary(TraceView):
    """Read timelines of PyTorch, rocprofv3, rocpd, rocprof-sys, JAX and Proton, and summarise them.

    PyTorch's traces (1.8 from 2021 to current, ROCm and CUDA) are read in bounded memory, regardless of their size.

    Attributes:
        traces: one entry per trace: its ``info``, times by kernel, copy, operator, API call and category, and its
            ``devices``.
        others: files in folders that were skipped, because their names do not look like names of traces.
        paths: the paths that were read.
    """

    help = "Timelines of PyTorch, ROCm's profilers, JAX and Proton: summary, tables, other viewers' formats."
    options = CategoryOptions
    traces: "Sequence[Sums]"
    others: Sequence[str]
    paths: Sequence[Path]

    @classmethod
    def of_file(cls, file: "TraceFile", options: Any, **_further: Any) -> "Sums":
        """Compute the sums of one file."""
        from kprof_analyzers.profiles.timeline.steps import summary_step

        return summary_step(file, options.categories)

    @classmethod
    def answer(cls, paths: Sequence[Path_], options: Any, **_further: Any) -> "TraceSummary":
        """Compute the sums of each file."""
        from kprof_analyzers.profiles.timeline.files import other_files

        given = [Path(path) for path in paths]
        found, left_out = per_file(of_one, given, options, view=cls, options=options)
        return cls(left_out, found, other_files(given), given)

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, the sentence about missing data."""
        import msgspec

        traces = [
            {**msgspec.structs.asdict(one), "devices": [device_document(d) for d in one.devices]} for one in self.traces
        ]
        others = [{"path": path, "reason": "its name does not look like a trace"} for path in self.others]
        return {"schema": "kprof.trace.summary/1", "traces": traces, "left_out": [*self.left_out, *others]}

    @property
    def conclusion(self) -> str:
        """The amount of data read, and the events and files lost, in one line."""
        from kprof.reporters.trace_summary_text import verdict

        return verdict(self.traces, len(self.left_out) + len(self.others))

    def warnings(self) -> Iterable[str]:
        """Yield a message for each file that was skipped."""
        yield from super().warnings()
        if self.others:
            names = ", ".join(Path(path).name for path in self.others[:_SHOWN])
            more = f" and {len(self.others) - _SHOWN:,} more" if len(self.others) > _SHOWN else ""
            files = "1 file whose name does" if len(self.others) == 1 else f"{len(self.others):,} files whose names do"
            yield f"kprof: left out: {files} not look like a trace: {names}{more}"

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the only table: one row per trace and kernel."""
        from kprof_analyzers.profiles.timeline.names import NameTime

        columns = (
            Column("ms", lambda row: milliseconds(row.total_ns)),
            Column("count", lambda row: f"{row.count:,}"),
            Column("kernel", lambda row: kernel_label(row.name), wide=True),
        )
        return (ViewTable("kernels", columns, lambda one: one.kernels, NameTime),)

    def lines(self, display: Any) -> list[str]:  # noqa: ARG002 - the text does not depend on the display options
        """Return one line per trace; for a single trace also its categories and kernels."""
        from kprof.reporters.trace_summary_text import lines

        return lines(self.traces)

    def write_tables(
        self,
        output: Path_,
        *,
        file_format: str = "parquet",
        stacks: bool = False,
        jobs: int = 1,
        scheduler: str | None = None,
    ) -> Iterator[str]:
        """Write the linked tables of each trace, and yield one sentence per written or failed trace.

        Args:
            output: folder for the tables; with several traces, each gets its own subfolder.
            file_format: ``parquet``, which kprof reads like a trace, ``csv`` or ``json``.
            stacks: keep every Python frame.
            jobs: number of processes; 0 for one per core.
            scheduler: address of a Dask scheduler to use instead of local processes.

        Raises:
            KprofError: the format is not known, the output folder is inside an input folder, or nothing was written.
        """
        from kprof_analyzers.profiles.timeline.files import Failed, each_file, trace_files
        from kprof_analyzers.profiles.timeline.steps import tables_step

        if file_format not in TABLE_FORMATS:
            raise KprofError(f"tables are written as {', '.join(TABLE_FORMATS)}, got {file_format!r}")
        target = Path(output).resolve()
        for path in self.paths:
            if path.is_dir() and target.is_relative_to(path.resolve()):
                hint = "choose another -o"
                raise KprofError("the output folder is inside the input folder", path=os.fspath(output), hint=hint)
        files = [f for f in trace_files(self.paths) if f.kind != "proton"]
        folders = {f.path: str(d) for f, d in zip(files, _folders([f.path for f in files], target), strict=True)}
        options = {"folders": folders, "file_format": file_format, "stacks": stacks}
        failed = 0
        for result in each_file(tables_step, files, jobs=jobs, scheduler=scheduler, **options):
            if isinstance(result, Failed):
                failed += 1
                yield f"kprof: no tables: {result.message}"
            else:
                yield f"written: {result.directory} ({result.files} files)"
        if failed and failed == len(files):
            raise KprofError("no tables were written", path=os.fspath(output))

    def write_perfetto(self, path: Path_, *, categories: str | None = None) -> None:
        """Write one reduced trace for ui.perfetto.dev.

        Raises:
            KprofError: a trace cannot be read, or the file cannot be written.
        """
        from kprof.output.progress import step
        from kprof_analyzers.profiles.timeline.categories import load_categories
        from kprof_analyzers.profiles.timeline.export import perfetto
        from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

        traces = (open_trace(f) for f in trace_files(self.paths) if f.kind != "proton")
        partial = Path(f"{os.fspath(path)}.partial")
        try:
            with partial.open("w", encoding="utf-8") as file, step(f"writing {os.fspath(path)}"):
                for piece in perfetto(traces, load_categories(categories)):
                    file.write(piece)
            partial.replace(path)
        except OSError as error:
            raise KprofError(f"cannot write: {error.strerror or error}", path=os.fspath(path)) from error

    def write_speedscope(self, path: Path_) -> None:
        """Write GPU time by stack for speedscope.

        Raises:
            KprofError: a trace cannot be read, or the file cannot be written.
        """
        from kprof.inputs.torch_profiler.proton import load_proton
        from kprof.output.writing import write_output
        from kprof.reporters.json_document import encoded
        from kprof_analyzers.profiles.timeline.export import proton_speedscope, speedscope
        from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

        files = trace_files(self.paths)
        if len(files) == 1 and files[0].kind == "proton":
            document = proton_speedscope(load_proton(files[0].path))
        else:
            document = speedscope([open_trace(f) for f in files if f.kind != "proton"])
        write_output(os.fspath(path), encoded(document))


trace_summary = function_of(TraceSummary, "trace_summary")


def _folders(paths: Sequence[str], target: Path) -> list[Path]:
    """Return the output folder of each file: ``target`` for a single file, else a subfolder with a unique name."""
    if len(paths) == 1:
        return [target]
    used: dict[str, int] = {}
    result: list[Path] = []
    for path in paths:
        name = Path(path).name
        for ending in (".gz", ".json", ".trace", ".pt"):
            name = name.removesuffix(ending)
        used[name] = used.get(name, 0) + 1
        result.append(target / (name if used[name] == 1 else f"{name}-{used[name]}"))
    return result
