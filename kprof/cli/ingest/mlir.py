"""``kprof ingest mlir``: read TTIR or TTGIR without assembly, and dumps of all passes."""

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
    """Show layouts, LDS, conversions and pipelining, and for a dump the changes by each pass.

    Each value's path through LDS is listed, and values that pass through LDS more than once are marked.

    Registers, occupancy and time require the assembly: kprof analyze kernel reads it, with the .ttgir file next to it.

    Example:  kprof ingest mlir dump.log
    """
    from kprof.api.read_mlir import read_mlir
    from kprof.reporters.mlir_text import show

    found = read_mlir(path)

    outputs.tell(found, lambda: show(found.modules, found.walks))
