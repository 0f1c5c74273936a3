"""``kprof cfg``: the control flow of a kernel as a picture."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from kprof.cli._compile_options import MEASURED, NO_OPTIONS, KernelOption, compile_options
from kprof.cli._completion import targets
from kprof.output.writing import write_output

HELP = "Draw the control flow of a kernel: blocks, loops, hot spots."


@compile_options(without=["all_configs", "grid", "env", "value", "passes", *MEASURED])
def command(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="As for kprof analyze kernel.", autocompletion=targets)
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File: .svg is a picture, .dot is for Graphviz; - prints dot.")
    ] = "-",
    kernel: KernelOption = None,
    compile_with: Mapping[str, Any] = NO_OPTIONS,
) -> None:
    """Draw the control flow of a kernel: blocks, loops, hot spots.

    Example:  kprof cfg gemm --arch gfx942 -o flow.svg
    """
    from kprof.api.draw_control_flow import draw_control_flow
    from kprof.reporters._console_text import plural

    found = draw_control_flow(
        target,
        kernel=kernel,
        **compile_with,
    )
    write_output(output, found.svg if output.endswith(".svg") else found.to_dot())
    if output != "-":
        program = found.program
        drawn = f"{plural(len(program.blocks), 'block')}, {plural(len(program.loops), 'loop')}"
        print(f"{program.name}: {drawn} drawn in {output}")
