"""``kprof schema``: the JSON Schema of the documents."""

from typing import Annotated

import typer

from kprof.output.writing import write_output

HELP = "Print the JSON Schema of the --json document."


def command(
    document: Annotated[
        str, typer.Argument(help="report, or another: diff, tune, doctor, bench, profile, server-configs.")
    ] = "report",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print the JSON Schema of a --json document, kprof.report/1 by default."""
    import json

    from kprof.api.schema import schema_of

    write_output(output, json.dumps(schema_of(document), indent=2))
