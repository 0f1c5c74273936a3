"""``kprof ingest counters``: read output of all generations of ROCm profilers."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.measurements import IngestCountersOptions
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

HELP = "rocprof v1 to v3, rocpd, Omniperf and rocprof-compute output."


@takes_options("measurements")
def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, .gz files or folders of any ROCm profiler.")
    ],
    options: IngestCountersOptions,
    outputs: Outputs,
) -> None:
    """Show the files' tool, contents and issues. The format is detected from the content.

    Example:  kprof ingest counters results/ -o tables/
    """
    from kprof.api.read_counters import read_counters
    from kprof.reporters.measurements_text import show

    found = read_counters(*paths)
    if options.output:
        for path in found.write_tables(options.output, file_format=options.table_format):
            log(f"kprof: wrote {path}")

    outputs.tell(found, lambda: show(found.data, options.rows, no_color=outputs.no_color))
    if options.strict and any(issue.severity == "error" for issue in found.issues):
        raise typer.Exit(2)
