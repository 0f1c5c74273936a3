"""``kprof ingest trace``: read traces, say what is in them, write tables and other viewers' formats."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import (
    CategoriesOption,
    PathsArgument,
    SchedulerOption,
    answer,
    repair_options,
)
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "PyTorch profiler traces and Proton profiles: summary, tables, other viewers' formats."


@format_options("trace")
@repair_options
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
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Read traces of any size, PyTorch 1.8 (2021) to now, ROCm and CUDA, and say what is in them.

    The summary needs little memory whatever the size. Tables written as Parquet are accepted by every kprof trace
    command in place of the trace.

    Example:  kprof ingest trace runs/ -o tables/ -j 0
    """
    from kprof.api.trace.summary import check_format, trace_summary
    from kprof.reporters.trace_summary_text import lines

    check_format(form)
    found = trace_summary(*paths, categories=categories, jobs=jobs, scheduler=scheduler, repairs=repairs)
    if output is not None:
        for said in found.write_tables(output, file_format=form, stacks=stacks, jobs=jobs, scheduler=scheduler):
            log(said)
    if perfetto is not None:
        found.write_perfetto(perfetto, categories=categories)
        log(f"written: {perfetto}")
    if speedscope is not None:
        found.write_speedscope(speedscope)
        log(f"written: {speedscope}")
    answer(found, lambda: lines(found.traces), outputs, quiet=quiet, others=found.others)
