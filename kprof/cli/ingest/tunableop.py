"""``kprof ingest tunableop``: PyTorch TunableOp result files."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "PyTorch TunableOp result files: best and default solution of each GEMM."


@format_options("measurements")
def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="tunableop_results*.csv, or a folder with one such file.")
    ],
    untuned: Annotated[
        str | None,
        typer.Option("--untuned", metavar="FILE", help="A result file with the Default times of the same problems."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-n", help="Problems to show.", min=1)] = 15,
    outputs: Outputs = NO_OUTPUTS,
) -> None:
    """Show the slowest GEMMs, which library won each, and the time lost where tuning was not used.

    A result file has the time of the winner only. What tuning gains is therefore reported for problems that the file
    has twice, or against --untuned.

    Example:  kprof ingest tunableop tunableop_results0.csv
    """
    from kprof.api.read_tunableop import read_tunableop
    from kprof.output.headline import tell_first, tell_last
    from kprof.reporters.tunableop_text import show

    found = read_tunableop(path, untuned=untuned)

    def text() -> None:
        tell_first(found.summary)
        show(found.results, found.gains, top)
        tell_last(found.summary)

    outputs.write(found.document, text)
