"""``kprof schema``: the JSON Schema of the documents."""

from typing import Annotated

import typer

from kprof.output.writing import write_output

HELP = "Print the JSON Schema of the --json document."


def command(
    document: Annotated[str, typer.Argument(help="report, or that of another command: diff, tune, doctor.")] = "report",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print the JSON Schema of a --json document: kprof.report/1, kprof.diff/1, kprof.tune/1 or kprof.doctor/1."""
    import json

    from kprof.api.schema import schema_of

    write_output(output, json.dumps(schema_of(document), indent=2))
