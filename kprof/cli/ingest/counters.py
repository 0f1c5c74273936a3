"""``kprof ingest counters``: read profiler output of any generation."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import NoColorOption, QuietOption
from kprof.output.writing import log
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "rocprof v1 to v3, rocpd, Omniperf and rocprof-compute output."


@format_options("measurements")
def command(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, .gz files or folders of any ROCm profiler.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="DIR", help="Folder to write the tables to.")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="Of the tables: parquet, csv or json.")] = "parquet",
    top: Annotated[int, typer.Option("--top", "-n", help="Kernels to show.", min=1)] = 15,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 2 when anything could not be read.")] = False,
    outputs: Outputs = NO_OUTPUTS,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Tell which tool made the files, what is in them, and what cannot be trusted. The format is found by content.

    Example:  kprof ingest counters results/ -o tables/
    """
    from kprof.api.read_counters import read_counters
    from kprof.output.headline import tell_first, tell_last
    from kprof.reporters.measurements_text import show

    found = read_counters(*paths)
    if output:
        for path in found.write_tables(output, file_format=form):
            log(f"kprof: wrote {path}")

    def text() -> None:
        if not quiet:
            tell_first(found.summary)
            show(found.data, top, no_color=no_color)
        tell_last(found.summary, alone=quiet)

    outputs.write(found.document, text)
    if strict and any(issue.severity == "error" for issue in found.issues):
        raise typer.Exit(2)
