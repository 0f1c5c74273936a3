"""``kprof draw flow``: draw the control flow of a kernel."""

from kprof.cli._arguments import TargetArgument
from kprof.cli._options import takes_options
from kprof.options.kernels import ControlFlowOptions
from kprof.output.writing import write_output
from kprof.reporters.outputs import Outputs

HELP = "Draw the control flow of a kernel: blocks, loops, hot spots."


@takes_options(compiles=True)
def command(target: TargetArgument, options: ControlFlowOptions, outputs: Outputs) -> None:
    """Draw the control flow of a kernel: blocks, loops, hot spots.

    -o FILE.svg writes a picture, -o FILE.dot a Graphviz graph. Without -o, the Graphviz graph is printed.

    Example:  kprof draw flow gemm --arch gfx942 -o flow.svg
    """
    from kprof.api.draw_control_flow import draw_control_flow
    from kprof.output.quantities import plural

    found = draw_control_flow(target, options=options)
    output = options.output or "-"
    write_output(output, found.svg if output.endswith(".svg") else found.to_dot())
    if output != "-":
        program = found.program
        drawn = f"{plural(len(program.blocks), 'block')}, {plural(len(program.loops), 'loop')}"
        print(f"{program.name}: {drawn}" if outputs.quiet else f"{program.name}: {drawn} drawn in {output}")
