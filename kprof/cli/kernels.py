"""``kprof kernels``: the kernels that come with kprof, or one of your own."""

from typing import Annotated

import typer

from kprof.api.defaults import USUAL_ARCHS
from kprof.cli._completion import architectures, targets
from kprof.cli._format_options import format_options
from kprof.cli._groups import group
from kprof.cli.common import NoColorOption, QuietOption
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "List the bundled kernels, or show one: cases, configurations, what an architecture cannot do."

app = group()

ArchitecturesOption = Annotated[
    str | None,
    typer.Option(
        "--arch",
        "-a",
        help=f"Architectures to speak of, comma separated [{USUAL_ARCHS}].",
        metavar="ARCH[,ARCH]",
        autocompletion=architectures,
    ),
]


@app.command("list")
@format_options("kernels")
def list_kernels(
    arch: ArchitecturesOption = None,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Name, summary, number of cases, and the architectures that cannot run the default case."""
    from kprof.api.kernels import ARCHITECTURES, kernels
    from kprof.reporters.kernel_list import show_list

    rows = kernels(arch or ARCHITECTURES)

    def text() -> None:
        if not quiet:
            show_list(rows, no_color=no_color)
        print(f"{len(rows)} kernels; kprof kernels show gemm says more about one")

    outputs.write({"schema": "kprof.kernels/1", "kernels": rows}, text)


@app.command("show")
@format_options("kernel")
def show(
    target: Annotated[
        str, typer.Argument(help="A bundled kernel, or file.py, or file.py::function.", autocompletion=targets)
    ],
    arch: ArchitecturesOption = None,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Cases, default knobs on each architecture, further configurations, tuning space and source of one kernel."""
    from kprof.api.kernels import ARCHITECTURES, kernel
    from kprof.reporters.kernel_list import show_kernel, verdict

    facts = kernel(target, arch or ARCHITECTURES)

    def text() -> None:
        if not quiet:
            show_kernel(facts, no_color=no_color)
        print(verdict(facts, target))

    outputs.write({"schema": "kprof.kernel/1", **facts}, text)
