"""``kprof ingest trace``: summarise traces, and write tables and other viewers' formats."""

from typing import Annotated

import typer

from kprof.api.views import TraceView
from kprof.cli._options import takes_options
from kprof.cli._views import show
from kprof.options.measurements import AnswerOptions, CategoryOptions, IngestTraceOptions
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

HELP = "Timelines of PyTorch, ROCm's profilers, JAX and Proton: summary, tables, other viewers' formats."


@takes_options("trace")
def command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help=TraceView.about)],
    options: CategoryOptions,
    written: IngestTraceOptions,
    outputs: Outputs,
) -> None:
    """Read timelines of PyTorch, rocprofv3, rocpd, rocprof-sys, JAX and Proton, and summarise them.

    The summary of a PyTorch trace needs little memory, regardless of the trace's size. Every kprof trace command
    accepts tables written as Parquet instead of the trace.

    Example:  kprof ingest trace runs/ -o tables/
    """
    from kprof.api.trace_summary import TraceSummary

    found = TraceSummary.answer(paths, options)
    if written.output is not None:
        form, stacks = written.table_format, written.stacks
        for said in found.write_tables(written.output, file_format=form, stacks=stacks, jobs=options.jobs,
                                       scheduler=options.scheduler):  # fmt: skip
            log(said)
    if written.perfetto is not None:
        found.write_perfetto(written.perfetto, categories=options.categories)
        log(f"written: {written.perfetto}")
    if written.speedscope is not None:
        found.write_speedscope(written.speedscope)
        log(f"written: {written.speedscope}")
    show(found, AnswerOptions(), outputs)
