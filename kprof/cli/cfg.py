"""``kprof cfg``: the control flow of a kernel as a picture."""

from typing import Annotated, Any

import typer

from kprof.cli._compile_options import CaseOption, ConstexprOption, SignatureOption, compile_options
from kprof.cli.common import ArchOption, ConfigOption, ShapeOption
from kprof.errors import KprofError
from kprof.output.writing import write_output

HELP = "Draw the control flow of a kernel: blocks, loops, hot spots."


def command(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="As for kprof analyze kernel.")],
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
    from kprof.reporters._console_text import plural
    from kprof.targets.resolver import load
    from kprof_analyzers.pictures import control_flow

    options = compile_options(
        arch=arch, config=config, shape=shape, case=case, signature=signature, constexpr=constexpr
    )
    program = _chosen([loaded.program for loaded in load(target, options)], kernel, target)
    draw = control_flow.to_svg if output.endswith(".svg") else control_flow.to_dot
    write_output(output, draw(program))
    if output != "-":
        drawn = f"{plural(len(program.blocks), 'block')}, {plural(len(program.loops), 'loop')}"
        print(f"{program.name}: {drawn} drawn in {output}")


def _chosen(programs: list[Any], name: str | None, target: str) -> Any:
    found = [program for program in programs if name is None or program.name == name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted({program.name for program in programs}))
    if not found:
        raise KprofError(f"no kernel {name!r}; there are {names}", path=target)
    raise KprofError(f"holds several kernels: {names}", path=target, hint="Choose one with --kernel and --arch.")
