"""``kprof ingest results``: read result files of other ROCm tools and libraries."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.measurements import IngestResultsOptions
from kprof.reporters.outputs import Outputs

HELP = "hipBLASLt, rocBLAS, Tensile, MIOpen, RCCL tests, gradlib/AITER, Omnitrace, the ROCr Debug Agent."


@takes_options("measurements")
def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A benchmark's output, tuning file, database, log or profile.")
    ],
    options: IngestResultsOptions,
    outputs: Outputs,
) -> None:
    """Show the contents of another tool's file, most expensive rows first. The format is detected from the content.

    Supported: output of hipblaslt-bench, rocblas-bench and rccl-tests; tuning files of hipBLASLt; tables of tuned GEMMs
    (gradlib, vLLM, AITER); find-db and perf-db of MIOpen; library logic and benchmarks of Tensile; logs of rocBLAS and
    hipBLASLt calls; profiles of Omnitrace and rocprof-sys; reports of the ROCr Debug Agent: kernel, instruction, source
    line and registers of a fault. With --code-object the line comes from the code object's line table.

    Example:  kprof ingest results wall_clock.json
    """
    from kprof.api.read_results import read_results
    from kprof.reporters.results_text import show

    found = read_results(path, code_object=options.code_object)

    outputs.tell(found, lambda: show(found.results, options.rows))
    if options.strict and found.results.issues:
        raise typer.Exit(2)
