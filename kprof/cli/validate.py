"""``kprof validate``: how far the performance model is off, held against measurements."""

from typing import Annotated

import typer

from kprof.cli._compile_options import (
    AllConfigsOption,
    CaseOption,
    ConstexprOption,
    CountersOption,
    EnvOption,
    GridOption,
    SignatureOption,
    TargetsArgument,
    ThreadTraceOption,
    TraceOption,
    grid_of,
)
from kprof.cli._format_options import format_options
from kprof.cli.common import ArchOption, ConfigOption, JobsOption, NoColorOption, QuietOption, ShapeOption, ValueOption
from kprof.inputs.assignments import assignments
from kprof.inputs.supplied_values import supplied_values
from kprof.output.terminal import terminal
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Hold the model's time and loops against measurements."

_EXIT = {"confirmed": 0, "refuted": 1, "cannot tell": 2}


@format_options("validation")
def command(
    targets: TargetsArgument,
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    all_configs: AllConfigsOption = False,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    grid: GridOption = None,
    env: EnvOption = [],
    value: ValueOption = [],
    counters: CountersOption = [],
    trace: TraceOption = [],
    thread_trace: ThreadTraceOption = None,
    kernel: Annotated[
        str | None, typer.Option("--kernel", help="Only this kernel, of a target with several.", metavar="NAME")
    ] = None,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """How far the model is off, and in which loop: measured and modelled side by side.

    Exit code 0 when each time lies within the model's range, 1 when one lies outside, 2 when it cannot be told: another
    build or another launch was measured, or only a thread trace is there.

    Example:  kprof validate gemm --shape M=4096,N=4096,K=4096 --counters results/
    """
    from kprof.api.validate import validate

    found = validate(
        *targets,
        arch=arch,
        config=assignments(config, "--config"),
        shape=assignments(shape, "--shape"),
        case=case,
        all_configs=all_configs,
        signature=signature,
        constexprs=assignments(constexpr, "--constexpr"),
        grid=grid_of(grid),
        env=assignments(env, "--env"),
        values=supplied_values(value),
        counters=counters,
        trace=trace,
        thread_trace=thread_trace,
        kernel=kernel,
        jobs=jobs,
    )

    def text() -> None:
        from kprof.reporters.validation_text import show

        if not quiet:
            show(found.kernels, terminal(no_color=no_color))
        print(found.summary)

    outputs.write(found.document, text)
    raise typer.Exit(_EXIT[found.standing])
