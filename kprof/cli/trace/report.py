"""``kprof trace report``: one page about traces, made from one reading."""

from typing import Annotated

import typer

from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import PathsArgument, SchedulerOption
from kprof.output.writing import log

HELP = "One HTML page about traces, from one reading of each."


def command(
    paths: PathsArgument,
    output: Annotated[str, typer.Option("--output", "-o", help="The page; - is standard output.", metavar="FILE.html")],
    arch: Annotated[
        str | None, typer.Option("--arch", help="The GPU, where the trace does not name it.", metavar="PRODUCT")
    ] = None,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    quiet: QuietOption = False,
) -> None:
    """Completeness, breakdown, steps, kernels, gaps, operators and communication of traces, on one page.

    Example:  kprof trace report trace.json.gz -o page.html
    """
    from kprof.api.run_report import run_report
    from kprof.options.kernels import RunReportOptions

    chosen = RunReportOptions(
        trace=tuple(map(str, paths)),
        output=output,
        arch=() if arch is None else (arch,),
        jobs=jobs,
        scheduler=scheduler,
    )
    found = run_report(options=chosen)
    for note in found.notes:
        log(f"kprof: {note}")
    if output != "-":
        if not quiet:
            log(f"written: {output}")
        print(found.summary)
