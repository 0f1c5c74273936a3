"""``kprof ingest mlir``: TTIR or TTGIR without assembly, and dumps of all passes."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.reporters.outputs import Outputs

HELP = "A .ttgir or .ttir alone, or a log of MLIR_ENABLE_DUMP with all passes."


@takes_options("measurements")
def command(
    path: Annotated[str, typer.Argument(metavar="PATH", help="A .ttir or .ttgir file, or a log with dumps of MLIR.")],
    outputs: Outputs,
) -> None:
    """Show layouts, LDS, conversions and pipelining, and of a dump which pass changed what.

    Each value's way through LDS is listed, with the values that go through it more than once.

    Registers, occupancy and time are in the assembly: kprof analyze kernel reads that, with the .ttgir beside it.

    Example:  kprof ingest mlir dump.log
    """
    from kprof.api.read_mlir import read_mlir
    from kprof.reporters.mlir_text import show

    found = read_mlir(path)

    outputs.tell(found, lambda: show(found.modules, found.walks))
