"""``kprof cfg``: the control flow of a kernel as a picture."""

from typing import Annotated

import typer

from kprof.cli._compile_options import CaseOption, ConstexprOption, SignatureOption
from kprof.cli._completion import targets
from kprof.cli.common import ArchOption, ConfigOption, ShapeOption
from kprof.inputs.assignments import assignments
from kprof.output.writing import write_output

HELP = "Draw the control flow of a kernel: blocks, loops, hot spots."


def command(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="As for kprof analyze kernel.", autocompletion=targets)
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File: .svg is a picture, .dot is for Graphviz; - prints dot.")
    ] = "-",
    kernel: Annotated[str | None, typer.Option("--kernel", help="Which kernel, of a file with several.")] = None,
    arch: ArchOption = "",
    config: ConfigOption = [],
    shape: ShapeOption = [],
    case: CaseOption = None,
    signature: SignatureOption = None,
    constexpr: ConstexprOption = [],
) -> None:
    """Draw the control flow of a kernel: blocks, loops, hot spots.

    Example:  kprof cfg gemm --arch gfx942 -o flow.svg
    """
    from kprof.api.draw_control_flow import draw_control_flow
    from kprof.reporters._console_text import plural

    found = draw_control_flow(
        target,
        kernel=kernel,
        arch=arch,
        config=assignments(config, "--config"),
        shape=assignments(shape, "--shape"),
        case=case,
        signature=signature,
        constexprs=assignments(constexpr, "--constexpr"),
    )
    write_output(output, found.svg if output.endswith(".svg") else found.to_dot())
    if output != "-":
        program = found.program
        drawn = f"{plural(len(program.blocks), 'block')}, {plural(len(program.loops), 'loop')}"
        print(f"{program.name}: {drawn} drawn in {output}")
