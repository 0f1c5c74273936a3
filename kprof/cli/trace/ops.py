"""``kprof trace ops``: operators by shape against what the GPU can do."""

from typing import Annotated

import typer

from kprof.cli._completion import architectures
from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import LimitOption, PathsArgument, SchedulerOption, answer
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Operators by shape: TFLOP/s, TB/s, and the time lost against the GPU's limits."


@format_options("trace")
def command(
    paths: PathsArgument,
    arch: Annotated[
        str | None,
        typer.Option(
            "--arch", help="The GPU, where the trace does not name it.", metavar="PRODUCT", autocompletion=architectures
        ),
    ] = None,
    limit: LimitOption = 20,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """What each operator computes and moves a second, those that lose most time first.

    Work comes from the shapes in the trace (``record_shapes=True``): operations, and every operand and result once. The
    limit is the GPU's published HBM bandwidth or matrix peak, whichever takes longer; what stays in a cache can be
    faster than that.

    Example:  kprof trace ops trace.json.gz --arch MI300X
    """
    from kprof.api.trace.ops import trace_ops
    from kprof.reporters.trace_ops_text import lines

    found = trace_ops(*paths, arch=arch, jobs=jobs, scheduler=scheduler)
    several = len(found.traces) > 1
    answer(
        found, lambda: [row for one in found.traces for row in lines(one, limit, several=several)], outputs, quiet=quiet
    )
