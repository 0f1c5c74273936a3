"""``kprof kernels``: the kernels that come with kprof, or one of your own."""

from typing import Annotated

import typer

from kprof.cli._completion import targets
from kprof.cli._groups import group
from kprof.cli._options import takes_options
from kprof.options.groups import GpuOptions
from kprof.reporters.outputs import Outputs

HELP = "List the bundled kernels, or show one: cases, configurations, what an architecture cannot do."

app = group()


@app.command("list")
@takes_options("kernels")
def list_kernels(
    options: GpuOptions,
    outputs: Outputs,
) -> None:
    """Name, summary, number of cases, and the architectures that cannot run the default case.

    Without --arch one architecture of each generation is spoken of.
    """
    from kprof.api.kernels import ARCHITECTURES, kernels
    from kprof.reporters.kernel_list import show_list

    rows = kernels(options.arch or ARCHITECTURES)

    def text() -> None:
        if not outputs.quiet:
            show_list(rows, no_color=outputs.no_color)
        print(f"{len(rows)} kernels; kprof kernels show gemm says more about one")

    outputs.write({"schema": "kprof.kernels/1", "kernels": rows}, text)


@app.command("show")
@takes_options("kernel")
def show(
    target: Annotated[
        str, typer.Argument(help="A bundled kernel, or file.py, or file.py::function.", autocompletion=targets)
    ],
    options: GpuOptions,
    outputs: Outputs,
) -> None:
    """Cases, default knobs on each architecture, further configurations, tuning space and source of one kernel.

    Without --arch one architecture of each generation is spoken of.
    """
    from kprof.api.kernels import ARCHITECTURES, kernel
    from kprof.reporters.kernel_list import show_kernel, verdict

    facts = kernel(target, options.arch or ARCHITECTURES)

    def text() -> None:
        if not outputs.quiet:
            show_kernel(facts, no_color=outputs.no_color)
        print(verdict(facts, target))

    outputs.write({"schema": "kprof.kernel/1", **facts}, text)
