"""``kprof ingest results``: what other tools and libraries of ROCm write down."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import QuietOption
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "hipBLASLt, rocBLAS, Tensile, MIOpen, RCCL tests, gradlib/AITER, Omnitrace."


@format_options("measurements")
def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A benchmark's output, tuning file, database, log or profile.")
    ],
    top: Annotated[int, typer.Option("--top", "-n", help="Rows to show.", min=1)] = 15,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 2 when anything could not be read.")] = False,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
) -> None:
    """Show what a file of another tool holds, the costliest rows first. The format is found by content.

    Read are: output of hipblaslt-bench, rocblas-bench and rccl-tests; tuning files of hipBLASLt; tables of tuned GEMMs
    (gradlib, vLLM, AITER); find-db and perf-db of MIOpen; library logic and benchmarks of Tensile; logs of rocBLAS and
    hipBLASLt calls; profiles of Omnitrace and rocprof-sys.

    Example:  kprof ingest results wall_clock.json
    """
    from kprof.api.read_results import read_results
    from kprof.output.headline import tell_first, tell_last
    from kprof.reporters.results_text import show

    found = read_results(path)

    def text() -> None:
        if not quiet:
            tell_first(found.summary)
            show(found.results, top)
        tell_last(found.summary, alone=quiet)

    outputs.write(found.document, text)
    if strict and found.results.issues:
        raise typer.Exit(2)
