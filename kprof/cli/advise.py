"""``kprof advise``: try other knobs by recompiling, and show what they change."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.options.searches import AdviseOptions
from kprof.output.status_line import StatusLine
from kprof.output.terminal import terminal
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.advise import Advised

HELP = "Try other knobs by recompiling, and show what they change."


@takes_options("advice", compiles=True)
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
    options: AdviseOptions,
    outputs: Outputs,
) -> None:
    """Try other knobs by recompiling, and show what they change.

    With --counters or --trace the findings are first compared with the measurements.

    Spills, registers, occupancy and instructions are verified by compiling. Time is predicted, not measured.

    For a capture, or a program after --, other tiles are tried by running the program up to the launch and repeating
    the launch with other values. The result names the source line that sets the configuration, and its new text.

    Example:  kprof advise flash_attention --case d256_s4096 --config BLOCK_M=128,BLOCK_N=64 --arch MI300X
    """
    from kprof.api.advise import advise
    from kprof.cli._programs import one_target

    target, program = one_target(targets)
    with StatusLine() as status:
        found = advise(
            target,
            options=options,
            program=program,
            tell=lambda text: log(f"kprof: {text}"),
            progress=lambda done, what: status.draw(f"{done} compiled: {what}"),
        )
    for note in found.notes:
        log(note)
    outputs.write(found.document, lambda: _show(found, outputs))
    for failure in found.failures:
        log(f"kprof: {failure}")
    raise typer.Exit(2 if found.failures or found.untried else 0)


def _show(found: "Advised", outputs: Outputs) -> None:
    if outputs.quiet:
        print(found.summary)
        return
    console = terminal(no_color=outputs.no_color)
    if found.measured is not None and found.report is not None:
        from kprof.reporters.measured_text import show as show_measured

        show_measured(found.report, found.measured, console)
    if found.kernels:
        from kprof.reporters.recorded_text import show as show_recorded

        show_recorded(found.kernels, console)
    elif found.trials is not None:
        from kprof.reporters.advice_text import show

        show(found.trials, console)
