"""``kprof ingest tunableop``: read PyTorch TunableOp result files."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.measurements import IngestTunableOpOptions
from kprof.reporters.outputs import Outputs

HELP = "PyTorch TunableOp result files: best and default solution of each GEMM."


@takes_options("measurements")
def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="tunableop_results*.csv, or a folder with one such file.")
    ],
    options: IngestTunableOpOptions,
    outputs: Outputs,
) -> None:
    """Show the slowest GEMMs, the fastest library for each, and the time lost without tuning.

    A result file contains only the time of the best solution. Therefore the gain of tuning is reported only for
    problems that occur twice in the file or that also occur in --untuned.

    Example:  kprof ingest tunableop tunableop_results0.csv
    """
    from kprof.api.read_tunableop import read_tunableop
    from kprof.reporters.tunableop_text import show

    found = read_tunableop(path, untuned=options.untuned)

    outputs.tell(found, lambda: show(found.results, found.gains, options.rows))
