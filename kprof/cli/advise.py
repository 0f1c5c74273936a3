"""``kprof advise``: try other knobs by recompiling, and say what they change."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._compile_options import ConstexprOption, CountersOption, NoRunOption, SignatureOption, TraceOption
from kprof.cli._completion import cases, targets
from kprof.cli._format_options import format_options
from kprof.cli.common import ArchOption, ConfigOption, JobsOption, NoColorOption, ShapeOption, ValueOption
from kprof.inputs.assignments import assignments
from kprof.inputs.supplied_values import supplied_values
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.advise import Advised

HELP = "Try other knobs by recompiling, and show what they change."

NoSearchOption = Annotated[
    bool, typer.Option("--no-search", help="Only judge by --counters and --trace: try no other knobs.")
]


@format_options("advice")
def command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="KERNEL",
            help="A bundled kernel, a file with a KERNEL, CAPTURE[::KERNEL], FILE.py::FUNCTION -- ARGS, or -- python "
            "program.py.",
            autocompletion=targets,
        ),
    ],
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: Annotated[
        str | None, typer.Option("--case", help="One of the kernel's named shapes.", autocompletion=cases)
    ] = None,
    env: Annotated[
        list[str], typer.Option("--env", help="Triton's environment switches to start from.", metavar="K=V,...")
    ] = [],
    value: ValueOption = [],
    budget: Annotated[float, typer.Option("--budget", help="Seconds after which no compile is begun.", min=1)] = 45.0,
    counters: CountersOption = [],
    trace: TraceOption = [],
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
    grid: Annotated[
        str, typer.Option("--grid", help="Of FILE.py::FUNCTION: 'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)'.", metavar="EXPR")
    ] = "",
    no_search: NoSearchOption = False,
    no_run: NoRunOption = False,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    no_color: NoColorOption = False,
) -> None:
    """Try other knobs by recompiling, and show what they change.

    With --counters or --trace the findings are first compared with what was measured.

    Spills, registers, occupancy and instructions are verified by compiling. Time is predicted: nothing is measured.

    Of a capture, or of a program after --, tiles are tried by running the program up to the launch, which it then makes
    with other values; the answer is what to write where the configuration came from.

    Example:  kprof advise flash_attention --case d256_s4096 --config BLOCK_M=128,BLOCK_N=64 --arch MI300X
    """
    from kprof.api.advise import advise
    from kprof.cli._programs import one_target
    from kprof.output.progress import watching

    target, program = one_target(targets)
    with watching(None), StatusLine() as status:
        found = advise(
            target,
            arch=arch,
            config=assignments(config, "--config"),
            shape=assignments(shape, "--shape"),
            case=case,
            env=assignments(env, "--env"),
            values=supplied_values(value),
            signature=signature,
            constexprs=assignments(constexpr, "--constexpr"),
            grid=grid,
            budget=budget,
            counters=counters,
            trace=trace,
            search=not no_search,
            jobs=jobs,
            program=program,
            run=not no_run,
            tell=lambda text: log(f"kprof: {text}"),
            progress=lambda done, what: status.draw(f"{done} compiled: {what}"),
        )
    for note in found.notes:
        log(note)
    outputs.write(found.document, lambda: _show(found, no_color=no_color))
    for failure in found.failures:
        log(f"kprof: {failure}")
    raise typer.Exit(2 if found.failures or found.untried else 0)


def _show(found: "Advised", *, no_color: bool) -> None:
    console = terminal(no_color=no_color)
    if found.measured is not None and found.report is not None:
        from kprof.reporters.measured_text import show as show_measured

        show_measured(found.report, found.measured, console)
    if found.kernels:
        from kprof.reporters.recorded_text import show as show_recorded

        show_recorded(found.kernels, console)
    elif found.trials is not None:
        from kprof.reporters.advice_text import show

        show(found.trials, console)
