"""``kprof list kernels``: list the bundled kernels, or show a bundled kernel or one of your own."""

from typing import Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.options.groups import GpuOptions
from kprof.reporters.outputs import Outputs

HELP = "The bundled kernels, or one: cases, configurations, what an architecture cannot do."


@takes_options("kernels")
def command(
    options: GpuOptions,
    outputs: Outputs,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[KERNEL]", help="A bundled kernel, or file.py, or file.py::function.", autocompletion=targets
        ),
    ] = None,
) -> None:
    """List the bundled kernels, or show one: cases, default knobs, further configurations, tuning space and source.

    The list has name, summary, number of cases, and the architectures that cannot run the default case. Without --arch,
    one architecture of each generation is checked.
    """
    from kprof.api.kernels import ARCHITECTURES, kernel, kernels
    from kprof.reporters.kernel_list import show_kernel, show_list, verdict

    architectures = options.arch or ARCHITECTURES
    if name is not None:
        facts = kernel(name, architectures)

        def one() -> None:
            if not outputs.quiet:
                show_kernel(facts, no_color=outputs.no_color)
            print(verdict(facts, name))

        outputs.of("kernel").write({"schema": "kprof.kernel/1", **facts}, one)
        return
    rows = kernels(architectures)

    def all_of_them() -> None:
        if not outputs.quiet:
            show_list(rows, no_color=outputs.no_color)
        print(f"{len(rows)} kernels; kprof list kernels gemm says more about one")

    outputs.write({"schema": "kprof.kernels/1", "kernels": rows}, all_of_them)
