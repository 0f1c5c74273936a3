"""``kprof select``: which implementation and configuration to use for a shape."""

from typing import Annotated

import typer

from kprof.api.defaults import DEFAULT_ARCH
from kprof.cli._completion import architectures, targets
from kprof.cli._format_options import format_options
from kprof.cli.common import QuietOption, ShapeOption
from kprof.inputs.assignments import assignments
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Say which implementation and configuration to use for a shape."


@format_options("select")
def command(
    kernel: Annotated[
        str, typer.Argument(metavar="KERNEL", help="A bundled kernel, or a file with a KERNEL.", autocompletion=targets)
    ],
    shape: ShapeOption = [],
    arch: Annotated[
        str,
        typer.Option("--arch", "-a", help="Architecture or product: gfx942 or MI300X.", autocompletion=architectures),
    ] = DEFAULT_ARCH,
    table: Annotated[
        str | None,
        typer.Option("--table", help="Dispatch table; by default $KPROF_DISPATCH_TABLE, if set.", metavar="FILE"),
    ] = None,
    predict: Annotated[
        bool | None,
        typer.Option(
            "--predict/--no-predict",
            help="Compile what was not measured and predict its time; by default where there is a Triton.",
            show_default=False,
        ),
    ] = None,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Say which implementation and configuration to use for a shape, and where each one's time comes from.

    A table that kprof bench or kprof tune wrote decides, where it covers the shape; else times that others published;
    else the model: the bundled kernels are compiled. Without Triton, or with --no-predict, it is the nearest shape of
    the table of its times that comes with kprof. Parameters that are not given are those of the kernel's default case.

    Example:  kprof select mlstm_chunkwise --shape S=4096,DQK=64,DV=64 --arch MI300X
    """
    from kprof.api.select import document, select
    from kprof.reporters import select_text

    found = select(kernel, assignments(shape, "--shape"), arch, table, predict=predict)
    shown = [*([] if quiet else select_text.lines(found)), select_text.verdict(found)]
    outputs.write(document(found), lambda: print("\n".join(shown)))
