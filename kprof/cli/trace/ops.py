"""``kprof trace ops``: operators by shape against what the GPU can do."""

import contextlib
import functools
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kprof.cli._compile_options import NO_OPTIONS, compile_options
from kprof.cli._completion import architectures, targets
from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, QuietOption
from kprof.cli.trace._shared import (
    LimitOption,
    PathsArgument,
    SchedulerOption,
    answer,
    repair_options,
)
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Operators by shape: TFLOP/s, TB/s, and the time lost against the GPU's limits."

_OTHERS = ("arch", "all_configs", "env", "passes", "grid", "counters", "trace", "thread_trace")


@format_options("trace")
@repair_options
@compile_options(without=_OTHERS)
def command(
    paths: PathsArgument,
    arch: Annotated[
        str | None,
        typer.Option(
            "--arch", help="The GPU, where the trace does not name it.", metavar="PRODUCT", autocompletion=architectures
        ),
    ] = None,
    target: Annotated[
        list[str],
        typer.Option(
            "--target",
            help="A kernel in the trace, as for kprof analyze kernel: the model's time next to the measured one.",
            metavar="TARGET",
            autocompletion=targets,
        ),
    ] = [],
    tune: Annotated[
        bool, typer.Option("--tune", help="Search the targets' configurations: what the best one gives back.")
    ] = False,
    space: Annotated[
        str | None, typer.Option("--space", help="Knobs with values to search, as for kprof tune.", metavar="FILE")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Seconds of a search; 300 if left out.", min=0, metavar="SECONDS")
    ] = None,
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    grid: Annotated[
        str,
        typer.Option("--grid", help="Workgroups of a function: 4096, or 'cdiv(M,BLOCK_M)' to search.", metavar="EXPR"),
    ] = "",
    limit: LimitOption = 20,
    jobs: JobsOption = 1,
    scheduler: SchedulerOption = None,
    repairs: tuple[str, ...] = (),
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """What each operator computes and moves a second, those that lose most time first.

    Work comes from the shapes in the trace (``record_shapes=True``): operations, and every operand and result once. The
    limit is the GPU's published HBM bandwidth or matrix peak, whichever takes longer; what stays in a cache can be
    faster than that.

    With --target launches of that kernel get the model's time, and with --tune what the best configuration is
    predicted to give back.

    Example:  kprof trace ops trace.json.gz --target attention.py::forward --case prefill --tune
    """
    from kprof.api.trace.ops import trace_ops
    from kprof.reporters.trace_ops_text import lines
    from kprof.reporters.trace_targets_text import lines as target_lines
    from kprof.reporters.tune_progress import Reporter

    with contextlib.ExitStack() as stack:

        @functools.cache
        def reporter() -> Reporter:
            """Made once a search begins: until then it is shown how far reading is."""
            return stack.enter_context(Reporter(quiet=quiet))

        found = trace_ops(
            *paths,
            arch=arch,
            jobs=jobs,
            scheduler=scheduler,
            repairs=repairs,
            targets=target,
            tune=tune,
            grid=grid,
            space=space,
            budget=budget,
            progress=lambda state: reporter().show(state),
            **compile_with,
        )
    several = len(found.traces) > 1

    def text() -> list[str]:
        shown = [row for one in found.traces for row in lines(one, limit, several=several)]
        return shown if found.targets is None else [*shown, *target_lines(found.targets, limit)]

    answer(found, text, outputs, quiet=quiet)
