"""``kprof ingest tunableop``: PyTorch TunableOp result files."""

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
    """Show the slowest GEMMs, which library won each, and the time lost where tuning was not used.

    A result file has the time of the winner only. What tuning gains is therefore reported for problems that the file
    has twice, or against --untuned.

    Example:  kprof ingest tunableop tunableop_results0.csv
    """
    from kprof.api.read_tunableop import read_tunableop
    from kprof.reporters.tunableop_text import show

    found = read_tunableop(path, untuned=options.untuned)

    outputs.tell(found, lambda: show(found.results, found.gains, options.rows))
