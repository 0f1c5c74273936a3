"""``kprof ingest trace``: summaries and tables of PyTorch profiler traces."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli.common import JobsOption, JsonOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    PathsArgument,
    SchedulerOption,
    dump,
    kernel_label,
    label,
    milliseconds,
    per_file,
    percent,
    quiet_with_json,
    tell_issues,
)
from kprof.errors import KprofError
from kprof.output.writing import log

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.files import LeftOut
    from kprof_analyzers.profiles.timeline.streaming import TraceSummary

HELP = "PyTorch profiler traces and Proton profiles: summary, tables, other viewers' formats."


def command(
    paths: PathsArgument,
    output: Annotated[str | None, typer.Option("--output", "-o", help="Write tables here.", metavar="DIR")] = None,
    form: Annotated[str, typer.Option("--format", help="parquet, csv or json.")] = "parquet",
    stacks: Annotated[bool, typer.Option("--stacks", help="Keep every Python frame in the tables.")] = False,
    perfetto: Annotated[
        str | None, typer.Option("--perfetto", help="Write one reduced trace for ui.perfetto.dev.", metavar="PATH")
    ] = None,
    speedscope: Annotated[
        str | None, typer.Option("--speedscope", help="Write GPU time by stack for speedscope.", metavar="PATH")
    ] = None,
    categories: CategoriesOption = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Read traces of any size, PyTorch 1.8 (2021) to now, ROCm and CUDA, and say what is in them.

    The summary needs little memory whatever the size. Tables written as Parquet are accepted by every kprof trace
    command in place of the trace.

    Example:  kprof ingest trace runs/ -o tables/ -j 0
    """
    from kprof_analyzers.profiles.timeline.steps import summary_step

    if form not in {"parquet", "csv", "json"}:
        raise KprofError(f"--format takes parquet, csv or json, got {form!r}")
    left_out: list[LeftOut] = []
    summaries = per_file(summary_step, paths, jobs, scheduler, left_out=left_out, categories=categories)
    if not quiet_with_json(json, quiet):
        print("\n".join(_lines(summaries)))
    for one in summaries:
        tell_issues(one.issues)
    if output is not None:
        _write_tables(paths, output, form, stacks=stacks, jobs=jobs, scheduler=scheduler)
    if perfetto is not None:
        _write_perfetto(paths, perfetto, categories)
    if speedscope is not None:
        _write_speedscope(paths, speedscope)
    if json:
        traces = [_document(s) for s in summaries]
        dump(json, {"schema": "kprof.trace.summary/1", "traces": traces, "left_out": left_out})
    if json != "-":
        print(_verdict(summaries, len(left_out)))


def _lines(summaries: "list[TraceSummary]") -> list[str]:
    from kprof.output.tables import rows_table

    rows = []
    for one in summaries:
        spans = [d.span_ns for d in one.devices]
        span, busy = sum(spans), sum(d.busy_ns for d in one.devices)
        exposed = sum(d.exposed_communication_ns for d in one.devices)
        rows.append(
            (
                label(one.info.path),
                one.info.vendor or "?",
                f"{one.info.events:,}",
                f"{sum(k.count for k in one.kernels):,}",
                milliseconds(one.kernel_ns),
                milliseconds(max(spans, default=0)),
                percent(busy, span),
                percent(exposed, span),
                next(iter(one.categories), "-"),
            )
        )
    headings = ("trace", "GPU", "events", "kernels", "kernel ms", "span ms", "busy", "exp. comm", "most time")
    lines = rows_table(headings, rows, spare=2).splitlines()
    if len(summaries) == 1:
        one = summaries[0]
        lines.append("")
        whole = sum(one.categories.values())
        lines += [f"  {c:<16} {milliseconds(t):>10} ms  {percent(t, whole):>7}" for c, t in one.categories.items()]
        kernels = [(milliseconds(k.total_ns), f"{k.count:,}", kernel_label(k.name)) for k in one.kernels[:5]]
        if kernels:
            lines += ["", *rows_table(("ms", "count", "kernel"), kernels, wide=2).splitlines()]
    return [*lines, ""]


def _document(one: "TraceSummary") -> dict[str, Any]:
    import msgspec

    from kprof.cli.trace.breakdown import device_document

    return {**msgspec.structs.asdict(one), "devices": [device_document(d) for d in one.devices]}


def _write_tables(paths: list[Path], output: str, form: str, *, stacks: bool, jobs: int, scheduler: str | None) -> None:
    from kprof_analyzers.profiles.timeline.files import Failed, each_file, trace_files
    from kprof_analyzers.profiles.timeline.steps import tables_step

    target = Path(output).resolve()
    for path in paths:
        if path.is_dir() and target.is_relative_to(path.resolve()):
            raise KprofError("the output folder is inside the input folder", path=output, hint="choose another -o")
    files = [f for f in trace_files(paths) if f.kind != "proton"]
    folders = {f.path: str(d) for f, d in zip(files, _folders(files, target), strict=True)}
    for result in each_file(
        tables_step, files, jobs=jobs, scheduler=scheduler, folders=folders, file_format=form, stacks=stacks
    ):
        if isinstance(result, Failed):
            log(f"kprof: no tables: {result.message}")
        else:
            log(f"written: {result.directory} ({result.files} files)")


def _folders(files: list[Any], target: Path) -> list[Path]:
    """One file: the output itself. Several: a folder each, named after the file, numbered where names repeat."""
    if len(files) == 1:
        return [target]
    used: dict[str, int] = {}
    result: list[Path] = []
    for file in files:
        name = Path(file.path).name
        for ending in (".gz", ".json", ".trace", ".pt"):
            name = name.removesuffix(ending)
        used[name] = used.get(name, 0) + 1
        result.append(target / (name if used[name] == 1 else f"{name}-{used[name]}"))
    return result


def _write_perfetto(paths: list[Path], target: str, categories: str | None) -> None:
    from kprof_analyzers.profiles.timeline.categories import load_categories
    from kprof_analyzers.profiles.timeline.export.perfetto import perfetto
    from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

    traces = (open_trace(f) for f in trace_files(paths) if f.kind != "proton")
    partial = Path(f"{target}.partial")
    try:
        with partial.open("w", encoding="utf-8") as file:
            for piece in perfetto(traces, load_categories(categories)):
                file.write(piece)
        partial.replace(target)
    except OSError as error:
        raise KprofError(f"cannot write: {error.strerror or error}", path=target) from error
    log(f"written: {target}")


def _write_speedscope(paths: list[Path], target: str) -> None:
    from kprof.inputs.torch_profiler.proton import load_proton
    from kprof_analyzers.profiles.timeline.export.speedscope import proton_speedscope, speedscope
    from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

    files = trace_files(paths)
    if len(files) == 1 and files[0].kind == "proton":
        dump(target, proton_speedscope(load_proton(files[0].path)))
    else:
        dump(target, speedscope([open_trace(f) for f in files if f.kind != "proton"]))
    log(f"written: {target}")


def _verdict(summaries: "list[TraceSummary]", left_out: int) -> str:
    from kprof.reporters._console_text import plural

    kernels = sum(k.count for s in summaries for k in s.kernels)
    lost = sum(i.lost for s in summaries for i in s.issues)
    total = sum(s.kernel_ns for s in summaries)
    text = f"{plural(len(summaries), 'trace')}, {plural(kernels, 'kernel')}, {milliseconds(total)} ms kernel time"
    if lost:
        text += f"; {plural(lost, 'event')} could not be read"
    return f"{text}; {plural(left_out, 'file')} left out" if left_out else text
